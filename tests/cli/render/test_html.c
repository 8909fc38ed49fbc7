/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/render/html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "analysis/result.h"
#include "analysis/timeline/timeline.h"
#include "cli/render/render.h"
#include "model/view/view.h"
#include "support/check.h"
#include "support/trace.h"

#define HOSTILE "</script><script>alert('1')</script>\"><img src=x onerror=\"alert(2)\">&amp;"

static const struct gt_heading headings[] = {
	{"calls", GT_UNIT_COUNT, "How \"many\" <b>", .alarming = true},
	{"share_percent", GT_UNIT_PERCENT, "Of all"},
	{"total_ns", GT_UNIT_NS, "How long"},
	{"kernel", GT_UNIT_TEXT, "Name", GT_WORTH_NAME},
};

static void add_row(struct gt_result *result, int64_t calls, double share, const char *name)
{
	gt_result_add_count(result, calls);
	gt_result_add_real(result, share);
	gt_result_add_count(result, 1234567);
	gt_result_add_text(result, name);
}

static size_t count(const char *text, const char *part)
{
	size_t found = 0;

	for (; (text = strstr(text, part)) != NULL; text += strlen(part))
		found++;
	return found;
}

static void expect_in(const char *text, const char *part)
{
	cr_expect(ne(ptr, strstr(text, part), NULL), "no '%s' in:\n%s", part, text);
}

/* The caller frees the text. */
static char *render(const struct gt_result *result, uint64_t limit, const struct gt_page_head *head)
{
	const struct gt_rendering rendering = {
		.style = GT_STYLE_HTML, .limit = limit, .head = head};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	cr_assert(eq(int,
	             gt_render(&rendering, &(struct gt_named_result){"kernels", result}, 1, out,
	                       NULL),
	             0));
	fclose(out);
	return text;
}

Test(html, has_figures_for_people_and_raw_values_to_sort_by)
{
	struct gt_result result;
	char *text;

	gt_result_init(&result);
	gt_result_begin(&result, "busiest", headings, 4);
	gt_result_order(&result, "total_ns");
	add_row(&result, 0, 12.345, "axpy");
	add_row(&result, 3, NAN, "gemm<float, 4>");
	gt_result_remark(&result, "Two of %d.", 12);
	text = render(&result, GT_LIMIT_NONE, NULL);
	expect_in(text, "<h3>Busiest <small>by total</small></h3>");
	/* Names stand first; a heading says what it means. */
	expect_in(text, "<thead><tr><th scope=\"col\" class=\"name\" title=\"Name\">"
	                "<button type=\"button\">kernel</button></th>"
	                "<th scope=\"col\" class=\"n\" title=\"How &quot;many&quot; &lt;b&gt;\">");
	expect_in(text, "<tr><td class=\"name\">axpy</td><td class=\"n\" data-v=\"0\">0</td>"
	                "<td class=\"n\" data-v=\"12.345\" style=\"--share:12.3%\">12.3%</td>"
	                "<td class=\"n\" data-v=\"1234567\">1.23 ms</td></tr>");
	/* Bad news, and what is not known, which is never 0. */
	expect_in(text,
	          "<td class=\"name\">gemm&lt;float, 4&gt;</td>"
	          "<td class=\"n bad\" data-v=\"3\">3</td><td class=\"n\" data-v=\"\">-</td>");
	expect_in(text, "<li>Two of 12.</li>");
	expect_in(text, "id=\"timeline-data\">null</script>");
	cr_expect(eq(sz, count(text, "id=\"timeline\""), 0));
	free(text);
	gt_result_release(&result);
}

Test(html, says_how_many_rows_are_left_out)
{
	struct gt_result result;
	char *text;

	gt_result_init(&result);
	gt_result_begin(&result, "many", headings, 4);
	for (int i = 0; i < 130; i++)
		add_row(&result, i, 1, "a");
	text = render(&result, GT_LIMIT_NONE, NULL);
	cr_expect(eq(sz, count(text, "<tr><td"), GT_ROWS_OF_PAGE));
	expect_in(text, "30 more rows: --limit 130 shows all");
	expect_in(text, "class=\"filter\"");
	free(text);
	text = render(&result, 5, NULL);
	cr_expect(eq(sz, count(text, "<tr><td"), 5));
	expect_in(text, "125 more rows");
	cr_expect(eq(sz, count(text, "class=\"filter\""), 0));
	free(text);
	gt_result_release(&result);
}

Test(html, names_reports_without_rows_at_the_end)
{
	struct gt_result result;
	char *text;

	gt_result_init(&result);
	gt_result_begin(&result, "none", headings, 4);
	gt_result_remark_empty(&result, "There is no step.");
	text = render(&result, GT_LIMIT_NONE, NULL);
	expect_in(text, "<section id=\"without-rows\">");
	expect_in(text, "<li>There is no step.</li>");
	cr_expect(eq(sz, count(text, "<section id=\"kernels\">"), 0));
	free(text);
	gt_result_release(&result);
}

/* The JSON of a page. */
static json_t *data_of(const char *text)
{
	const char *begin = strstr(text, "id=\"timeline-data\">") + strlen("id=\"timeline-data\">");
	const char *end = strstr(begin, "</script>");

	return json_loadb(begin, (size_t)(end - begin), 0, NULL);
}

Test(html, takes_no_text_for_markup)
{
	const struct gt_page_fact facts[] = {{HOSTILE, HOSTILE}, {"unknown", NULL}};
	struct gt_page_head head = {HOSTILE, facts, 2, HOSTILE, false, NULL};
	struct gt_timeline timeline;
	struct gt_result result;
	struct gt_trace trace;
	struct gt_view view;
	gt_id process;
	json_t *data;
	char *text;

	trace_init(&trace, 1000);
	process = trace_process(&trace, HOSTILE, 1);
	trace_kernel(&trace, trace_stream(&trace, process, trace_device(&trace)),
	             trace_shape(&trace, HOSTILE, 1, 1), 10, 900);
	view = gt_view_of(&trace);
	gt_timeline_init(&timeline, &view, 100);
	head.timeline = &timeline;
	gt_result_init(&result);
	gt_result_begin(&result, "busiest", headings, 4);
	add_row(&result, 1, 1, HOSTILE);
	gt_result_remark(&result, "%s", HOSTILE);
	text = render(&result, GT_LIMIT_NONE, &head);
	/* The data's and the page's own. */
	cr_expect(eq(sz, count(text, "<script"), 2));
	cr_expect(eq(sz, count(text, "</script"), 2));
	cr_expect(eq(sz, count(text, "<img"), 0));
	expect_in(text, "<td class=\"name\">&lt;/script&gt;&lt;script&gt;alert(&#39;1&#39;)");
	expect_in(text, "<div><dt>unknown</dt><dd>-</dd></div>");
	data = data_of(text);
	cr_assert(ne(ptr, data, NULL));
	cr_expect(eq(str,
	             (char *)json_string_value(json_array_get(json_object_get(data, "names"), 1)),
	             HOSTILE));
	json_decref(data);
	free(text);
	gt_timeline_release(&timeline);
	gt_result_release(&result);
	gt_trace_release(&trace);
}

Test(html, writes_the_timeline_as_its_script_reads_it)
{
	struct gt_page_head head = {.title = "x"};
	struct gt_timeline timeline;
	struct gt_result result;
	struct gt_trace trace;
	struct gt_view view;
	gt_id stream;
	gt_id shape;
	json_t *data;
	json_t *lane = NULL;
	json_t *track;
	size_t i;
	char *text;

	trace_init(&trace, 1000000);
	stream = trace_stream(&trace, trace_process(&trace, "app", 1), trace_device(&trace));
	shape = trace_shape(&trace, "step", 1, 1);
	for (gt_time k = 0; k < 20; k++)
		trace_kernel(&trace, stream, shape, k * 10, k * 10 + 5);
	trace_kernel(&trace, stream, shape, 500000, 900000);
	view = gt_view_of(&trace);
	gt_timeline_init(&timeline, &view, 20);
	head.timeline = &timeline;
	gt_result_init(&result);
	text = render(&result, GT_LIMIT_NONE, &head);
	data = data_of(text);
	json_array_foreach(json_object_get(data, "tracks"), i,
	                   track) if (strcmp(json_string_value(json_object_get(track, "kind")),
	                                     "stream") == 0) lane =
		json_array_get(json_object_get(track, "lanes"), 0);
	cr_assert(ne(ptr, lane, NULL));
	/* A piece of several has six numbers: it begins at 0 and is longer than one alone. */
	cr_expect(eq(i64, json_integer_value(json_array_get(lane, 0)), 0));
	cr_expect(lt(i64, json_integer_value(json_array_get(lane, 1)), -6));
	cr_expect(eq(i64, json_integer_value(json_array_get(lane, 4)),
	             5 * json_integer_value(json_array_get(lane, 3))));
	cr_expect(eq(i64, json_integer_value(json_array_get(lane, 5)), 5));
	/* The last one has three. */
	cr_expect(eq(i64, json_integer_value(json_array_get(lane, json_array_size(lane) - 2)),
	             400000));
	cr_expect(eq(i64, json_integer_value(json_object_get(data, "length")), 1000000));
	cr_expect(gt(sz, json_array_size(json_object_get(data, "notes")), 1));
	json_decref(data);
	free(text);
	gt_timeline_release(&timeline);
	gt_result_release(&result);
	gt_trace_release(&trace);
}

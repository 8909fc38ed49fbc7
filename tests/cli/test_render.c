/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/render.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/result.h"
#include "base/error.h"
#include "cli/option.h"
#include "support/check.h"

static const struct gt_heading kernel_headings[] = {
	{"kernel", GT_UNIT_TEXT, "Name", GT_WORTH_NAME},
	{"calls", GT_UNIT_COUNT, "How many"},
	{"total_ns", GT_UNIT_NS, "How long"},
	{"share_percent", GT_UNIT_PERCENT, "Of all"},
};

static const struct gt_heading copy_headings[] = {
	{"kind", GT_UNIT_TEXT, "Direction"},
	{"size_bytes", GT_UNIT_BYTES, "How much"},
	{"rate_bytes_per_second", GT_UNIT_BYTES_PER_SECOND, "How fast"},
	{"start_ns", GT_UNIT_TIME, "When"},
	{"ratio", GT_UNIT_REAL, "A number"},
};

static void add_kernel(struct gt_result *result, const char *name, int64_t calls, int64_t total_ns,
                       double share)
{
	gt_result_add_text(result, name);
	gt_result_add_count(result, calls);
	gt_result_add_count(result, total_ns);
	gt_result_add_real(result, share);
}

static void fill(struct gt_result *result)
{
	gt_result_init(result);
	gt_result_begin(result, "busiest_kernels", kernel_headings, 4);
	add_kernel(result, "gemm<float, 4>", 1234567, 1500000, 75.5);
	add_kernel(result, "say \"hi\"", 1, 999, NAN);
	add_kernel(result, "axpy", 20, 480000, 24.5);
	gt_result_begin(result, "copies", copy_headings, 5);
	gt_result_add_text(result, "HtoD");
	gt_result_add_count(result, 1048576);
	gt_result_add_real(result, 12.3e9);
	gt_result_add_count(result, 5000000000);
	gt_result_add_real(result, 0.125);
	gt_result_add_text(result, "DtoH");
	gt_result_add_unknown(result);
	gt_result_add_unknown(result);
	gt_result_add_count(result, 0);
	gt_result_add_real(result, 2);
	gt_result_remark(result, "Two of %d things were not measured.", 12);
}

/* The caller frees the text. */
static char *render(const struct gt_rendering *rendering, const struct gt_named_result *results,
                    size_t count)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	cr_assert(eq(int, gt_render(rendering, results, count, out, NULL), 0));
	fclose(out);
	return text;
}

static char *render_one(struct gt_rendering rendering)
{
	struct gt_result result;
	char *text;

	fill(&result);
	if (rendering.limit == 0)
		rendering.limit = UINT64_MAX;
	text = render(&rendering, &(struct gt_named_result){"kernels", &result}, 1);
	gt_result_release(&result);
	return text;
}

static void expect_in(const char *text, const char *part)
{
	cr_expect(ne(ptr, strstr(text, part), NULL), "no '%s' in:\n%s", part, text);
}

static void expect_not_in(const char *text, const char *part)
{
	cr_expect(eq(ptr, strstr(text, part), NULL), "'%s' in:\n%s", part, text);
}

Test(render, writes_csv_as_rfc_4180_says)
{
	char *text = render_one((struct gt_rendering){.style = GT_STYLE_CSV});

	expect_text(text, "# kernels busiest_kernels\r\n"
	                  "kernel,calls,total_ns,share_percent\r\n"
	                  "\"gemm<float, 4>\",1234567,1500000,75.5\r\n"
	                  "\"say \"\"hi\"\"\",1,999,\r\n"
	                  "axpy,20,480000,24.5\r\n"
	                  "# kernels copies\r\n"
	                  "kind,size_bytes,rate_bytes_per_second,start_ns,ratio\r\n"
	                  "HtoD,1048576,12300000000,5000000000,0.125\r\n"
	                  "DtoH,,,0,2\r\n");
	free(text);
}

Test(render, writes_csv_of_one_section_without_a_separator)
{
	const struct gt_option_list sections = {.texts = {"copies"}, .count = 1};
	char *text =
		render_one((struct gt_rendering){.style = GT_STYLE_CSV, .sections = &sections});

	expect_text(text, "kind,size_bytes,rate_bytes_per_second,start_ns,ratio\r\n"
	                  "HtoD,1048576,12300000000,5000000000,0.125\r\n"
	                  "DtoH,,,0,2\r\n");
	free(text);
}

Test(render, writes_no_row_of_csv_that_looks_like_a_separator)
{
	const struct gt_rendering rendering = {.style = GT_STYLE_CSV, .limit = UINT64_MAX};
	struct gt_result result;
	char *text;

	gt_result_init(&result);
	gt_result_begin(&result, "kernels", kernel_headings, 4);
	add_kernel(&result, "# kernels copies", 1, 1, 1);
	text = render(&rendering, &(struct gt_named_result){"x", &result}, 1);
	expect_in(text, "\r\n\"# kernels copies\",1,1,1\r\n");
	free(text);
	gt_result_release(&result);
}

Test(render, leaves_details_out_of_text_unless_asked)
{
	const struct gt_option_list sections = {.texts = {"busiest_kernels"}, .count = 1};
	const struct gt_rendering renderings[] = {
		{.limit = 9}, {.limit = 9, .details = true}, {.limit = 9, .sections = &sections}};
	const bool shown[] = {false, true, true};

	for (size_t i = 0; i < 3; i++) {
		struct gt_result result;
		char *text;

		fill(&result);
		result.sections.rows[0].detail = true;
		text = render(&renderings[i], &(struct gt_named_result){"x", &result}, 1);
		cr_expect(eq(int, strstr(text, "Busiest kernels") != NULL, shown[i]));
		cr_expect(eq(int, strstr(text, "Copies") != NULL, i < 2));
		free(text);
		gt_result_release(&result);
	}
}

Test(render, shows_plain_sections_whole_and_without_headings)
{
	const struct gt_sort sort = {.keys = {{"kernel", GT_SORT_ASCENDING}}, .count = 1};
	const struct gt_rendering rendering = {.limit = 1, .sort = &sort};
	struct gt_result result;
	char *text;

	fill(&result);
	result.sections.rows[0].plain = true;
	text = render(&rendering, &(struct gt_named_result){"x", &result}, 1);
	expect_not_in(text, "calls");
	cr_expect(lt(ptr, strstr(text, "gemm"), strstr(text, "axpy")));
	free(text);
	gt_result_release(&result);
}

Test(render, suggests_a_section)
{
	const struct gt_option_list sections = {.texts = {"copied"}, .count = 1};
	const struct gt_rendering rendering = {.sections = &sections};
	struct gt_error err = {0};
	struct gt_result result;

	fill(&result);
	cr_expect(
		eq(int,
	           gt_render(&rendering, &(struct gt_named_result){"x", &result}, 1, stdout, &err),
	           -EINVAL));
	expect_text(err.text, "no table 'copied'; did you mean copies?");
	gt_result_release(&result);
}

Test(render, writes_json_with_raw_values)
{
	char *text = render_one((struct gt_rendering){.style = GT_STYLE_JSON, .limit = 1});

	expect_text(text, "{\n"
	                  "  \"version\": 1,\n"
	                  "  \"report\": \"kernels\",\n"
	                  "  \"busiest_kernels\": [\n"
	                  "    {\n"
	                  "      \"kernel\": \"gemm<float, 4>\",\n"
	                  "      \"calls\": 1234567,\n"
	                  "      \"total_ns\": 1500000,\n"
	                  "      \"share_percent\": 75.5\n"
	                  "    }\n"
	                  "  ],\n"
	                  "  \"copies\": [\n"
	                  "    {\n"
	                  "      \"kind\": \"HtoD\",\n"
	                  "      \"size_bytes\": 1048576,\n"
	                  "      \"rate_bytes_per_second\": 12300000000.0,\n"
	                  "      \"start_ns\": 5000000000,\n"
	                  "      \"ratio\": 0.125\n"
	                  "    }\n"
	                  "  ],\n"
	                  "  \"remarks\": [\n"
	                  "    \"Two of 12 things were not measured.\"\n"
	                  "  ]\n"
	                  "}\n");
	free(text);
}

Test(render, writes_null_for_what_is_not_known)
{
	char *text = render_one((struct gt_rendering){.style = GT_STYLE_JSON});

	expect_in(text, "\"share_percent\": null");
	expect_in(text, "\"size_bytes\": null");
	expect_in(text, "\"rate_bytes_per_second\": null");
	free(text);
}

Test(render, wraps_several_reports_into_one_object)
{
	const struct gt_rendering rendering = {.style = GT_STYLE_JSON, .limit = 0};
	struct gt_result results[2];
	char *text;

	gt_result_init(&results[0]);
	gt_result_init(&results[1]);
	text = render(&rendering,
	              (struct gt_named_result[]){{"one", &results[0]}, {"two", &results[1]}}, 2);
	expect_text(text, "{\n"
	                  "  \"version\": 1,\n"
	                  "  \"reports\": [\n"
	                  "    {\n"
	                  "      \"report\": \"one\",\n"
	                  "      \"remarks\": []\n"
	                  "    },\n"
	                  "    {\n"
	                  "      \"report\": \"two\",\n"
	                  "      \"remarks\": []\n"
	                  "    }\n"
	                  "  ]\n"
	                  "}\n");
	free(text);
}

Test(render, repairs_names_that_are_not_utf_8)
{
	const struct gt_rendering rendering = {.style = GT_STYLE_JSON, .limit = UINT64_MAX};
	struct gt_result result;
	char *text;

	gt_result_init(&result);
	gt_result_begin(&result, "kernels", kernel_headings, 4);
	add_kernel(&result, "a\xff\xc3\xa4\xc3", 1, 1, 1);
	text = render(&rendering, &(struct gt_named_result){"x", &result}, 1);
	expect_in(text, "\"a\xef\xbf\xbd\xc3\xa4\xef\xbf\xbd\"");
	free(text);
	gt_result_release(&result);
}

Test(render, scales_units_in_text)
{
	char *text = render_one((struct gt_rendering){.style = GT_STYLE_TEXT});

	expect_in(text, "Busiest kernels\n");
	expect_in(text, "1,234,567");
	expect_in(text, "1.50 ms");
	expect_in(text, "999 ns");
	expect_in(text, "75.5%");
	expect_in(text, "1.05 MB");
	expect_in(text, "12.3 GB/s");
	expect_in(text, "5.000000 s");
	expect_in(text, "Two of 12 things were not measured.\n");
	expect_not_in(text, "total_ns");
	expect_not_in(text, "nan");
	free(text);
}

Test(render, does_not_group_process_ids)
{
	static const struct gt_heading headings[] = {{"pid", GT_UNIT_COUNT, "Process id"}};
	const struct gt_rendering rendering = {.limit = UINT64_MAX};
	struct gt_result result;
	char *text;

	gt_result_init(&result);
	gt_result_begin(&result, "processes", headings, 1);
	gt_result_add_count(&result, 15644);
	text = render(&rendering, &(struct gt_named_result){"x", &result}, 1);
	expect_in(text, "15644");
	free(text);
	gt_result_release(&result);
}

Test(render, shows_a_dash_for_what_is_not_known)
{
	char *text = render_one((struct gt_rendering){.style = GT_STYLE_TEXT});
	const char *line = strstr(text, "DtoH");

	cr_assert(ne(ptr, (void *)line, NULL));
	cr_expect(eq(sz, strspn(line + strlen("DtoH"), " -"), strcspn(line, "0") - strlen("DtoH")));
	cr_expect(ne(ptr, strchr(line, '-'), NULL));
	free(text);
}

Test(render, sorts_numbers_from_the_largest)
{
	const struct gt_sort sort = {.keys = {{.column = "total"}}, .count = 1};
	char *text = render_one((struct gt_rendering){.style = GT_STYLE_CSV, .sort = &sort});

	cr_expect(lt(ptr, strstr(text, "gemm"), strstr(text, "axpy")));
	cr_expect(lt(ptr, strstr(text, "axpy"), strstr(text, "say")));
	free(text);
}

Test(render, sorts_by_what_text_has_as_its_heading)
{
	static const struct gt_heading headings[] = {
		{"name", GT_UNIT_TEXT, "A name"},
		{"busy_ns", GT_UNIT_NS, "How long"},
		{"busy_percent", GT_UNIT_PERCENT, "Of all"},
	};
	const struct gt_sort sort = {.keys = {{.column = "busy_share"}}, .count = 1};
	const struct gt_rendering rendering = {
		.style = GT_STYLE_CSV, .limit = UINT64_MAX, .sort = &sort};
	struct gt_result result;
	char *text;

	gt_result_init(&result);
	gt_result_begin(&result, "gpus", headings, 3);
	for (int i = 0; i < 2; i++) {
		gt_result_add_text(&result, i ? "more" : "less");
		gt_result_add_count(&result, 10 - i);
		gt_result_add_real(&result, 10 + i);
	}
	text = render(&rendering, &(struct gt_named_result){"x", &result}, 1);
	cr_expect(lt(ptr, strstr(text, "more"), strstr(text, "less")));
	free(text);
	gt_result_release(&result);
}

Test(render, sorts_texts_alphabetically_and_both_ways_when_told)
{
	const struct gt_sort natural = {.keys = {{.column = "kernel"}}, .count = 1};
	const struct gt_sort upwards = {.keys = {{"calls", GT_SORT_ASCENDING}}, .count = 1};
	const struct gt_sort downwards = {.keys = {{"kernel", GT_SORT_DESCENDING}}, .count = 1};
	char *text = render_one((struct gt_rendering){.style = GT_STYLE_CSV, .sort = &natural});

	cr_expect(lt(ptr, strstr(text, "axpy"), strstr(text, "gemm")));
	free(text);
	text = render_one((struct gt_rendering){.style = GT_STYLE_CSV, .sort = &upwards});
	cr_expect(lt(ptr, strstr(text, "say"), strstr(text, "axpy")));
	cr_expect(lt(ptr, strstr(text, "axpy"), strstr(text, "gemm")));
	free(text);
	text = render_one((struct gt_rendering){.style = GT_STYLE_CSV, .sort = &downwards});
	cr_expect(lt(ptr, strstr(text, "say"), strstr(text, "gemm")));
	free(text);
}

Test(render, puts_the_unknown_last_in_either_direction)
{
	const enum gt_sort_order orders[] = {GT_SORT_ASCENDING, GT_SORT_DESCENDING};

	for (size_t i = 0; i < 2; i++) {
		const struct gt_sort sort = {.keys = {{"share_percent", orders[i]}}, .count = 1};
		char *text =
			render_one((struct gt_rendering){.style = GT_STYLE_CSV, .sort = &sort});

		cr_expect(gt(ptr, strstr(text, "say"), strstr(text, "axpy")));
		cr_expect(gt(ptr, strstr(text, "say"), strstr(text, "gemm")));
		free(text);
	}
}

Test(render, says_how_many_rows_the_limit_left_out)
{
	char *text = render_one((struct gt_rendering){.style = GT_STYLE_TEXT, .limit = 1});

	expect_in(text, "(2 more)\n");
	expect_in(text, "(1 more)\n");
	expect_not_in(text, "axpy");
	free(text);
}

Test(render, suggests_a_column)
{
	static const char *const slips[][2] = {
		{"totl", "no column 'totl'; did you mean total?"},
		{"total_n", "no column 'total_n'; did you mean total_ns?"},
		{"colour", "no column 'colour'; --csv shows the names of all columns"},
	};
	struct gt_result result;

	fill(&result);
	for (size_t i = 0; i < 3; i++) {
		struct gt_sort sort = {.count = 1};
		const struct gt_rendering rendering = {.sort = &sort};
		struct gt_error err = {0};

		strcpy(sort.keys[0].column, slips[i][0]);
		cr_expect(eq(int,
		             gt_render(&rendering, &(struct gt_named_result){"x", &result}, 1,
		                       stdout, &err),
		             -EINVAL));
		expect_text(err.text, slips[i][1]);
	}
	gt_result_release(&result);
}

static size_t longest_line(const char *text)
{
	size_t longest = 0;

	while (*text) {
		const size_t length = strcspn(text, "\n");

		if (length > longest)
			longest = length;
		text += length + (text[length] == '\n');
	}
	return longest;
}

static char *render_long_name(size_t width)
{
	const struct gt_rendering rendering = {.limit = UINT64_MAX, .width = width};
	struct gt_result result;
	char name[400];
	char *text;

	memset(name, 'x', sizeof(name));
	memcpy(name, "begin", 5);
	memcpy(name + sizeof(name) - 4, "end", 4);
	gt_result_init(&result);
	gt_result_begin(&result, "kernels", kernel_headings, 4);
	add_kernel(&result, name, 1, 1, 1);
	text = render(&rendering, &(struct gt_named_result){"x", &result}, 1);
	gt_result_release(&result);
	return text;
}

Test(render, cuts_the_middle_of_long_names_to_the_terminal)
{
	char *text = render_long_name(80);

	cr_expect(eq(sz, longest_line(text), 80));
	expect_in(text, "begin");
	expect_in(text, "x...x");
	expect_in(text, "end\n");
	free(text);
}

Test(render, cuts_nothing_where_the_page_has_no_end)
{
	char *text = render_long_name(0);

	cr_expect(gt(sz, longest_line(text), 399));
	expect_not_in(text, "...");
	free(text);
}

Test(render, leaves_a_name_something_on_the_narrowest_page)
{
	char *text = render_long_name(GT_RENDER_NARROWEST);

	cr_expect(le(sz, longest_line(text), GT_RENDER_NARROWEST));
	expect_in(text, "begin");
	expect_in(text, "1 ns");
	free(text);
}

static const struct gt_heading wide_headings[] = {
	{"kernel", GT_UNIT_TEXT, "Name", GT_WORTH_NAME},
	{"device", GT_UNIT_TEXT, "GPU", GT_WORTH_KEY},
	{"cluster", GT_UNIT_TEXT, "Never known"},
	{"calls", GT_UNIT_COUNT, "How many", GT_WORTH_KEY},
	{"errors", GT_UNIT_COUNT, "Bad ones", GT_WORTH_KEY, true},
	{"grid", GT_UNIT_TEXT, "A text"},
	{"min_ns", GT_UNIT_NS, "Least", GT_WORTH_LITTLE},
	{"shared_bytes", GT_UNIT_BINARY_BYTES, "Memory", GT_WORTH_LEAST},
	{"busy_ns", GT_UNIT_NS, "How long"},
	{"busy_percent", GT_UNIT_PERCENT, "Of all"},
};

/* Two rows whose names differ in their middle. */
static char *render_wide(struct gt_rendering rendering)
{
	static const char *const names[] = {
		"void library::elementwise_kernel<4, add<float>, array<char*, 3ul> >(int)",
		"void library::elementwise_kernel<4, mul<float>, array<char*, 3ul> >(int)",
	};
	struct gt_result result;
	char *text;

	gt_result_init(&result);
	gt_result_begin(&result, "kernels", wide_headings, 10);
	for (int i = 0; i < 2; i++) {
		gt_result_add_text(&result, names[i]);
		gt_result_add_text(&result, "0: GPU");
		gt_result_add_unknown(&result);
		gt_result_add_count(&result, 7);
		gt_result_add_count(&result, i);
		gt_result_add_text(&result, i ? "2x1x1" : "1x1x1");
		gt_result_add_count(&result, 100);
		gt_result_add_count(&result, 49152);
		gt_result_add_count(&result, 2000);
		gt_result_add_real(&result, 12.5);
	}
	rendering.limit = UINT64_MAX;
	text = render(&rendering, &(struct gt_named_result){"x", &result}, 1);
	gt_result_release(&result);
	return text;
}

Test(render, puts_the_name_last_and_pads_nothing_to_it)
{
	char *text = render_wide((struct gt_rendering){.width = 0});

	expect_in(text, "busy_share  kernel\n");
	expect_in(text, "12.5%  void library");
	expect_in(text, "(int)\n");
	free(text);
}

Test(render, says_what_is_measured_where_two_headings_would_be_the_same)
{
	char *text = render_wide((struct gt_rendering){.width = 0});

	expect_in(text, "busy_time  busy_share");
	expect_not_in(text, "busy_ns");
	expect_not_in(text, "busy_percent");
	expect_in(text, "48 KiB");
	free(text);
}

Test(render, leaves_out_columns_of_the_least_worth_first)
{
	char *at_100 = render_wide((struct gt_rendering){.width = 100});
	char *at_60 = render_wide((struct gt_rendering){.width = 60});

	expect_not_in(at_100, "cluster");
	expect_not_in(at_100, "shared");
	expect_in(at_100, "grid");
	expect_in(at_60, "calls  errors");
	expect_not_in(at_60, "min");
	expect_in(at_60, "left out to fit 60; --wide shows everything)\n");
	cr_expect(le(sz, longest_line(at_100), 100));
	cr_expect(le(sz, longest_line(at_60), 60));
	free(at_100);
	free(at_60);
}

Test(render, keeps_names_apart_that_differ_in_their_middle)
{
	char *text = render_wide((struct gt_rendering){.width = 60});

	expect_in(text, "add<");
	expect_in(text, "mul<");
	free(text);
}

Test(render, colours_what_is_bad_news_and_nothing_else)
{
	char *coloured = render_wide((struct gt_rendering){.colour = true});
	char *plain = render_wide((struct gt_rendering){.colour = false});

	expect_in(coloured, "\033[1mKernels\033[0m\n");
	expect_in(coloured, "\033[31m1\033[0m");
	expect_not_in(coloured, "\033[31m0");
	expect_not_in(plain, "\033");
	free(coloured);
	free(plain);
}

Test(render, wraps_remarks_and_the_prose_of_a_last_column)
{
	static const struct gt_heading headings[] = {
		{"topic", GT_UNIT_TEXT, "About"},
		{"note", GT_UNIT_TEXT, "What", GT_WORTH_PROSE},
	};
	const struct gt_rendering rendering = {.limit = UINT64_MAX, .width = 40};
	struct gt_result result;
	char *text;

	gt_result_init(&result);
	gt_result_begin(&result, "notes", headings, 2);
	gt_result_add_text(&result, "clocks");
	gt_result_add_text(&result, "one two three four five six seven eight nine ten");
	gt_result_remark(&result, "one two three four five six seven eight nine ten");
	text = render(&rendering, &(struct gt_named_result){"x", &result}, 1);
	expect_text(text, "Notes\n"
	                  "topic   note\n"
	                  "clocks  one two three four five six\n"
	                  "        seven eight nine ten\n"
	                  "\n"
	                  "one two three four five six seven eight\n"
	                  "nine ten\n");
	free(text);
	gt_result_release(&result);
}

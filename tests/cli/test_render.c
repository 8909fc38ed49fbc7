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
	{"kernel", GT_UNIT_TEXT, "Name"},
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

	expect_text(text, "kernel,calls,total_ns,share_percent\r\n"
	                  "\"gemm<float, 4>\",1234567,1500000,75.5\r\n"
	                  "\"say \"\"hi\"\"\",1,999,\r\n"
	                  "axpy,20,480000,24.5\r\n"
	                  "\r\n"
	                  "kind,size_bytes,rate_bytes_per_second,start_ns,ratio\r\n"
	                  "HtoD,1048576,12300000000,5000000000,0.125\r\n"
	                  "DtoH,,,0,2\r\n");
	free(text);
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
	expect_in(text, "end ");
	free(text);
}

Test(render, cuts_nothing_where_there_is_no_terminal)
{
	char *text = render_long_name(0);

	cr_expect(gt(sz, longest_line(text), 399));
	expect_not_in(text, "...");
	free(text);
}

Test(render, keeps_a_narrow_terminal_readable)
{
	char *text = render_long_name(5);

	expect_in(text, "...");
	expect_in(text, "1 ns");
	free(text);
}

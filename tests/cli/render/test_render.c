/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/render/render.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/result.h"
#include "base/error.h"
#include "cli/command_line/option.h"
#include "cli/output/terminal.h"
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

Test(render, writes_tables_of_markdown)
{
	const struct gt_rendering rendering = {.style = GT_STYLE_MARKDOWN, .limit = GT_LIMIT_NONE};
	struct gt_named_result named = {"kernels", NULL};
	struct gt_result result;
	char *text;

	fill(&result);
	gt_result_begin(&result, "empty", copy_headings, 5);
	gt_result_begin(&result, "many", copy_headings, 1);
	for (int i = 0; i < 7; i++)
		gt_result_add_text(&result, "a|b*_`<c>\\\n# d");
	named.result = &result;
	text = render(&rendering, &named, 1);
	cr_expect(strstr(text, "### kernels\n\n**Busiest kernels**\n\n"
	                       "| calls | total | share | kernel |\n"
	                       "| ---: | ---: | ---: | --- |\n"
	                       "| 1,234,567 | 1.50 ms | 75.5% | gemm\\<float, 4\\> |\n") == text,
	          "%s", text);
	cr_expect(strstr(text, "\n**Many**\n\n| kind |\n| --- |\n"
	                       "| a\\|b\\*\\_\\`\\<c\\>\\\\\\\\x0a\\# d |\n") != NULL,
	          "%s", text);
	cr_expect(strstr(text, "\n\n2 more rows\n") != NULL, "%s", text);
	cr_expect(strstr(text, "**Empty**") == NULL, "%s", text);
	cr_expect(strstr(text, "\n- Two of 12 things were not measured.\n") != NULL, "%s", text);
	free(text);
	gt_result_release(&result);
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

/* Text of a table with this name, in a style. */
static char *render_name(enum gt_style style, const char *name)
{
	const struct gt_rendering rendering = {.style = style, .limit = UINT64_MAX};
	struct gt_result result;
	char *text;

	gt_result_init(&result);
	gt_result_begin(&result, "kernels", kernel_headings, 4);
	add_kernel(&result, name, -1, 1, 1);
	text = render(&rendering, &(struct gt_named_result){"x", &result}, 1);
	gt_result_release(&result);
	return text;
}

Test(render, writes_no_formulas_into_csv)
{
	static const struct {
		const char *name;
		const char *field;
	} names[] = {
		{"=1+1", "\r\n'=1+1,-1,"},
		{"+a", "\r\n'+a,-1,"},
		{"-1", "\r\n'-1,-1,"},
		{"@SUM(A1)", "\r\n'@SUM(A1),-1,"},
		{"\t=1", "\r\n'\t=1,-1,"},
		{"\n=1", "\r\n\"'\n=1\",-1,"},
		{"=a,b", "\r\n\"'=a,b\",-1,"},
		{"\xef\xbc\x9d"
	         "1",
	         "\r\n'\xef\xbc\x9d"
	         "1,-1,"},
		{"a=b", "\r\na=b,-1,"},
		{" =1", "\r\n =1,-1,"},
		{"'a", "\r\n'a,-1,"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *text = render_name(GT_STYLE_CSV, names[i].name);

		expect_in(text, names[i].field);
		free(text);
	}
}

Test(render, writes_nothing_that_a_terminal_obeys)
{
	static const char name[] = "a\033[31m\x7f\xc2\x9b\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8\rb";
	static const enum gt_style styles[] = {GT_STYLE_TEXT, GT_STYLE_CSV, GT_STYLE_JSON};
	static const char *const shown[] = {
		"a\\x1b[31m\\x7f\\xc2\\x9b\\xe2\\x80\\xae\\xe2\\x81\\xa6\\xe2\\x80\\xa8\\x0db",
		"a\\x1b[31m\\x7f\\xc2\\x9b\\xe2\\x80\\xae\\xe2\\x81\\xa6\\xe2\\x80\\xa8\\x0db",
		"\"a\\u001B[31m\\u007f\\u009b\\u202e\\u2066\\u2028\\rb\"",
	};

	for (size_t i = 0; i < sizeof(styles) / sizeof(styles[0]); i++) {
		char *text = render_name(styles[i], name);

		expect_in(text, shown[i]);
		free(text);
	}
}

Test(render, writes_abbreviations_in_titles_in_capitals)
{
	struct gt_result result;
	char *text;

	gt_result_init(&result);
	gt_result_begin(&result, "hlo", kernel_headings, 4);
	add_kernel(&result, "a", 1, 1, 1);
	gt_result_begin(&result, "nn_modules", kernel_headings, 4);
	add_kernel(&result, "b", 1, 1, 1);
	text = render(&(struct gt_rendering){.limit = 9}, &(struct gt_named_result){"x", &result},
	              1);
	expect_in(text, "HLO\n");
	expect_in(text, "NN modules\n");
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

Test(render, writes_titles_as_words_and_abbreviations)
{
	static const char *const titles[][2] = {{"nn_modules", "NN modules"},
	                                        {"hlo", "HLO"},
	                                        {"top_api_calls", "Top API calls"},
	                                        {"a", "A"}};

	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++) {
		const struct gt_rendering rendering = {.limit = 9};
		struct gt_result result;
		char *text;

		fill(&result);
		result.sections.rows[0].title = titles[i][0];
		text = render(&rendering, &(struct gt_named_result){"x", &result}, 1);
		cr_expect(eq(int, strncmp(text, titles[i][1], strlen(titles[i][1])), 0), "%s",
		          text);
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

/* Rows "kernel 0" to "kernel N - 1", of which the report left more out. */
static char *render_many(struct gt_rendering rendering, size_t rows, size_t more, bool whole)
{
	struct gt_result result;
	char *text;

	gt_result_init(&result);
	gt_result_begin(&result, "kernels", kernel_headings, 4);
	for (size_t i = 0; i < rows; i++) {
		gt_result_add_format(&result, "kernel %zu", i);
		gt_result_add_count(&result, 1);
		gt_result_add_count(&result, 1);
		gt_result_add_real(&result, 1);
	}
	if (more)
		gt_result_top(&result, rows + more, rows);
	if (whole)
		gt_result_whole(&result);
	text = render(&rendering, &(struct gt_named_result){"x", &result}, 1);
	gt_result_release(&result);
	return text;
}

Test(render, shows_the_first_rows_of_a_long_table_and_says_what_shows_all)
{
	char *text = render_many((struct gt_rendering){.limit = GT_LIMIT_NONE}, 25, 0, false);

	expect_in(text, "kernel 19\n(5 more: --limit 25 shows all, as does --wide)\n");
	expect_not_in(text, "kernel 20");
	free(text);
	text = render_many((struct gt_rendering){.limit = GT_LIMIT_NONE}, 20, 0, false);
	expect_in(text, "kernel 19");
	expect_not_in(text, "more");
	free(text);
}

Test(render, shows_a_long_table_whole_where_that_is_wanted)
{
	const struct gt_rendering renderings[] = {
		{.limit = GT_LIMIT_NONE, .details = true},
		{.limit = GT_LIMIT_NONE, .style = GT_STYLE_CSV},
		{.limit = GT_LIMIT_NONE, .style = GT_STYLE_JSON},
		{.limit = 25},
	};
	char *whole = render_many((struct gt_rendering){.limit = GT_LIMIT_NONE}, 25, 0, true);

	expect_in(whole, "kernel 24");
	free(whole);
	for (size_t i = 0; i < 4; i++) {
		char *text = render_many(renderings[i], 25, 0, false);

		expect_in(text, "kernel 24");
		expect_not_in(text, "more");
		free(text);
	}
}

Test(render, counts_rows_that_the_report_left_out)
{
	char *text = render_many((struct gt_rendering){.limit = GT_LIMIT_NONE}, 30, 12, false);
	char *json =
		render_many((struct gt_rendering){.limit = GT_LIMIT_NONE, .style = GT_STYLE_JSON},
	                    30, 12, false);
	char *limited = render_many((struct gt_rendering){.limit = 10}, 30, 12, false);

	expect_in(text, "kernel 29\n(12 more: --limit 42 shows all)\n");
	expect_in(json, "\"The table kernels has 42 rows, the first 30 are here: --limit 42 shows "
	                "all.\"");
	expect_in(limited, "kernel 9\n(32 more)\n");
	free(text);
	free(json);
	free(limited);
}

Test(render, says_by_what_a_table_is_sorted)
{
	const struct gt_sort sort = {.keys = {{.column = "calls"}, {.column = "share_percent"}},
	                             .count = 2};
	const struct gt_rendering renderings[] = {
		{.limit = GT_LIMIT_NONE}, {.limit = 1}, {.limit = GT_LIMIT_NONE, .sort = &sort}};
	const char *const titles[] = {"Busiest kernels, by total\n", "Busiest kernels, by total\n",
	                              "Busiest kernels, by calls, share\n"};

	for (size_t i = 0; i < 3; i++) {
		struct gt_result result;
		char *text;

		fill(&result);
		result.sections.rows[0].order = "total_ns";
		text = render(&renderings[i], &(struct gt_named_result){"x", &result}, 1);
		expect_in(text, titles[i]);
		expect_in(text, "Copies\n");
		free(text);
		gt_result_release(&result);
	}
}

Test(render, shows_remarks_only_with_one_of_their_columns)
{
	static const struct gt_heading headings[] = {
		{"kernel", GT_UNIT_TEXT, "Name", GT_WORTH_NAME},
		{"calls", GT_UNIT_COUNT, "How many", GT_WORTH_KEY},
		{"waves_of_all_blocks", GT_UNIT_COUNT, "How many", GT_WORTH_LEAST},
	};
	const enum gt_style styles[] = {GT_STYLE_TEXT, GT_STYLE_TEXT, GT_STYLE_JSON};
	const size_t widths[] = {40, 0, 40};
	const bool shown[] = {false, true, true};

	for (size_t i = 0; i < 3; i++) {
		const struct gt_rendering rendering = {
			.style = styles[i], .limit = GT_LIMIT_NONE, .width = widths[i]};
		struct gt_result result;
		char *text;

		gt_result_init(&result);
		gt_result_begin(&result, "kernels", headings, 3);
		gt_result_add_text(&result, "a_kernel_of_a_name_that_takes_a_line");
		gt_result_add_count(&result, 1);
		gt_result_add_count(&result, 2);
		gt_result_remark_on(&result, "share waves_of_all_blocks", "Waves fill it.");
		gt_result_remark_on(&result, "share calls", "Calls count.");
		text = render(&rendering, &(struct gt_named_result){"x", &result}, 1);
		cr_expect(eq(int, strstr(text, "Waves fill it.") != NULL, shown[i]), "%s", text);
		expect_in(text, "Calls count.");
		free(text);
		gt_result_release(&result);
	}
}

Test(render, leaves_out_remarks_on_columns_of_tables_that_are_not_shown)
{
	const struct gt_option_list sections = {.texts = {"copies"}, .count = 1};
	const enum gt_style styles[] = {GT_STYLE_TEXT, GT_STYLE_JSON};

	for (size_t i = 0; i < 2; i++) {
		const struct gt_rendering rendering = {
			.style = styles[i], .limit = GT_LIMIT_NONE, .sections = &sections};
		struct gt_result result;
		char *text;

		fill(&result);
		gt_result_remark_on(&result, "total_ns", "Of kernels.");
		gt_result_remark_on(&result, "ratio", "Of copies.");
		text = render(&rendering, &(struct gt_named_result){"x", &result}, 1);
		expect_not_in(text, "Of kernels.");
		expect_in(text, "Of copies.");
		free(text);
		gt_result_release(&result);
	}
}

/* Two tables, the first with as many rows as that. */
static char *render_almost_empty(size_t rows, bool says_why)
{
	const struct gt_rendering rendering = {.style = GT_STYLE_TEXT, .limit = GT_LIMIT_NONE};
	struct gt_result result;
	char *text;

	gt_result_init(&result);
	gt_result_begin(&result, "kernels", kernel_headings, 4);
	for (size_t i = 0; i < rows; i++)
		add_kernel(&result, "gemm", 1, 2, 3);
	gt_result_begin(&result, "copies", copy_headings, 5);
	gt_result_remark(&result, "Times are CUPTI's.");
	if (says_why)
		gt_result_remark_empty(&result, "No %s was recorded.", "kernel");
	text = render(&rendering, &(struct gt_named_result){"x", &result}, 1);
	gt_result_release(&result);
	return text;
}

static void expect_almost_empty(size_t rows, bool says_why, const char *expected)
{
	char *text = render_almost_empty(rows, says_why);

	expect_text(text, expected);
	free(text);
}

Test(render, says_why_there_are_no_rows_and_nothing_before_it)
{
	expect_almost_empty(0, true, "Times are CUPTI's.\nNo kernel was recorded.\n");
	expect_almost_empty(0, false, "Times are CUPTI's.\n(no rows in kernels, copies)\n");
}

Test(render, names_the_tables_without_rows_behind_those_with_some)
{
	expect_almost_empty(1, false,
	                    "Kernels\ncalls  total  share  kernel\n    1   2 ns   3.0%  gemm\n\n"
	                    "(no rows in copies)\nTimes are CUPTI's.\n");
}

Test(render, lists_the_cells_of_a_table_that_always_has_one_row)
{
	for (int single = 0; single < 2; single++) {
		const struct gt_rendering rendering = {.limit = GT_LIMIT_NONE, .width = 80};
		struct gt_result result;
		char *text;

		gt_result_init(&result);
		gt_result_begin(&result, "kernels", kernel_headings, 4);
		add_kernel(&result, "axpy", 7, 1500, 50);
		if (single)
			gt_result_single(&result);
		text = render(&rendering, &(struct gt_named_result){"x", &result}, 1);
		expect_in(text,
		          single ? "kernel  axpy\ncalls   7\n" : "calls    total  share  kernel\n");
		free(text);
		gt_result_release(&result);
	}
}

Test(render, refuses_to_sort_by_a_column_of_a_table_that_is_not_shown)
{
	const struct gt_sort sort = {.keys = {{.column = "calls"}}, .count = 1};
	struct gt_rendering rendering = {.limit = GT_LIMIT_NONE, .sort = &sort};
	struct gt_error err = {0};
	struct gt_result result;

	fill(&result);
	result.sections.rows[0].detail = true;
	cr_expect(
		eq(int,
	           gt_render(&rendering, &(struct gt_named_result){"x", &result}, 1, stdout, &err),
	           -EINVAL));
	expect_text(err.text, "column 'calls' is in table busiest_kernels, which is not shown: "
	                      "--section busiest_kernels shows it");
	rendering.details = true;
	cr_expect(eq(int,
	             gt_render_check(&rendering, &(struct gt_named_result){"x", &result}, 1, &err),
	             0));
	gt_result_release(&result);
}

Test(render, suggests_a_column)
{
	static const char *const slips[][2] = {
		{"totl", "no column 'totl'; did you mean total?"},
		{"total_n", "no column 'total_n'; did you mean total_ns?"},
		{"colour", "no column 'colour'; there is: kernel, calls, total, share"},
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
	char *text = render_long_name(GT_PAGE_NARROWEST);

	cr_expect(le(sz, longest_line(text), GT_PAGE_NARROWEST));
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
		gt_result_add_count(&result, 7 + i);
		gt_result_add_count(&result, i);
		gt_result_add_text(&result, i ? "2x1x1" : "1x1x1");
		gt_result_add_count(&result, 100 + i);
		gt_result_add_count(&result, 49152 * (1 + i));
		gt_result_add_count(&result, 2000 + 1000 * i);
		gt_result_add_real(&result, 12.5 + i);
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
	expect_in(
		at_60,
		"(in all these rows: device 0: GPU)\n\n(3 columns left out and names cut to fit 60; --wide shows\neverything)\n");
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

/* Prose takes what is left: no column need go for it, though all its cells be the same. */
Test(render, leaves_out_no_column_for_prose_that_is_wrapped)
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
	gt_result_add_text(&result, "gaps");
	gt_result_add_text(&result, "one two three four five six seven eight nine ten");
	gt_result_add_text(&result, "gaps");
	gt_result_add_text(&result, "eleven");
	text = render(&rendering, &(struct gt_named_result){"x", &result}, 1);
	expect_text(text, "Notes\n"
	                  "topic  note\n"
	                  "gaps   one two three four five six seven\n"
	                  "       eight nine ten\n"
	                  "gaps   eleven\n");
	free(text);
	gt_result_release(&result);
}

Test(render, keeps_the_column_that_rows_are_sorted_by)
{
	const struct gt_sort sort = {.keys = {{.column = "shared"}}, .count = 1};
	char *unsorted = render_wide((struct gt_rendering){.width = 60});
	char *sorted = render_wide((struct gt_rendering){.width = 60, .sort = &sort});

	expect_not_in(unsorted, "shared");
	expect_in(sorted, "Kernels, by shared\n");
	expect_in(sorted, "48 KiB");
	cr_expect(le(sz, longest_line(sorted), 60));
	free(unsorted);
	free(sorted);
}

Test(render, shows_data_that_rows_are_sorted_by)
{
	static const struct gt_heading headings[] = {
		{"kernel", GT_UNIT_TEXT, "Name", GT_WORTH_NAME},
		{"full_name", GT_UNIT_TEXT, "Whole name", GT_WORTH_DATA},
	};
	const struct gt_sort sort = {.keys = {{.column = "full_name"}}, .count = 1};

	for (int sorted = 0; sorted < 2; sorted++) {
		const struct gt_rendering rendering = {.limit = GT_LIMIT_NONE,
		                                       .sort = sorted ? &sort : NULL};
		struct gt_result result;
		char *text;

		gt_result_init(&result);
		gt_result_begin(&result, "kernels", headings, 2);
		gt_result_add_text(&result, "axpy");
		gt_result_add_text(&result, "void axpy(int)");
		text = render(&rendering, &(struct gt_named_result){"x", &result}, 1);
		cr_expect(eq(int, strstr(text, "axpy    void axpy(int)\n") != NULL, sorted));
		free(text);
		gt_result_release(&result);
	}
}

Test(render, goes_on_in_the_next_line_with_names_that_are_wanted_whole)
{
	char *text = render_wide((struct gt_rendering){.width = 60, .whole_names = true});

	expect_not_in(text, "...");
	expect_in(text, "add<float>,");
	expect_in(text, "mul<float>,");
	expect_in(text, "columns left out to fit 60; --wide shows everything)\n");
	cr_expect(le(sz, longest_line(text), 60));
	free(text);
}

static const struct gt_heading gap_headings[] = {
	{"device", GT_UNIT_TEXT, "The same in every row", GT_WORTH_KEY},
	{"host_call_ns", GT_UNIT_NS, "How long", GT_WORTH_KEY, .label = "host_time"},
	{"host_call", GT_UNIT_TEXT, "Name", GT_WORTH_NAME},
	{"before", GT_UNIT_TEXT, "Name", GT_WORTH_LESSER_NAME},
	{"after", GT_UNIT_TEXT, "Name", GT_WORTH_NAME},
};

/* A line takes 81 columns in all, 60 without before, 52 without the device as well. */
static char *render_gaps(size_t width)
{
	const struct gt_rendering rendering = {.limit = GT_LIMIT_NONE, .width = width};
	struct gt_result result;
	char *text;

	gt_result_init(&result);
	gt_result_begin(&result, "gaps", gap_headings, 5);
	for (int i = 0; i < 2; i++) {
		gt_result_add_text(&result, "0: GPU");
		gt_result_add_count(&result, 1000 + 1000 * i);
		gt_result_add_text(&result, "cuLibraryLoadData");
		gt_result_add_text(&result, "kernel_that_is_done");
		gt_result_add_text(&result, "kernel_that_comes_next");
	}
	text = render(&rendering, &(struct gt_named_result){"x", &result}, 1);
	gt_result_release(&result);
	return text;
}

Test(render, leaves_out_a_lesser_name_before_it_cuts_any)
{
	char *at_81 = render_gaps(81);
	char *at_80 = render_gaps(80);
	char *at_52 = render_gaps(52);

	expect_in(at_81, "host_time  host_call          before               after\n");
	expect_in(at_80, "device  host_time  host_call          after\n");
	expect_in(at_80, "kernel_that_comes_next\n");
	expect_in(at_52, "\nhost_time  host_call          after\n");
	expect_in(at_52, "kernel_that_comes_next\n");
	free(at_81);
	free(at_80);
	free(at_52);
}

static const struct gt_heading even_headings[] = {
	{"kept_bytes", GT_UNIT_BYTES, "The same in every row"},
	{"failed", GT_UNIT_COUNT, "None in any row"},
	{"least_ns", GT_UNIT_NS, "Differs", GT_WORTH_LEAST},
	{"total_ns", GT_UNIT_NS, "Differs"},
	{"name", GT_UNIT_TEXT, "Name", GT_WORTH_NAME},
	{"source", GT_UNIT_TEXT, "Where it is from", GT_WORTH_PROSE},
};

static char *render_even(const char *second_source, size_t width)
{
	const struct gt_rendering rendering = {.limit = GT_LIMIT_NONE, .width = width};
	struct gt_result result;
	char *text;

	gt_result_init(&result);
	gt_result_begin(&result, "copies", even_headings, 6);
	for (int i = 0; i < 2; i++) {
		gt_result_add_count(&result, 5000);
		gt_result_add_count(&result, 0);
		gt_result_add_count(&result, 100 + i);
		gt_result_add_count(&result, 200 + i);
		gt_result_add_text(&result, i ? "second" : "first");
		gt_result_add_text(&result, i ? second_source : "not measured");
	}
	text = render(&rendering, &(struct gt_named_result){"x", &result}, 1);
	gt_result_release(&result);
	return text;
}

Test(render, leaves_out_columns_whose_rows_are_equal_before_those_that_differ)
{
	char *wide = render_even("not measured", 39);
	char *without_zeros = render_even("not measured", 38);
	char *narrow = render_even("not measured", 30);

	expect_in(wide, "kept  failed   least   total  name\n");
	expect_in(without_zeros, "   kept   least   total  name\n");
	expect_in(narrow, "\n least   total  name\n");
	expect_in(narrow,
	          "(in all these rows: source not\nmeasured, kept 5.00 KB)\n\n(1 column left out");
	free(wide);
	free(without_zeros);
	free(narrow);
}

Test(render, says_once_below_the_table_what_every_row_would_say)
{
	char *same = render_even("not measured", 100);
	char *other = render_even("CUPTI", 100);

	expect_in(same, "201 ns  second\n(in all these rows: source not measured)\n");
	expect_in(other, "first   not measured\n");
	expect_in(other, "second  CUPTI\n");
	expect_not_in(other, "in all these rows");
	free(same);
	free(other);
}

Test(render, gives_each_row_in_its_own_unit)
{
	static const struct gt_heading headings[] = {
		{"counter", GT_UNIT_TEXT, "Name", GT_WORTH_NAME},
		{"unit", GT_UNIT_TEXT, "Unit of the row"},
		{"mean", GT_UNIT_REAL, "Mean", .row_unit = GT_ROW_UNIT},
		{"rate", GT_UNIT_REAL, "A second", .row_unit = GT_ROW_UNIT_PER_SECOND},
		{"total", GT_UNIT_REAL, "All", .row_unit = GT_ROW_UNIT_TOTAL},
		{"share", GT_UNIT_REAL, "In no unit"},
	};
	static const char *const units[] = {"bytes", "mJ", "bytes/s", "sectors", NULL};
	const struct gt_rendering text_of = {.limit = GT_LIMIT_NONE};
	const struct gt_rendering json_of = {.style = GT_STYLE_JSON, .limit = GT_LIMIT_NONE};
	struct gt_result result;
	char *text;
	char *json;

	gt_result_init(&result);
	gt_result_begin(&result, "counters", headings, GT_COUNT_OF(headings));
	for (size_t i = 0; i < GT_COUNT_OF(units); i++) {
		gt_result_add_text(&result, "c");
		gt_result_add_text(&result, units[i]);
		gt_result_add_real(&result, 840513301572.0);
		gt_result_add_real(&result, 5e3);
		gt_result_add_real(&result, 2e9);
		gt_result_add_real(&result, 1.5);
	}
	text = render(&text_of, &(struct gt_named_result){"x", &result}, 1);
	json = render(&json_of, &(struct gt_named_result){"x", &result}, 1);
	expect_not_in(text, "unit");
	expect_in(text, "841 GB        5.00 KB/s                2.00 GB   1.50  c\n");
	expect_in(text, "841 MJ           5.00 W                2.00 MJ   1.50  c\n");
	expect_in(text, "841 GB/s  5,000 bytes/s/s                2.00 GB   1.50  c\n");
	expect_in(json, "\"unit\": \"bytes/s\"");
	expect_in(json, "840513301572.0");
	gt_result_release(&result);
	free(text);
	free(json);
}

/* Four tables of a report with a row each, and one of details. */
static char *render_tables(struct gt_rendering rendering, bool is_page)
{
	static const char *const titles[] = {"first", "second", "third", "hidden", "fourth"};
	struct gt_result result;
	char *text;

	gt_result_init(&result);
	result.is_page = is_page;
	for (size_t i = 0; i < GT_COUNT_OF(titles); i++) {
		gt_result_begin(&result, titles[i], even_headings + 1, 1);
		gt_result_add_count(&result, 1);
		if (i == 3)
			gt_result_detail(&result);
	}
	gt_result_mark_further(&result);
	text = render(&rendering, &(struct gt_named_result){"x", &result}, 1);
	gt_result_release(&result);
	return text;
}

Test(render, has_three_tables_of_a_report_and_names_the_others)
{
	const struct gt_option_list fourth = {.texts = {"fourth"}, .count = 1};
	char *usual = render_tables((struct gt_rendering){0}, false);
	char *all = render_tables((struct gt_rendering){.all_tables = true}, false);
	char *chosen = render_tables((struct gt_rendering){.sections = &fourth}, false);
	char *page = render_tables((struct gt_rendering){0}, true);
	char *csv = render_tables((struct gt_rendering){.style = GT_STYLE_CSV}, false);

	expect_in(usual, "Third\n");
	expect_not_in(usual, "Fourth\n");
	expect_in(usual, "(further tables, with their rows: fourth (1): --all shows them)\n");
	expect_in(all, "Fourth\n");
	expect_in(all, "Hidden\n");
	expect_not_in(all, "further tables");
	expect_in(chosen, "Fourth\n");
	expect_not_in(chosen, "further tables");
	expect_in(page, "Fourth\n");
	expect_not_in(page, "further tables");
	expect_in(csv, "# x fourth");
	free(usual);
	free(all);
	free(chosen);
	free(page);
	free(csv);
}

/* A picture with one line and one point, whose name must not end the text that it stands in. */
static void add_picture(struct gt_result *result)
{
	struct gt_chart *chart = gt_result_add_chart(result);

	chart->title = "Roofline";
	chart->x_label = "FLOP / byte";
	chart->y_label = "FLOP/s";
	chart->from_x = 1;
	chart->to_x = 100;
	chart->from_y = 1e9;
	chart->to_y = 1e13;
	*gt_array_push(&chart->lines) = (struct gt_chart_line){.label = "memory",
	                                                       .from_x = 1,
	                                                       .from_y = 1e9,
	                                                       .to_x = 10,
	                                                       .to_y = 1e10,
	                                                       .dashed = true};
	*gt_array_push(&chart->points) = (struct gt_chart_point){
		.label = "gemm<float, 4>", .figures = "1 & 2", .x = 10, .y = 1e11, .weight = 1};
}

Test(render, draws_charts)
{
	const struct gt_rendering rendering = {.style = GT_STYLE_SVG};
	struct gt_result result;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	gt_result_init(&result);
	add_picture(&result);
	cr_assert(eq(int,
	             gt_render(&rendering, &(struct gt_named_result){"roofline", &result}, 1, out,
	                       NULL),
	             0));
	fclose(out);
	cr_expect(strncmp(text, "<svg ", 5) == 0);
	cr_expect(strstr(text, "gemm&lt;float, 4&gt;: 1 &amp; 2</title>") != NULL);
	cr_expect(strstr(text, "gemm<") == NULL);
	/* in the middle of both axes: (90 + 720) / 2 and (490 + 60) / 2 */
	cr_expect(strstr(text, "cx=\"405.0\" cy=\"275.0\" r=\"16.0\"") != NULL);
	cr_expect(strstr(text, "class=\"roof dashed\" d=\"M90.0 490.0L405.0 382.5\"") != NULL);
	cr_expect(strstr(text, "prefers-color-scheme:dark") != NULL);
	cr_expect(strcmp(text + size - strlen("</svg>\n"), "</svg>\n") == 0);
	free(text);
	gt_result_release(&result);
}

/* Behind a chart, two rows of one kind: the first ends where the second begins. */
Test(render, draws_strips_below_charts)
{
	const struct gt_rendering rendering = {.style = GT_STYLE_SVG};
	struct gt_result result;
	struct gt_strips *strips;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	gt_result_init(&result);
	add_picture(&result);
	strips = gt_result_add_strips(&result);
	strips->title = "gemm<float>, launch 1";
	strips->x_label = "microseconds";
	strips->to_x = 63;
	strips->whole = "gemm<float>, 42 us";
	strips->whole_to_x = 42;
	*gt_array_push(&strips->rows) = "SM 0";
	*gt_array_push(&strips->rows) = "SM 1";
	*gt_array_push(&strips->kinds) = (struct gt_strip_kind){"load & wait", "12.5%"};
	*gt_array_push(&strips->parts) = (struct gt_strip_part){0, 0, 0, 6.3};
	*gt_array_push(&strips->parts) = (struct gt_strip_part){1, 0, 6.3, 12.6};
	cr_assert(eq(int,
	             gt_render(&rendering, &(struct gt_named_result){"device-events", &result}, 1,
	                       out, NULL),
	             0));
	fclose(out);
	/* the chart's 560, and 60 above, the legend's 38, which are more than two rows, and 60
	 * below */
	cr_expect(strstr(text, "height=\"718\"") != NULL);
	cr_expect(strstr(text, "translate(0 560)") != NULL);
	cr_expect(strstr(text, "gemm&lt;float&gt;, launch 1</text>") != NULL);
	cr_expect(strstr(text, "class=\"whole\" x=\"90\" y=\"43\" width=\"420.00\"") != NULL);
	cr_expect(strstr(text, "gemm&lt;float&gt;, 42 us</text>") != NULL);
	cr_expect(strstr(text, "load &amp; wait") != NULL);
	cr_expect(strstr(text, "class=\"kind0\" x=\"90.00\" y=\"60.00\" width=\"63.00\"") != NULL);
	cr_expect(strstr(text, "class=\"kind0\" x=\"153.00\" y=\"76.00\" width=\"63.00\"") != NULL);
	cr_expect(strstr(text, ">60</text>") != NULL);
	cr_expect(strstr(text, "SM 1</text>") != NULL);
	free(text);
	gt_result_release(&result);
}

Test(render, has_no_picture_of_tables)
{
	const struct gt_rendering rendering = {.style = GT_STYLE_SVG};
	struct gt_error err = {0};
	struct gt_result result;

	fill(&result);
	cr_expect(eq(int,
	             gt_render(&rendering, &(struct gt_named_result){"kernels", &result}, 1, stdout,
	                       &err),
	             -EINVAL));
	cr_expect(strstr(err.text, "gputrace report roofline -o x.svg") != NULL);
	gt_result_release(&result);
}

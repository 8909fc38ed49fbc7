/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/result.h"

#include <math.h>
#include <string.h>

#include "analysis/parameter.h"
#include "base/error.h"
#include "support/check.h"

static const struct gt_heading headings[] = {
	{"name", GT_UNIT_TEXT, "A name"},
	{"calls", GT_UNIT_COUNT, "A count"},
	{"share_percent", GT_UNIT_PERCENT, "A share"},
};

Test(result, keeps_cells_row_after_row_with_the_headings_units)
{
	struct gt_result result;

	gt_result_init(&result);
	gt_result_begin(&result, "first", headings, 3);
	gt_result_add_text(&result, "a");
	gt_result_add_count(&result, -5);
	gt_result_add_real(&result, 12.5);
	gt_result_add_format(&result, "%s-%d", "b", 7);
	gt_result_add_unknown(&result);
	gt_result_add_real(&result, NAN);

	const struct gt_section *section = gt_result_find(&result, "first");

	cr_assert(eq(sz, gt_section_row_count(section), 2));
	expect_text(gt_section_row(section, 0)[0].text, "a");
	cr_expect(eq(i64, gt_section_row(section, 0)[1].count, -5));
	cr_expect(eq(int, (int)gt_section_row(section, 0)[1].unit, GT_UNIT_COUNT));
	cr_expect(epsilon_eq(dbl, gt_section_row(section, 0)[2].real, 12.5, 1e-12));
	cr_expect(eq(int, gt_section_row(section, 0)[2].unknown, 0));
	expect_text(gt_section_row(section, 1)[0].text, "b-7");
	cr_expect(eq(int, gt_section_row(section, 1)[1].unknown, 1));
	cr_expect(eq(int, (int)gt_section_row(section, 1)[1].unit, GT_UNIT_COUNT));
	cr_expect(eq(int, gt_section_row(section, 1)[2].unknown, 1));
	gt_result_release(&result);
}

Test(result, copies_texts_and_knows_none_that_is_empty)
{
	struct gt_result result;
	char text[] = "before";

	gt_result_init(&result);
	gt_result_begin(&result, "first", headings, 1);
	gt_result_add_copy(&result, text);
	text[0] = 'B';
	gt_result_add_copy(&result, "");

	const struct gt_section *section = gt_result_find(&result, "first");

	cr_assert(eq(sz, gt_section_row_count(section), 2));
	expect_text(gt_section_row(section, 0)[0].text, "before");
	cr_expect(eq(int, gt_section_row(section, 1)[0].unknown, 1));
	gt_result_release(&result);
}

Test(result, finds_its_sections)
{
	struct gt_result result;

	gt_result_init(&result);
	gt_result_begin(&result, "first", headings, 3);
	gt_result_begin(&result, "second", headings, 2);
	gt_result_add_text(&result, "in the second");
	gt_result_add_count(&result, 1);
	cr_expect(eq(sz, gt_section_row_count(gt_result_find(&result, "first")), 0));
	cr_expect(eq(sz, gt_section_row_count(gt_result_find(&result, "second")), 1));
	cr_expect(eq(ptr, (void *)gt_result_find(&result, "third"), NULL));
	gt_result_release(&result);
}

Test(result, keeps_long_remarks_and_may_be_released_twice)
{
	struct gt_result result;

	gt_result_init(&result);
	gt_result_remark(&result, "%0*d", 5000, 1);
	cr_assert(eq(sz, result.remarks.count, 1));
	cr_expect(eq(sz, strlen(result.remarks.rows[0].text), 5000));
	gt_result_release(&result);
	gt_result_release(&result);
	cr_expect(eq(sz, result.remarks.count, 0));
}

/* A check of a result; returns the text of err. */
static const char *check(const struct gt_result *result, struct gt_error *err)
{
	*err = (struct gt_error){0};
	cr_expect(eq(int, gt_result_check(result, err), -err->code));
	return err->text;
}

Test(result, notices_a_row_with_too_few_cells)
{
	struct gt_result result;
	struct gt_error err;

	gt_result_init(&result);
	gt_result_begin(&result, "first", headings, 3);
	gt_result_add_text(&result, "a");
	gt_result_add_count(&result, 1);
	expect_text(check(&result, &err), "the last row of first has too few cells");
	gt_result_add_real(&result, 1);
	expect_text(check(&result, &err), "");
	gt_result_release(&result);
}

Test(result, notices_a_cell_of_another_unit_and_shows_it_as_unknown)
{
	struct gt_result result;
	struct gt_error err;

	gt_result_init(&result);
	gt_result_begin(&result, "first", headings, 3);
	gt_result_add_count(&result, 1);
	gt_result_add_real(&result, 1);
	gt_result_add_text(&result, "a");
	expect_text(check(&result, &err), "a cell is of another unit than its heading");
	for (size_t i = 0; i < 3; i++)
		cr_expect(gt_section_row(&result.sections.rows[0], 0)[i].unknown);
	gt_result_release(&result);
}

Test(result, notices_a_cell_outside_of_every_table)
{
	struct gt_result result;
	struct gt_error err;

	gt_result_init(&result);
	gt_result_add_count(&result, 1);
	expect_text(check(&result, &err), "a cell is in no table");
	gt_result_release(&result);
}

Test(result, finds_a_cell_by_its_heading)
{
	struct gt_result result;

	gt_result_init(&result);
	gt_result_begin(&result, "first", headings, 2);
	gt_result_add_text(&result, "a");
	gt_result_add_count(&result, 9);

	const struct gt_section *section = gt_result_find(&result, "first");

	cr_expect(eq(i64, gt_section_cell(section, 0, "calls")->count, 9));
	cr_expect(eq(ptr, (void *)gt_section_cell(section, 0, "share_percent"), NULL));
	gt_result_release(&result);
}

Test(result, knows_how_many_rows_a_table_leaves_out)
{
	struct gt_result result;

	gt_result_init(&result);
	gt_result_begin(&result, "waited_on", headings, 3);
	gt_result_top(&result, 20, 20);
	cr_expect(eq(u64, result.sections.rows[0].more, 0));
	gt_result_top(&result, 21, 20);
	cr_expect(eq(u64, result.sections.rows[0].more, 1));
	cr_expect(result.sections.rows[0].whole);
	gt_result_top(&result, 21, GT_ROWS_ALL);
	cr_expect(eq(u64, result.sections.rows[0].more, 0));
	cr_expect(not(result.sections.rows[0].whole));
	gt_result_release(&result);
}

Test(result, tells_which_columns_a_remark_is_about)
{
	struct gt_result result;

	gt_result_init(&result);
	gt_result_remark(&result, "of everything");
	gt_result_remark_on(&result, "later_mean_ns later_median_ns", "of %d columns", 2);
	expect_text(result.remarks.rows[1].text, "of 2 columns");
	cr_expect(gt_remark_is_on(&result.remarks.rows[1], "later_mean_ns"));
	cr_expect(gt_remark_is_on(&result.remarks.rows[1], "later_median_ns"));
	cr_expect(not(gt_remark_is_on(&result.remarks.rows[1], "later")));
	cr_expect(not(gt_remark_is_on(&result.remarks.rows[1], "mean_ns")));
	cr_expect(not(gt_remark_is_on(&result.remarks.rows[0], "later_mean_ns")));
	gt_result_release(&result);
}

Test(result, notices_an_order_by_no_column)
{
	struct gt_result result;
	struct gt_error err;

	gt_result_init(&result);
	gt_result_begin(&result, "first", headings, 3);
	gt_result_order(&result, "calls");
	expect_text(result.sections.rows[0].order, "calls");
	gt_result_order(&result, "total_ns");
	expect_text(check(&result, &err), "a table is sorted by a column that it does not have");
	gt_result_release(&result);
}

static const struct gt_heading amount_headings[] = {
	{"name", GT_UNIT_TEXT, "A name"},
	{"total_ns", GT_UNIT_NS, "A time"},
	{"bytes", GT_UNIT_BYTES, "A size"},
	{"share_percent", GT_UNIT_PERCENT, "A share"},
	{"rate_bytes_per_second", GT_UNIT_BYTES_PER_SECOND, "A rate"},
};

Test(result, does_not_know_amounts_that_cannot_be)
{
	struct gt_result result;
	const struct gt_cell *cells;

	gt_result_init(&result);
	gt_result_begin(&result, "amounts", amount_headings, 5);
	gt_result_add_text(&result, "none can be");
	gt_result_add_count(&result, INT64_MIN);
	gt_result_add_count(&result, (int64_t)UINT64_MAX);
	gt_result_add_real(&result, 1e9);
	gt_result_add_real(&result, INFINITY);
	gt_result_add_text(&result, "all can be");
	gt_result_add_count(&result, -10);
	gt_result_add_count(&result, INT64_MAX);
	gt_result_add_real(&result, 130);
	gt_result_add_real(&result, 0);
	for (size_t row = 0; row < 2; row++) {
		cells = gt_section_row(gt_result_find(&result, "amounts"), row);
		for (size_t i = 1; i < 5; i++)
			cr_expect(eq(int, cells[i].unknown, row == 0), "%zu %zu", row, i);
	}
	gt_result_release(&result);
}

Test(result, cuts_long_texts_when_all_of_them_are_too_much)
{
	enum { ROWS = 70, LONG = 1 << 20 };
	static char text[LONG + 1];
	const struct gt_section *section;
	struct gt_result result;

	memset(text, 'a', LONG);
	gt_result_init(&result);
	gt_result_begin(&result, "names", headings, 1);
	for (int i = 0; i < ROWS; i++)
		gt_result_add_text(&result, text);
	section = gt_result_find(&result, "names");
	cr_expect(eq(ptr, (void *)gt_section_row(section, 0)[0].text, (void *)text));
	cr_expect(eq(sz, strlen(gt_section_row(section, ROWS - 1)[0].text),
	             GT_TEXT_SHORT + strlen(GT_TEXT_CUT)));
	cr_expect(eq(u64, result.room.cut, ROWS - 64));
	gt_result_release(&result);
}

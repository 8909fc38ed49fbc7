/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "support/check.h"

static const struct gt_tolerance exact = {0};

Test(compare, of_equal_contents_gives_values_and_no_mismatch)
{
	const float values[] = {1, -2, 6};
	struct gt_comparison found;

	gt_compare(values, values, sizeof(values), GT_ELEMENT_f32, exact, &found);
	cr_expect(eq(u64, found.elements, 3));
	cr_expect(eq(u64, found.mismatches, 0));
	cr_expect(eq(u64, found.differing, 0));
	cr_expect(eq(dbl, found.got_values.least, -2));
	cr_expect(eq(dbl, found.got_values.most, 6));
	cr_expect(ieee_ulp_eq(dbl, found.got_values.mean, 5.0 / 3, 4));
	cr_expect(eq(u64, found.wanted_values.count, 3));
}

Test(compare, names_the_first_mismatches_and_counts_them_all)
{
	uint32_t wanted[100];
	uint32_t got[100];
	struct gt_comparison found;

	for (uint32_t i = 0; i < 100; i++) {
		wanted[i] = i;
		got[i] = i < 80 ? i : i + 5;
	}
	gt_compare(wanted, got, sizeof(got), GT_ELEMENT_u32, exact, &found);
	cr_expect(eq(u64, found.mismatches, 20));
	cr_expect(eq(sz, found.first_count, GT_FIRST_MISMATCHES));
	cr_expect(eq(u64, found.first[0].offset, 320));
	cr_expect(eq(dbl, found.first[0].wanted, 80));
	cr_expect(eq(dbl, found.first[0].got, 85));
	cr_expect(eq(u64, found.first[7].offset, 348));
	cr_expect(eq(dbl, found.worst_absolute, 5));
	cr_expect(ieee_ulp_eq(dbl, found.worst_relative, 5.0 / 80, 4));
}

Test(compare, finds_mismatches_behind_the_first_block_of_elements)
{
	enum { COUNT = 5000 };
	double *wanted = calloc(COUNT, sizeof(*wanted));
	double *got = calloc(COUNT, sizeof(*got));
	struct gt_comparison found;

	got[4999] = 1;
	gt_compare(wanted, got, COUNT * sizeof(*got), GT_ELEMENT_f64, exact, &found);
	cr_expect(eq(u64, found.mismatches, 1));
	cr_expect(eq(u64, found.first[0].offset, 4999 * 8));
	cr_expect(eq(u64, found.got_values.count, COUNT));
	cr_expect(ieee_ulp_eq(dbl, found.got_values.mean, 1.0 / COUNT, 16));
	cr_expect(eq(dbl, found.wanted_values.mean, 0));
	cr_expect(eq(dbl, found.worst_relative, 0), "nothing is relative to 0");
	free(wanted);
	free(got);
}

struct near {
	double wanted;
	double got;
	double rtol;
	double atol;
	bool matches;
};

ParameterizedTestParameters(compare, by_tolerance)
{
	static struct near cases[] = {
		{100, 101, 0.01, 0, true},        {100, 101.01, 0.01, 0, false},
		{100, 99, 0.01, 0, true},         {-100, -101, 0.01, 0, true},
		{0, 1e-9, 0.5, 0, false},         {0, 1e-9, 0, 1e-8, true},
		{100, 101.5, 0.01, 0.5, true},    {0, -0.0, 0, 0, false},
		{0, -0.0, 1e-9, 0, true},         {NAN, NAN, 0, 0, true},
		{NAN, 1, 10, 10, false},          {1, NAN, 10, 10, false},
		{INFINITY, INFINITY, 0, 0, true}, {INFINITY, -INFINITY, 10, 10, false},
		{INFINITY, 1, 10, 10, false},     {1, INFINITY, 10, INFINITY, false},
		{5e-324, 0, 0, 0, false},         {5e-324, 0, 0, 5e-324, true},
		{1e308, -1e308, 1, 0, false},     {1e308, -1e308, 2, 0, true},
	};

	return cr_make_param_array(struct near, cases, GT_COUNT_OF(cases));
}

ParameterizedTest(struct near *near, compare, by_tolerance)
{
	struct gt_comparison found;

	gt_compare(&near->wanted, &near->got, 8, GT_ELEMENT_f64,
	           (struct gt_tolerance){near->rtol, near->atol}, &found);
	cr_expect(eq(u64, found.mismatches, near->matches ? 0 : 1), "%g, %g, rtol %g, atol %g",
	          near->wanted, near->got, near->rtol, near->atol);
}

Test(compare, takes_one_nan_for_another_only_with_a_tolerance)
{
	const uint32_t wanted = 0x7fc00000;
	const uint32_t got = 0x7fffffff;
	struct gt_comparison found;

	gt_compare(&wanted, &got, 4, GT_ELEMENT_f32, exact, &found);
	cr_expect(eq(u64, found.mismatches, 1));
	gt_compare(&wanted, &got, 4, GT_ELEMENT_f32, (struct gt_tolerance){1e-9, 0}, &found);
	cr_expect(eq(u64, found.mismatches, 0));
	cr_expect(eq(u64, found.differing, 1));
	cr_expect(eq(dbl, found.worst_absolute, 0));
}

Test(compare, looks_at_integers_of_64_bits_before_they_are_rounded)
{
	const int64_t wanted[] = {INT64_MAX, INT64_MIN, -1};
	const int64_t got[] = {INT64_MAX - 1, INT64_MAX, 1};
	struct gt_comparison found;

	gt_compare(wanted, got, 8, GT_ELEMENT_i64, (struct gt_tolerance){0, 0.5}, &found);
	cr_expect(eq(u64, found.mismatches, 1));
	cr_expect(eq(dbl, found.worst_absolute, 1));
	gt_compare(wanted, got, 24, GT_ELEMENT_i64, (struct gt_tolerance){0, 2}, &found);
	cr_expect(eq(u64, found.mismatches, 1));
	cr_expect(eq(dbl, found.worst_absolute, 0x1p64));
}

Test(compare, lets_bytes_differ_by_nothing)
{
	const uint8_t wanted[] = {1, 2, 3};
	const uint8_t got[] = {1, 2, 4};
	struct gt_comparison found;

	gt_compare(wanted, got, 3, GT_ELEMENT_bytes, (struct gt_tolerance){10, 10}, &found);
	cr_expect(eq(u64, found.mismatches, 1));
	cr_expect(eq(u64, found.first[0].offset, 2));
	gt_compare(wanted, got, 3, GT_ELEMENT_u8, (struct gt_tolerance){10, 10}, &found);
	cr_expect(eq(u64, found.mismatches, 0));
}

Test(compare, looks_at_the_bytes_behind_the_last_element)
{
	const uint8_t wanted[] = {0, 0, 0, 0, 5, 6, 7};
	const uint8_t got[] = {0, 0, 0, 0, 5, 9, 7};
	struct gt_comparison found;

	gt_compare(wanted, got, 7, GT_ELEMENT_f32, (struct gt_tolerance){10, 10}, &found);
	cr_expect(eq(u64, found.elements, 4), "one, and three bytes");
	cr_expect(eq(u64, found.mismatches, 1));
	cr_expect(eq(u64, found.differing, 1));
	cr_expect(eq(u64, found.first[0].offset, 5));
	cr_expect(eq(dbl, found.first[0].wanted, 6));
	cr_expect(eq(dbl, found.first[0].got, 9));
	cr_expect(eq(u64, found.got_values.count, 1));
}

Test(compare, of_nothing_finds_nothing)
{
	struct gt_comparison found;

	gt_compare(NULL, NULL, 0, GT_ELEMENT_f16, exact, &found);
	cr_expect(eq(u64, found.elements, 0));
	cr_expect(eq(u64, found.mismatches, 0));
	cr_expect(isnan(found.got_values.mean));
}

Test(compare, values_leave_nans_and_infinities_out_of_the_mean)
{
	const float values[] = {NAN, 3, INFINITY, -INFINITY, 5, -NAN};
	struct gt_values found;

	gt_values_of(values, sizeof(values), GT_ELEMENT_f32, &found);
	cr_expect(eq(u64, found.count, 6));
	cr_expect(eq(u64, found.nans, 2));
	cr_expect(eq(u64, found.infinities, 2));
	cr_expect(eq(dbl, found.least, 3));
	cr_expect(eq(dbl, found.most, 5));
	cr_expect(eq(dbl, found.mean, 4));
	gt_values_of(values, 4, GT_ELEMENT_f32, &found);
	cr_expect(eq(u64, found.nans, 1));
	cr_expect(isnan(found.least));
	cr_expect(isnan(found.mean), "the mean of no number is not known");
}

Test(compare, values_have_a_mean_where_their_sum_is_too_large)
{
	double values[3000];
	struct gt_values found;

	for (size_t i = 0; i < GT_COUNT_OF(values); i++)
		values[i] = 1.7e308;
	gt_values_of(values, sizeof(values), GT_ELEMENT_f64, &found);
	cr_expect(ieee_ulp_eq(dbl, found.mean, 1.7e308, 64));
	cr_expect(eq(u64, found.infinities, 0));
}

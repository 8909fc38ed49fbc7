/* SPDX-License-Identifier: Apache-2.0 */
#include "base/search.h"

#include "support/check.h"

static int by_number(const void *row, const void *wanted)
{
	const int *left = row;
	const int *right = wanted;

	return *left - *right; /* more than 1 apart, as a comparison may be */
}

static size_t before(int wanted)
{
	int numbers[] = {10, 20, 20, 20, 30};
	const struct {
		int *rows;
		size_t count;
	} array = {numbers, 5};

	return gt_count_before(&array, &wanted, by_number);
}

static size_t up_to(int wanted)
{
	int numbers[] = {10, 20, 20, 20, 30};
	const struct {
		int *rows;
		size_t count;
	} array = {numbers, 5};

	return gt_count_up_to(&array, &wanted, by_number);
}

Test(search, counts_what_comes_before)
{
	cr_expect(eq(sz, before(5), 0));
	cr_expect(eq(sz, before(10), 0));
	cr_expect(eq(sz, before(20), 1));
	cr_expect(eq(sz, before(25), 4));
	cr_expect(eq(sz, before(99), 5));
}

Test(search, counts_equal_ones_as_well)
{
	cr_expect(eq(sz, up_to(5), 0));
	cr_expect(eq(sz, up_to(10), 1));
	cr_expect(eq(sz, up_to(20), 4));
	cr_expect(eq(sz, up_to(25), 4));
	cr_expect(eq(sz, up_to(30), 5));
}

Test(search, finds_nothing_in_nothing)
{
	const int wanted = 1;

	cr_expect(eq(sz, gt_search(NULL, 0, sizeof(wanted), &wanted, by_number, 1), 0));
}

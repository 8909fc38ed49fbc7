/* SPDX-License-Identifier: Apache-2.0 */
#include "base/minima.h"

#include "support/check.h"

Test(minima, have_nothing_to_find_when_there_are_none)
{
	struct gt_minima minima = {0};

	cr_expect(eq(sz, gt_minima_find(&minima, INT64_MAX), 0));
	gt_minima_release(&minima);
}

Test(minima, find_the_first_that_is_small_enough)
{
	static const int64_t values[] = {9, 5, 7, 5, -3};
	struct gt_minima minima = {0};

	for (size_t i = 0; i < 5; i++)
		gt_minima_set(&minima, i, values[i]);
	cr_expect(eq(sz, gt_minima_find(&minima, 9), 0));
	cr_expect(eq(sz, gt_minima_find(&minima, 8), 1));
	cr_expect(eq(sz, gt_minima_find(&minima, 5), 1));
	cr_expect(eq(sz, gt_minima_find(&minima, 4), 4));
	cr_expect(eq(sz, gt_minima_find(&minima, -4), 5), "none is");
	gt_minima_set(&minima, 1, 6);
	cr_expect(eq(sz, gt_minima_find(&minima, 5), 3));
	gt_minima_release(&minima);
}

/* Against a walk over all of them, while they grow in number. */
Test(minima, find_what_a_walk_finds)
{
	struct gt_minima minima = {0};
	int64_t values[300];
	uint32_t random = 12345;

	for (size_t count = 0; count < 300; count++) {
		size_t first = 0;

		random = random * 1664525u + 1013904223u;
		values[count] = random >> 16;
		gt_minima_set(&minima, count, values[count]);
		values[count / 2] += 1000;
		gt_minima_set(&minima, count / 2, values[count / 2]);
		random = random * 1664525u + 1013904223u;
		while (first <= count && values[first] > (int64_t)(random >> 18))
			first++;
		cr_assert(eq(sz, gt_minima_find(&minima, random >> 18), first));
	}
	gt_minima_release(&minima);
}

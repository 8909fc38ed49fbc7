/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/statistics/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/groups.h"
#include "model/index.h"
#include "support/check.h"

static int ascending(const void *a, const void *b)
{
	const int64_t left = *(const int64_t *)a;
	const int64_t right = *(const int64_t *)b;

	return (left > right) - (left < right);
}

enum { MOST = 257 };

/* Every percentile that nearest rank can tell apart, against sorting. */
static void compare_with_sorting(const int64_t *values, size_t count)
{
	int64_t sorted[MOST];
	int64_t mixed[MOST];

	memcpy(sorted, values, count * sizeof(*values));
	memcpy(mixed, values, count * sizeof(*values));
	qsort(sorted, count, sizeof(*sorted), ascending);
	for (size_t i = 0; i < count; i++) {
		const double percent = 100.0 * ((double)i + 0.5) / (double)count;

		cr_expect(eq(i64, gt_percentile(mixed, count, percent), sorted[i]));
	}

	const struct gt_spread spread = gt_spread_of(mixed, count);

	cr_expect(eq(i64, spread.min, sorted[0]));
	cr_expect(eq(i64, spread.max, sorted[count - 1]));
	if (count % 2)
		cr_expect(eq(i64, spread.median, sorted[count / 2]));
	else
		cr_expect(eq(i64, spread.median, (sorted[count / 2 - 1] + sorted[count / 2]) / 2));
}

Test(spread, selects_what_sorting_would)
{
	int64_t values[MOST];
	unsigned state = 1;

	for (size_t count = 1; count <= MOST; count += count < 20 ? 1 : 79) {
		for (unsigned range = 1; range < 1000; range = range * 7 + 1) {
			for (size_t i = 0; i < count; i++) {
				state = state * 1664525 + 1013904223;
				values[i] = (state >> 8) % range;
			}
			compare_with_sorting(values, count);
		}
	}
}

Test(spread, of_sorted_values_is_right_too)
{
	int64_t up[MOST];
	int64_t down[MOST];

	for (size_t i = 0; i < MOST; i++) {
		up[i] = (int64_t)i;
		down[i] = (int64_t)(MOST - i);
	}
	compare_with_sorting(up, MOST);
	compare_with_sorting(down, MOST);
}

Test(spread, has_the_deviation_of_a_sample)
{
	int64_t values[] = {2, 4, 4, 4, 5, 5, 7, 9};
	const struct gt_spread spread = gt_spread_of(values, 8);

	cr_expect(eq(i64, spread.total, 40));
	cr_expect(epsilon_eq(dbl, spread.mean, 5, 1e-12));
	cr_expect(epsilon_eq(dbl, spread.deviation, sqrt(32.0 / 7), 1e-12));
	cr_expect(eq(i64, spread.median, 4)); /* 4.5 */
}

Test(spread, of_large_times_keeps_its_deviation)
{
	int64_t values[] = {(int64_t)1 << 50, ((int64_t)1 << 50) + 2};

	cr_expect(epsilon_eq(dbl, gt_spread_of(values, 2).deviation, sqrt(2), 1e-9));
	cr_expect(eq(i64, gt_spread_of(values, 2).median, ((int64_t)1 << 50) + 1));
}

Test(spread, of_little_is_not_made_up)
{
	int64_t one[] = {7};

	cr_expect(ne(int, isnan(gt_spread_of(NULL, 0).mean), 0));
	cr_expect(ne(int, isnan(gt_spread_of(one, 1).deviation), 0));
	cr_expect(eq(i64, gt_spread_of(one, 1).median, 7));
	cr_expect(eq(i64, gt_percentile(one, 1, 99), 7));
}

Test(groups, keep_values_apart_and_together)
{
	static const size_t of[] = {2, 0, 2, 2, 0};
	struct gt_groups groups;
	size_t count;

	gt_groups_init(&groups, 4);
	for (size_t i = 0; i < 5; i++)
		gt_groups_expect(&groups, of[i]);
	gt_groups_begin(&groups);
	for (size_t i = 0; i < 5; i++)
		gt_groups_add(&groups, of[i], (int64_t)i);

	const int64_t *values = gt_groups_get(&groups, 0, 0, &count);

	cr_assert(eq(sz, count, 2));
	cr_expect(eq(i64, values[0], 1));
	cr_expect(eq(i64, values[1], 4));
	gt_groups_get(&groups, 1, 1, &count);
	cr_expect(eq(sz, count, 0));
	values = gt_groups_get(&groups, 2, 3, &count);
	cr_assert(eq(sz, count, 3));
	cr_expect(eq(i64, values[2], 3));
	gt_groups_get(&groups, 0, 3, &count);
	cr_expect(eq(sz, count, 5));
	gt_groups_release(&groups);
}

Test(index, numbers_keys_in_the_order_they_come)
{
	struct gt_index *index = gt_index_new(sizeof(uint32_t));

	for (uint32_t i = 0; i < 3000; i++) {
		const uint32_t key = (i * 7) % 1000;

		cr_assert(eq(sz, gt_index_add(index, &key), i % 1000));
	}
	cr_expect(eq(sz, gt_index_count(index), 1000));
	cr_expect(eq(u32, *(const uint32_t *)gt_index_key(index, 2), 14));
	gt_index_free(index);
	gt_index_free(NULL);
}

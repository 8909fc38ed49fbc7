/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/measure/steady.h"

#include <errno.h>
#include <math.h>

#include "base/array.h"
#include "base/error.h"
#include "support/check.h"

/* A series that was thought up; each value takes 10 ns. After the last it stays. */
struct series {
	const double *values;
	size_t count;
	size_t taken;
	size_t fails_at; /* 0: never */
};

static int take(void *context, double *value, struct gt_error *err)
{
	struct series *series = context;
	const size_t last = series->count - 1;

	if (series->fails_at && series->taken + 1 == series->fails_at)
		return gt_fail(err, EIO, "no more");
	*value = series->values[series->taken < last ? series->taken : last];
	series->taken++;
	return 0;
}

static int64_t now(void *context)
{
	const struct series *series = context;

	return (int64_t)series->taken * 10;
}

static struct gt_steady_plan plan_of(struct series *series)
{
	return (struct gt_steady_plan){
		.within = 0.01, .most_ns = 1000, .measure = take, .now_ns = now, .context = series};
}

Test(steady, forgets_what_was_measured_while_clocks_rose)
{
	const double values[] = {10, 20, 40, 60, 80, 90, 99, 100, 100.5, 100, 99.9, 100, 100, 100};
	struct series series = {values, GT_COUNT_OF(values), 0, 0};
	const struct gt_steady_plan plan = plan_of(&series);
	struct gt_steady steady;

	cr_assert(eq(int, gt_steady_measure(&plan, &steady, NULL), 0));
	cr_expect(steady.stable);
	cr_expect(eq(dbl, steady.most, 100.5));
	cr_expect(eq(dbl, steady.least, 99.9));
	cr_expect(eq(sz, steady.count, 14));
}

Test(steady, stops_when_it_took_long_enough_and_says_so)
{
	double values[2000];
	struct series series = {values, GT_COUNT_OF(values), 0, 0};
	const struct gt_steady_plan plan = plan_of(&series);
	struct gt_steady steady;

	for (size_t i = 0; i < GT_COUNT_OF(values); i++)
		values[i] = i % 2 ? 100 : 50;
	cr_assert(eq(int, gt_steady_measure(&plan, &steady, NULL), 0));
	cr_expect(not(steady.stable));
	cr_expect(eq(sz, steady.count, 100));
	cr_expect(eq(dbl, steady.least, 50));
}

Test(steady, ends_with_the_first_failure)
{
	const double values[] = {1};
	struct series series = {values, 1, 0, 3};
	const struct gt_steady_plan plan = plan_of(&series);
	struct gt_steady steady = {.count = 77};
	struct gt_error err = {0};

	cr_expect(eq(int, gt_steady_measure(&plan, &steady, &err), -EIO));
	expect_text(err.text, "no more");
	cr_expect(eq(sz, steady.count, 77), "what failed leaves its output alone");
}

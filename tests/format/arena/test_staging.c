/* SPDX-License-Identifier: Apache-2.0 */
#include "format/arena/staging.h"

#include <stdlib.h>

#include "support/check.h"

/* Samples of several series, in the order in which threads took them, by the series and the clock. */

static struct gt_staging *staging;

static void make(void)
{
	staging = gt_staging_init(malloc(gt_staging_memory()));
}

static void drop(void)
{
	free(staging);
}

TestSuite(staging, .init = make, .fini = drop);

static bool add(uint16_t series, uint8_t clock, uint8_t columns, uint64_t time_ns, double value)
{
	union {
		struct gt_sample sample;
		uint8_t bytes[sizeof(struct gt_sample) + 255 * sizeof(double)];
	} row = {.sample = {
			 .time_ns = time_ns, .series = series, .clock = clock, .columns = columns}};

	for (uint8_t i = 0; i < columns; i++)
		row.sample.values[i] = value + i;
	return gt_staging_add(staging, &row.sample);
}

static struct gt_samples next(void)
{
	struct gt_samples samples;

	cr_assert(eq(int, gt_staging_next(staging, &samples), 1));
	return samples;
}

static void expect_end(void)
{
	struct gt_samples samples;

	cr_expect(eq(int, gt_staging_next(staging, &samples), 0));
}

Test(staging, puts_samples_of_one_series_together)
{
	struct gt_samples samples;

	cr_assert(add(1, GT_SERIES_HOST, 2, 100, 10));
	cr_assert(add(2, GT_SERIES_HOST, 1, 110, 20));
	cr_assert(add(1, GT_SERIES_HOST, 2, 120, 30));
	samples = next();
	cr_expect(eq(u16, samples.series, 1));
	cr_expect(eq(u8, samples.columns, 2));
	cr_assert(eq(u32, samples.count, 2));
	cr_expect(eq(u64, samples.times_ns[0], 100));
	cr_expect(eq(u64, samples.times_ns[1], 120));
	cr_expect(eq(dbl, samples.values[1], 11));
	cr_expect(eq(dbl, samples.values[2], 30));
	samples = next();
	cr_expect(eq(u16, samples.series, 2));
	cr_assert(eq(u32, samples.count, 1));
	cr_expect(eq(dbl, samples.values[0], 20));
	expect_end();
}

/* A chunk has one clock and one number of columns. */
Test(staging, keeps_what_a_chunk_cannot_hold_together_apart)
{
	struct gt_samples samples;

	cr_assert(add(1, GT_SERIES_HOST, 1, 100, 10));
	cr_assert(add(1, GT_SERIES_CUPTI, 1, 5000, 20));
	cr_assert(add(1, GT_SERIES_HOST, 2, 120, 30));
	samples = next();
	cr_expect(eq(u8, samples.clock, GT_SERIES_HOST));
	cr_expect(eq(u32, samples.count, 1));
	samples = next();
	cr_expect(eq(u8, samples.clock, GT_SERIES_CUPTI));
	cr_assert(eq(u32, samples.count, 1));
	cr_expect(eq(u64, samples.times_ns[0], 5000));
	samples = next();
	cr_expect(eq(u8, samples.columns, 2));
	cr_expect(eq(u32, samples.count, 1));
	expect_end();
}

Test(staging, takes_more_once_it_was_emptied)
{
	uint32_t taken = 0;

	while (add(1, GT_SERIES_HOST, 255, taken, 0))
		taken++;
	cr_expect(gt(u32, taken, 0));
	cr_expect(eq(u32, next().count, taken));
	expect_end();
	cr_expect(add(1, GT_SERIES_HOST, 255, taken, 0));
	cr_expect(eq(u32, next().count, 1));
}

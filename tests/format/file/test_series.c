/* SPDX-License-Identifier: Apache-2.0 */
#include "format/file/series.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/capture.h"
#include "support/check.h"

enum { COUNT = 1000, COLUMNS = 5 };

static uint64_t times[COUNT];
static double values[COUNT * COLUMNS];
static uint64_t read_times[COUNT];
static double read_values[COUNT * COLUMNS];
static uint8_t bytes[GT_SERIES_BOUND(COLUMNS, COUNT)];

static double value_of(uint32_t column, uint32_t row, uint64_t *random)
{
	switch (column) {
	case 0:
		return (double)(next_random(random) % 700000); /* whole numbers */
	case 1:
		return -0.0 + row * 0.1;
	case 2:
		return row % 3 ? NAN : 1e300;
	case 3:
		return NAN; /* never measured */
	default:
		return row % 2 ? -9007199254740992.0 : 9007199254740992.0;
	}
}

static struct gt_samples fill(void)
{
	uint64_t random = 7;

	for (uint32_t i = 0; i < COUNT; i++) {
		times[i] = 5000000000 + (uint64_t)i * 100000000 + next_random(&random) % 50000;
		for (uint32_t column = 0; column < COLUMNS; column++)
			values[i * COLUMNS + column] = value_of(column, i, &random);
	}
	return (struct gt_samples){.series = 3,
	                           .clock = GT_SERIES_CUPTI,
	                           .columns = COLUMNS,
	                           .count = COUNT,
	                           .times_ns = times,
	                           .values = values};
}

static struct gt_samples room(void)
{
	return (struct gt_samples){.count = COUNT, .times_ns = read_times, .values = read_values};
}

Test(series, come_back_bit_for_bit)
{
	const struct gt_samples samples = fill();
	struct gt_samples read = room();
	const size_t size = gt_series_encode(&samples, bytes);

	cr_assert(le(sz, size, sizeof(bytes)));
	cr_assert(eq(int, gt_series_decode(bytes, size, &read), 0));
	cr_expect(eq(u16, read.series, 3));
	cr_expect(eq(u8, read.clock, GT_SERIES_CUPTI));
	cr_expect(eq(u8, read.columns, COLUMNS));
	cr_expect(memcmp(times, read_times, sizeof(times)) == 0);
	for (size_t i = 0; i < COUNT * COLUMNS; i++)
		cr_expect(memcmp(&values[i], &read_values[i], sizeof(double)) == 0 ||
		                  (isnan(values[i]) && isnan(read_values[i])),
		          "value %zu", i);
}

/* Power in mW, clocks and temperatures at even intervals: what telemetry takes. */
Test(series, of_whole_numbers_take_few_bytes)
{
	struct gt_samples samples = {
		.columns = 2, .count = COUNT, .times_ns = times, .values = values};
	uint64_t random = 1;

	for (uint32_t i = 0; i < COUNT; i++) {
		times[i] = (uint64_t)i * 20000;
		values[2 * i] = 600000 + (double)(next_random(&random) % 60);
		values[2 * i + 1] = 1980;
	}
	cr_expect(lt(sz, gt_series_encode(&samples, bytes), COUNT * (1 + 1 + 1) + 64));
}

Test(series, are_refused_wherever_they_are_cut)
{
	const struct gt_samples samples = fill();
	const size_t size = gt_series_encode(&samples, bytes);

	for (size_t cut = 0; cut < size; cut += 1 + cut / 50) {
		struct gt_samples read = room();

		cr_expect(eq(int, gt_series_decode(bytes, cut, &read), -EBADMSG), "%zu", cut);
	}
}

Test(series, are_refused_with_a_count_that_is_not_theirs)
{
	const struct gt_samples samples = fill();
	const size_t size = gt_series_encode(&samples, bytes);
	struct gt_samples read = room();

	read.count = COUNT - 1;
	cr_expect(eq(int, gt_series_decode(bytes, size, &read), -EBADMSG));
	read.count = 1u << 20;
	cr_expect(eq(int, gt_series_decode(bytes, size, &read), -EBADMSG));
}

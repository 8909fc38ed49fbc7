/* SPDX-License-Identifier: Apache-2.0 */
#include "model/gpu/device_clocks.h"

#include <errno.h>
#include <math.h>

#include "base/array.h"
#include "base/search.h"

struct gt_device_clocks gt_device_clocks_of(const struct gt_trace *trace, gt_id process,
                                            gt_id device)
{
	struct gt_device_clocks clocks = {NULL, 0};

	gt_array_each(const struct gt_device_clock, row, &trace->device_clocks) {
		if (row->process != process || row->device != device)
			continue;
		if (clocks.count == 0)
			clocks.rows = row;
		clocks.count++;
	}
	return clocks;
}

static int64_t timer_at(const struct gt_device_clock *row)
{
	return row->start_ns - (int64_t)row->offset_ns;
}

static int by_timer(const void *row, const void *wanted)
{
	const int64_t timer = timer_at(row);
	const int64_t limit = *(const int64_t *)wanted;

	return (timer > limit) - (timer < limit);
}

static int by_start(const void *row, const void *wanted)
{
	const gt_time start_ns = ((const struct gt_device_clock *)row)->start_ns;
	const gt_time limit = *(const gt_time *)wanted;

	return (start_ns > limit) - (start_ns < limit);
}

gt_time gt_device_time(const struct gt_device_clocks *clocks, uint64_t globaltimer)
{
	const int64_t timer = (int64_t)globaltimer;
	const size_t after = gt_count_up_to(clocks, &timer, by_timer);
	const struct gt_device_clock *row = &clocks->rows[after ? after - 1 : 0];
	int64_t drift_ns = 0;

	if (after > 0 && after < clocks->count && timer_at(row + 1) > timer_at(row)) {
		const double length_ns = (double)(timer_at(row + 1) - timer_at(row));
		const double share = (double)(timer - timer_at(row)) / length_ns;

		drift_ns = (int64_t)(fmin(share, 1) *
		                     (double)((int64_t)row[1].offset_ns - (int64_t)row->offset_ns));
	}
	return timer + (int64_t)row->offset_ns + drift_ns;
}

const struct gt_device_clock *gt_device_clock_at(const struct gt_device_clocks *clocks,
                                                 gt_time time_ns)
{
	const size_t after = gt_count_up_to(clocks, &time_ns, by_start);

	return &clocks->rows[after ? after - 1 : 0];
}

int gt_device_bound(const struct gt_device_clocks *clocks, gt_time time_ns, uint64_t *bound_ns)
{
	if (clocks->count == 0)
		return -ENODATA;
	*bound_ns = gt_device_clock_at(clocks, time_ns)->bound_ns;
	return 0;
}

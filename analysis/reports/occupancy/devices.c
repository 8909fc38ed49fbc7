/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/occupancy/tables.h"

#include <math.h>
#include <stdbool.h>

#include "analysis/figures.h"
#include "base/array.h"

static const struct gt_heading device_headings[] = {
	{"device", GT_UNIT_TEXT, "GPU", GT_WORTH_NAME},
	{"multiprocessors", GT_UNIT_COUNT, "That it has", GT_WORTH_KEY},
	{"warps", GT_UNIT_COUNT, "That one multiprocessor holds", GT_WORTH_ORDINARY},
	{"blocks", GT_UNIT_COUNT, "That one multiprocessor holds", GT_WORTH_ORDINARY},
	{"registers", GT_UNIT_COUNT, "Registers of one multiprocessor, of 32 bits",
         GT_WORTH_ORDINARY},
	{"shared_bytes", GT_UNIT_BINARY_BYTES, "Shared memory of one multiprocessor at most",
         GT_WORTH_ORDINARY},
	{"total_ns", GT_UNIT_NS, "Time of all kernels on it", GT_WORTH_KEY},
	{"occupancy_percent", GT_UNIT_PERCENT,
         "Mean of the theoretical occupancy, each launch shape as heavy as its time", GT_WORTH_KEY},
	{"achieved_percent", GT_UNIT_PERCENT,
         "The same of the achieved occupancy, of those where it was measured", GT_WORTH_KEY},
	{"achieved_share_percent", GT_UNIT_PERCENT, "Time of these, of total_ns",
         GT_WORTH_ORDINARY},
	{"tail_ns", GT_UNIT_NS, "Sum of tail_ns where it is known", GT_WORTH_KEY},
};

/* A mean of percents by time. */
struct mean {
	double area;
	double time_ns;
};

static void mean_add(struct mean *mean, double percent, double time_ns)
{
	if (isnan(percent))
		return;
	mean->area += percent * time_ns;
	mean->time_ns += time_ns;
}

static double mean_of(const struct mean *mean)
{
	return mean->time_ns > 0 ? mean->area / mean->time_ns : NAN;
}

/* Resources of one multiprocessor of it. */
static void add_room(struct gt_result *result, const struct gt_device *device)
{
	/* The least that a launch can be: what limits it are the device's own figures. */
	const struct gt_launch_shape least = {.block_x = 1, .block_y = 1, .block_z = 1};
	const struct gt_occupancy room = gt_occupancy_of(device, &least);
	const bool known = room.limit != GT_LIMIT_UNKNOWN;

	gt_result_add_count_if(result, device->sm_count > 0, device->sm_count);
	gt_result_add_count_if(result, known, room.blocks_by_warps);
	gt_result_add_count_if(result, known, room.blocks_by_blocks);
	gt_result_add_count_if(result, known, device->registers_per_sm);
	gt_result_add_count_if(result, known, (int64_t)device->shared_per_sm_bytes);
}

static void add_device(struct gt_result *result, const struct gt_occupancy_tally *tally,
                       gt_id device)
{
	struct mean theoretical = {0};
	struct mean achieved = {0};
	double total_ns = 0;
	double tail_ns = NAN;
	bool ran = false;

	for (size_t i = 0; i < tally->uses.count; i++) {
		const struct gt_occupancy_launch *launch = &tally->launches[i];
		const double time_ns = (double)launch->use->total_ns;

		if (launch->use->device != device || !launch->use->calls)
			continue;
		ran = true;
		total_ns += time_ns;
		if (!isnan(launch->tail_ns))
			tail_ns = launch->tail_ns + (isnan(tail_ns) ? 0 : tail_ns);
		mean_add(&theoretical, launch->occupancy.percent, time_ns);
		mean_add(&achieved, launch->achieved.percent, time_ns);
	}
	if (!ran)
		return;
	gt_add_device(result, tally->trace, device);
	add_room(result, &tally->trace->devices.rows[device]);
	gt_add_rounded(result, total_ns);
	gt_result_add_real(result, mean_of(&theoretical));
	gt_result_add_real(result, mean_of(&achieved));
	gt_result_add_real(result, gt_percent(achieved.time_ns, total_ns));
	gt_add_rounded(result, tail_ns);
}

void gt_occupancy_add_devices(struct gt_result *result, const struct gt_occupancy_tally *tally)
{
	gt_result_begin(result, "devices", device_headings, GT_COUNT_OF(device_headings));
	for (size_t i = 0; i < tally->trace->devices.count; i++)
		add_device(result, tally, (gt_id)i);
}

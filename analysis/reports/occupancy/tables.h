/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_REPORTS_OCCUPANCY_TABLES_H
#define GT_ANALYSIS_REPORTS_OCCUPANCY_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/kernels/achieved.h"
#include "analysis/kernels/launch_uses.h"
#include "analysis/result.h"
#include "model/gpu/occupancy_changes.h"
#include "model/trace.h"

/* Tables of the report occupancy behind its first one. Each is a section of the result. */

/* One row: a launch shape on a GPU, with all that is worked out of it. */
struct gt_occupancy_launch {
	const struct gt_launch_use *use;
	struct gt_occupancy occupancy;
	struct gt_achieved achieved;
	struct gt_occupancy_change changes[GT_OCCUPANCY_CHANGES];
	size_t change_count;
	double tail_ns; /* NAN: not known */
};

struct gt_occupancy_tally {
	const struct gt_trace *trace;
	struct gt_launch_uses uses;
	struct gt_occupancy_launch *launches; /* of each use */
	uint64_t total_ns;
};

/* A cell: "64 registers, 74.9 KiB shared". */
void gt_occupancy_add_change(struct gt_result *result, const struct gt_occupancy_change *change);

/* All changes of each launch shape that raise its occupancy. */
void gt_occupancy_add_changes(struct gt_result *result, const struct gt_occupancy_tally *tally);

/* Each GPU that ran kernels: its limits, and means over its launches. */
void gt_occupancy_add_devices(struct gt_result *result, const struct gt_occupancy_tally *tally);

#endif

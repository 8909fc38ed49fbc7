/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_REPORTS_DEVICE_EVENTS_TABLES_H
#define GT_ANALYSIS_REPORTS_DEVICE_EVENTS_TABLES_H

#include <stdint.h>

#include "analysis/device_events/phases.h"
#include "analysis/result.h"
#include "analysis/statistics/groups.h"
#include "model/trace.h"
#include "model/view/view.h"

/* Tables of the report device-events. Each is a section of the result. */

struct gt_device_tally {
	const struct gt_view *view;
	const struct gt_trace *trace;
	struct gt_device_phases phases;
	struct gt_groups durations; /* by name */
	uint32_t *order;            /* names, those with most time first */
};

/* Ranges, marks and values by name, at most so many rows each. */
void gt_device_add_names(struct gt_result *result, struct gt_device_tally *tally, uint64_t most);

/* Launches by kernel function. */
void gt_device_add_kernels(struct gt_result *result, const struct gt_device_tally *tally);

/* What the figures stand on. */
void gt_device_add_clocks(struct gt_result *result, const struct gt_trace *trace);
void gt_device_add_rings(struct gt_result *result, const struct gt_trace *trace);
void gt_device_add_remarks(struct gt_result *result, const struct gt_view *view);

#endif

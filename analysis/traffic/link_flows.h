/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_TRAFFIC_LINK_FLOWS_H
#define GT_ANALYSIS_TRAFFIC_LINK_FLOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/statistics/shares.h"
#include "base/array.h"
#include "model/names.h"
#include "model/trace.h"
#include "model/view/view.h"
#include "model/work/intervals.h"

/* Copies by the link that they cross and its direction, as far as that is known. */

enum gt_link_medium { GT_MEDIUM_PCIE, GT_MEDIUM_C2C, GT_MEDIUM_NVLINK, GT_MEDIUM_UNKNOWN };

/* One direction of a link; GT_NONE: the host. */
struct gt_link_way {
	gt_id from;
	gt_id to;
};

struct gt_link_flow {
	struct gt_link_way way;
	enum gt_link_medium medium;
	double peak; /* bytes a second; NAN: not known */
	uint64_t copies;
	uint64_t bytes;
	struct gt_cover cover;
	struct gt_united inside; /* the same, in the window */
};

struct gt_link_flows {
	const struct gt_trace *trace;
	struct gt_wall wall;
	struct gt_index *index; /* way -> row of all */
	gt_array(struct gt_link_flow) all;
	uint64_t unfinished;
	uint64_t managed;
	bool unknown_peer;
};

bool gt_link_is_between_gpus(const struct gt_link_way *way);

/* Whether a copy crosses a link, and which way. */
bool gt_link_way_of(const struct gt_trace *trace, const struct gt_copy *copy,
                    struct gt_link_way *way);

/* The flow of a way; a new one where there was none. Valid until the next one. */
struct gt_link_flow *gt_link_flow_of(struct gt_link_flows *flows, const struct gt_link_way *way);

/* The link to the host of every GPU both ways, then what copies between GPUs crossed. */
void gt_link_flows_init(struct gt_link_flows *flows, const struct gt_view *view);
void gt_link_flows_release(struct gt_link_flows *flows);

#endif

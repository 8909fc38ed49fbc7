/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_TRAFFIC_ROUTES_H
#define GT_ANALYSIS_TRAFFIC_ROUTES_H

#include <stdint.h>

#include "base/array.h"
#include "model/trace.h"

struct gt_index;

/* Copies and fills of a trace, added up by where their bytes came from and went to. */

/* Key of a sum. */
struct gt_route {
	gt_id device;
	uint32_t kind;     /* CUpti_ActivityMemcpyKind; of a fill its kind of memory */
	uint32_t src_kind; /* CUpti_ActivityMemoryKind */
	uint32_t dst_kind;
	gt_id src_device; /* of copies between GPUs; else GT_NONE */
	gt_id dst_device;
};

struct gt_route_total {
	struct gt_route route;
	uint64_t calls; /* with times, as is all below */
	uint64_t bytes;
	uint64_t total_ns;
};

struct gt_routes {
	struct gt_index *index; /* route -> row of all */
	gt_array(struct gt_route_total) all;
	uint64_t unfinished; /* copies or fills without times: in no sum */
};

void gt_routes_init(struct gt_routes *routes);
void gt_routes_release(struct gt_routes *routes);

/* Adds one copy or fill to the sum of its route. */
void gt_routes_count(struct gt_routes *routes, const struct gt_route *route, gt_size bytes,
                     gt_time duration_ns);

/* Count all of the trace. The route of a fill has device and kind alone. */
void gt_routes_count_copies(struct gt_routes *routes, const struct gt_trace *trace);
void gt_routes_count_fills(struct gt_routes *routes, const struct gt_trace *trace);

#endif

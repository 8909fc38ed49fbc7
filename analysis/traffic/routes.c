/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/traffic/routes.h"

#include <stdbool.h>

#include "model/index.h"
#include "model/names.h"
#include "model/work/timed.h"

void gt_routes_init(struct gt_routes *routes)
{
	*routes = (struct gt_routes){.index = gt_index_new(sizeof(struct gt_route))};
}

void gt_routes_release(struct gt_routes *routes)
{
	gt_index_free(routes->index);
	gt_array_release(&routes->all);
}

static struct gt_route_total *total_of(struct gt_routes *routes, const struct gt_route *route)
{
	const size_t number = gt_index_add(routes->index, route);

	if (number < routes->all.count)
		return &routes->all.rows[number];

	struct gt_route_total *fresh = gt_array_push(&routes->all);

	*fresh = (struct gt_route_total){.route = *route};
	return fresh;
}

void gt_routes_count(struct gt_routes *routes, const struct gt_route *route, gt_size bytes,
                     gt_time duration_ns)
{
	struct gt_route_total *total = total_of(routes, route);

	total->calls++;
	total->bytes += bytes;
	total->total_ns += (uint64_t)duration_ns;
}

void gt_routes_count_copies(struct gt_routes *routes, const struct gt_trace *trace)
{
	gt_array_each(const struct gt_copy, copy, &trace->copies) {
		const bool peer = copy->kind == GT_COPY_PEER_TO_PEER;
		const struct gt_route route = {
			.device = copy->device,
			.kind = copy->kind,
			.src_kind = copy->src_kind,
			.dst_kind = copy->dst_kind,
			.src_device = peer ? copy->src_device : GT_NONE,
			.dst_device = peer ? copy->dst_device : GT_NONE,
		};

		if (gt_timed(GT_TIMES_ANY, copy->flags, copy->start_ns, copy->end_ns))
			gt_routes_count(routes, &route, copy->size_bytes,
			                copy->end_ns - copy->start_ns);
		else
			routes->unfinished++;
	}
}

void gt_routes_count_fills(struct gt_routes *routes, const struct gt_trace *trace)
{
	gt_array_each(const struct gt_fill, fill, &trace->fills) {
		const struct gt_route route = {.device = fill->device, .kind = fill->memory_kind};

		if (gt_timed(GT_TIMES_ANY, fill->flags, fill->start_ns, fill->end_ns))
			gt_routes_count(routes, &route, fill->size_bytes,
			                fill->end_ns - fill->start_ns);
		else
			routes->unfinished++;
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/traffic/link_flows.h"

#include <math.h>

#include "analysis/traffic/peak.h"
#include "base/sums.h"
#include "model/gpu/topology.h"
#include "model/index.h"
#include "model/work/timed.h"

bool gt_link_is_between_gpus(const struct gt_link_way *way)
{
	return way->from != GT_NONE && way->to != GT_NONE;
}

/* Between host and GPU. */
static void set_host_link(const struct gt_trace *trace, struct gt_link_flow *flow)
{
	const gt_id device = flow->way.from != GT_NONE ? flow->way.from : flow->way.to;
	const struct gt_pci_device *gpu = gt_topology_of(trace, device);

	if (gpu && gpu->c2c_links > 0) {
		flow->medium = GT_MEDIUM_C2C;
		flow->peak = gt_topology_c2c_rate(gpu);
	} else {
		flow->medium = GT_MEDIUM_PCIE;
		flow->peak = gt_peak_of_pcie(&trace->devices.rows[device]);
	}
}

static double smaller(double one, double other)
{
	return one < other ? one : other;
}

/* Over PCIe the slower of both links is the most that there can be. */
static void set_peer_link(const struct gt_trace *trace, struct gt_link_flow *flow)
{
	const struct gt_gpu_pair *pair = gt_topology_pair(trace, flow->way.from, flow->way.to);

	if (!pair || pair->nvlinks < 0)
		return;
	flow->medium = pair->nvlinks > 0 ? GT_MEDIUM_NVLINK : GT_MEDIUM_PCIE;
	flow->peak = pair->nvlinks > 0
	                     ? gt_topology_pair_rate(pair)
	                     : smaller(gt_peak_of_pcie(&trace->devices.rows[flow->way.from]),
	                               gt_peak_of_pcie(&trace->devices.rows[flow->way.to]));
}

struct gt_link_flow *gt_link_flow_of(struct gt_link_flows *flows, const struct gt_link_way *way)
{
	const size_t number = gt_index_add(flows->index, way);

	if (number < flows->all.count)
		return &flows->all.rows[number];

	struct gt_link_flow *fresh = gt_array_push(&flows->all);

	*fresh = (struct gt_link_flow){.way = *way, .medium = GT_MEDIUM_UNKNOWN, .peak = NAN};
	if (gt_link_is_between_gpus(way))
		set_peer_link(flows->trace, fresh);
	else
		set_host_link(flows->trace, fresh);
	return fresh;
}

static bool is_managed(uint32_t memory_kind)
{
	return memory_kind == GT_MEMORY_MANAGED || memory_kind == GT_MEMORY_MANAGED_STATIC;
}

bool gt_link_way_of(const struct gt_trace *trace, const struct gt_copy *copy,
                    struct gt_link_way *way)
{
	const size_t count = trace->devices.count;

	*way = (struct gt_link_way){GT_NONE, GT_NONE};
	switch (copy->kind) {
	case GT_COPY_HOST_TO_DEVICE:
	case GT_COPY_HOST_TO_ARRAY:
		way->to = copy->device;
		return copy->device < count;
	case GT_COPY_DEVICE_TO_HOST:
	case GT_COPY_ARRAY_TO_HOST:
		way->from = copy->device;
		return copy->device < count;
	case GT_COPY_PEER_TO_PEER:
		way->from = copy->src_device;
		way->to = copy->dst_device;
		return way->from < count && way->to < count && way->from != way->to;
	default:
		return false;
	}
}

static void count_copy(struct gt_link_flows *flows, const struct gt_copy *copy)
{
	struct gt_link_flow *flow;
	struct gt_link_way way;

	if (!gt_link_way_of(flows->trace, copy, &way))
		return;
	if (is_managed(copy->src_kind) || is_managed(copy->dst_kind)) {
		flows->managed++;
		return;
	}
	if (!gt_timed(GT_TIMES_ANY, copy->flags, copy->start_ns, copy->end_ns)) {
		flows->unfinished++;
		return;
	}
	flow = gt_link_flow_of(flows, &way);
	flow->copies++;
	gt_sum_add(&flow->bytes, copy->size_bytes);
	(void)gt_cover_add(&flow->cover, (struct gt_interval){copy->start_ns, copy->end_ns});
	gt_unite(&flow->inside, &flows->wall, (struct gt_interval){copy->start_ns, copy->end_ns});
	flows->unknown_peer |= flow->medium == GT_MEDIUM_UNKNOWN;
}

void gt_link_flows_init(struct gt_link_flows *flows, const struct gt_view *view)
{
	const struct gt_trace *trace = view->trace;

	*flows = (struct gt_link_flows){
		.trace = trace,
		.wall = gt_wall_of(view),
		.index = gt_index_new(sizeof(struct gt_link_way)),
	};
	for (gt_id device = 0; device < trace->devices.count; device++) {
		(void)gt_link_flow_of(flows, &(struct gt_link_way){GT_NONE, device});
		(void)gt_link_flow_of(flows, &(struct gt_link_way){device, GT_NONE});
	}
	gt_array_each(const struct gt_copy, copy, &trace->copies)
		count_copy(flows, copy);
}

void gt_link_flows_release(struct gt_link_flows *flows)
{
	gt_index_free(flows->index);
	gt_array_release(&flows->all);
}

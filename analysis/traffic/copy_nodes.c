/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/traffic/copy_nodes.h"

#include <stdlib.h>

#include "analysis/figures.h"
#include "base/sums.h"
#include "model/gpu/topology.h"
#include "model/index.h"
#include "model/names.h"
#include "model/work/timed.h"

/* Key of a row of copies. */
struct key {
	gt_id device;
	uint32_t to_gpu;
	uint32_t memory_kind;
	gt_code memory_node;
	gt_code thread_node;
	gt_id thread;
};

/* The place of each API call: a row of copy_places, GT_NONE. The caller frees it. */
static gt_id *places_of_calls(const struct gt_trace *trace)
{
	gt_id *places = gt_allocate(trace->api_calls.count * sizeof(*places));

	for (size_t i = 0; i < trace->api_calls.count; i++)
		places[i] = GT_NONE;
	for (gt_id row = 0; row < trace->copy_places.count; row++) {
		const gt_id call = trace->copy_places.rows[row].api_call;

		if (call < trace->api_calls.count)
			places[call] = row;
	}
	return places;
}

static gt_code node_of_gpu(const struct gt_trace *trace, gt_id device)
{
	const struct gt_pci_device *gpu = gt_topology_of(trace, device);

	if (!gpu || gpu->numa_node >= trace->numa_nodes.count)
		return -1;
	return (gt_code)trace->numa_nodes.rows[gpu->numa_node].number;
}

static bool is_to_gpu(const struct gt_copy *copy)
{
	return copy->kind == GT_COPY_HOST_TO_DEVICE || copy->kind == GT_COPY_HOST_TO_ARRAY;
}

static void add(struct gt_copy_nodes *nodes, struct gt_index *index, const struct gt_trace *trace,
                const struct gt_copy *copy, const struct gt_copy_place *place)
{
	const struct key key = {
		.device = copy->device,
		.to_gpu = is_to_gpu(copy),
		.memory_kind = gt_copy_host_memory(copy),
		.memory_node = place->memory_node,
		.thread_node = place->cpu_node,
		.thread = place->thread,
	};
	const size_t number = gt_index_add(index, &key);
	struct gt_copy_node *node;

	if (number == nodes->list.count)
		*gt_array_push(&nodes->list) = (struct gt_copy_node){
			.device = key.device,
			.to_gpu = key.to_gpu,
			.memory_kind = key.memory_kind,
			.memory_node = key.memory_node,
			.thread_node = key.thread_node,
			.gpu_node = node_of_gpu(trace, key.device),
			.thread = key.thread,
		};
	node = &nodes->list.rows[number];
	node->copies++;
	gt_sum_add(&node->bytes, copy->size_bytes);
	node->total_ns += (uint64_t)(copy->end_ns - copy->start_ns);
}

static int by_bytes(const void *a, const void *b)
{
	const struct gt_copy_node *one = a;
	const struct gt_copy_node *other = b;

	if (one->bytes != other->bytes)
		return one->bytes > other->bytes ? -1 : 1;
	if (one->device != other->device)
		return one->device < other->device ? -1 : 1;
	return one->thread < other->thread ? -1 : one->thread > other->thread;
}

void gt_copy_nodes_init(struct gt_copy_nodes *nodes, const struct gt_trace *trace)
{
	struct gt_index *index = gt_index_new(sizeof(struct key));
	gt_id *places = places_of_calls(trace);

	*nodes = (struct gt_copy_nodes){0};
	gt_array_each(const struct gt_copy, copy, &trace->copies) {
		const gt_id place =
			copy->api_call < trace->api_calls.count ? places[copy->api_call] : GT_NONE;

		if (place != GT_NONE && copy->device < trace->devices.count &&
		    gt_copy_host_memory(copy) &&
		    gt_timed(GT_TIMES_ANY, copy->flags, copy->start_ns, copy->end_ns))
			add(nodes, index, trace, copy, &trace->copy_places.rows[place]);
	}
	if (nodes->list.count > 1)
		qsort(nodes->list.rows, nodes->list.count, sizeof(*nodes->list.rows), by_bytes);
	gt_array_free(places);
	gt_index_free(index);
}

void gt_copy_nodes_release(struct gt_copy_nodes *nodes)
{
	gt_array_release(&nodes->list);
}

double gt_near_rate(const struct gt_copy_nodes *nodes, const struct gt_copy_node *like)
{
	double bytes = 0;
	double total_ns = 0;

	gt_array_each(const struct gt_copy_node, node, &nodes->list) {
		if (node->device != like->device || node->to_gpu != like->to_gpu ||
		    node->memory_kind != like->memory_kind || node->gpu_node < 0 ||
		    node->memory_node != node->gpu_node)
			continue;
		bytes += (double)node->bytes;
		total_ns += (double)node->total_ns;
	}
	return gt_bytes_per_second(bytes, total_ns);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/graphs/changes.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "injection/snapshot/graphs/asking.h"
#include "injection/snapshot/graphs/nodes.h"

/* Calls that change nodes mostly come in their order. */
static struct gt_graph_node *find_node(struct gt_kept_graph *graph, CUgraphNode handle)
{
	for (uint32_t i = 0; i < graph->nodes.node_count; i++) {
		const uint32_t number = (graph->found + i) % graph->nodes.node_count;

		if (graph->nodes.nodes[number].handle == handle && handle) {
			graph->found = number;
			return &graph->nodes.nodes[number];
		}
	}
	return NULL;
}

/* Bytes behind all others, where the node's own are too few; false: there are none. */
static bool add_room(struct gt_kept_graphs *kept, struct gt_kept_graph *graph, uint32_t more,
                     uint32_t *at)
{
	const size_t edges = (size_t)((uint8_t *)graph->nodes.edges - (uint8_t *)graph->memory);
	const size_t bytes = (size_t)(graph->nodes.bytes - (uint8_t *)graph->memory);
	uint8_t *memory = MAP_FAILED;

	if (more <= GT_KEPT_GRAPHS_BYTES - kept->bytes &&
	    more <= GT_GRAPH_BYTES - graph->nodes.byte_count)
		memory = mremap(graph->memory, graph->size, graph->size + more, MREMAP_MAYMOVE);
	if (memory == MAP_FAILED)
		return false;
	*at = graph->nodes.byte_count;
	graph->memory = memory;
	graph->size += more;
	kept->bytes += more;
	graph->nodes.byte_count += more;
	graph->nodes.nodes = (struct gt_graph_node *)(void *)memory;
	graph->nodes.edges = (struct gt_graph_edge *)(void *)(memory + edges);
	graph->nodes.bytes = memory + bytes;
	return true;
}

/* The same for one of them: room of the node's own, which it keeps. */
static bool make_room(struct gt_kept_graphs *kept, struct gt_kept_graph *graph, uint32_t wanted,
                      uint32_t *at, uint32_t *room)
{
	if (wanted <= *room)
		return true;
	if (!add_room(kept, graph, wanted, at))
		return false;
	*room = wanted;
	return true;
}

/* The node keeps its attributes, which no call changes. */
static bool set_kernel(struct gt_kept_graphs *kept, struct gt_kept_graph *graph, uint32_t number,
                       const struct gt_launch_shape *shape, const char *name)
{
	const struct gt_captured_function *function = &kept->reader->function;
	struct gt_graph_node node = graph->nodes.nodes[number];
	const uint32_t name_bytes = (uint32_t)strlen(name) + 1;

	if (strcmp((const char *)graph->nodes.bytes + node.name, name) != 0)
		node.named = GT_GRAPH_NODE_UNASKED;
	if (!make_room(kept, graph, name_bytes, &node.name, &node.name_room) ||
	    !make_room(kept, graph, function->block_bytes, &node.block, &node.block_room))
		return false;
	memcpy(graph->nodes.bytes + node.name, name, name_bytes);
	memcpy(graph->nodes.bytes + node.block, function->block, function->block_bytes);
	node.block_bytes = function->block_bytes;
	node.launch.function = shape->function;
	memcpy(node.launch.grid, shape->grid, sizeof(shape->grid));
	memcpy(node.launch.block, shape->block, sizeof(shape->block));
	node.launch.shared_bytes = shape->shared_bytes;
	graph->nodes.nodes[number] = node;
	return true;
}

static void change_kernel(struct gt_kept_graphs *kept, struct gt_kept_graph *graph, uint32_t number,
                          const CUDA_KERNEL_NODE_PARAMS *asked)
{
	struct gt_error err = {0};
	struct gt_launch_shape shape;
	struct gt_graph_asking asking;
	const char *name = NULL;
	int result;

	gt_graph_asking_begin(kept, &asking);
	result = gt_graph_read_kernel(kept->reader, asked, &shape, &name, &err);
	gt_graph_asking_end(kept, &asking);
	if (result < 0)
		gt_kept_graph_set_reason(graph, err.text);
	else if (!set_kernel(kept, graph, number, &shape, name))
		gt_kept_graph_set_reason(
			graph, "there was no memory for what a node of the CUDA graph was "
			       "changed to");
}

static bool have_kinds(const struct gt_graph_nodes *read, const struct gt_graph_nodes *nodes,
                       const struct gt_graph_node *node)
{
	if (read->node_count != node->inside_count)
		return false;
	for (uint32_t i = 0; i < read->node_count; i++)
		if (read->nodes[i].kind != nodes->nodes[node->first_inside + i].kind)
			return false;
	return true;
}

/* The driver allows no other nodes or dependencies than there were. */
static bool set_inside(struct gt_kept_graphs *kept, struct gt_kept_graph *graph, uint32_t number,
                       const struct gt_graph_nodes *read)
{
	struct gt_graph_node whole = graph->nodes.nodes[number];
	const uint32_t first = whole.first_inside;

	if (!make_room(kept, graph, read->byte_count, &whole.block, &whole.block_room))
		return false;
	graph->nodes.nodes[number] = whole;
	memcpy(graph->nodes.bytes + whole.block, read->bytes, read->byte_count);
	for (uint32_t i = 0; i < read->node_count; i++) {
		struct gt_graph_node *node = &graph->nodes.nodes[first + i];
		const struct gt_graph_node before = *node;

		*node = read->nodes[i];
		node->handle = before.handle;
		node->disabled = before.disabled;
		node->first_edge = before.first_edge;
		node->edge_count = before.edge_count;
		node->first_inside = before.first_inside;
		node->inside_count = before.inside_count;
		node->block += whole.block;
		node->name += whole.block;
	}
	return true;
}

static void change_inside(struct gt_kept_graphs *kept, struct gt_kept_graph *graph, uint32_t number,
                          CUgraph inside)
{
	const struct gt_graph_nodes *read = &kept->reader->read;
	struct gt_error err = {0};
	struct gt_graph_asking asking;
	int result;

	gt_graph_asking_begin(kept, &asking);
	result = gt_graph_read(kept->reader, inside, &err);
	gt_graph_asking_end(kept, &asking);
	if (result < 0)
		gt_kept_graph_set_reason(graph, err.text);
	else if (!have_kinds(read, &graph->nodes, &graph->nodes.nodes[number]))
		gt_kept_graph_set_reason(
			graph, "a graph inside of the CUDA graph was changed in a way that is not "
			       "followed");
	else if (!set_inside(kept, graph, number, read))
		gt_kept_graph_set_reason(
			graph, "there was no memory for what a node of the CUDA graph was "
			       "changed to");
}

void gt_kept_graph_change_node(struct gt_kept_graphs *kept, struct gt_kept_graph *graph,
                               CUgraphNode handle, const struct gt_node_change *change)
{
	struct gt_graph_node *node = find_node(graph, handle);

	if (change->reason)
		gt_kept_graph_set_reason(graph, change->reason);
	else if (!node)
		gt_kept_graph_set_reason(graph,
		                         "a node of the CUDA graph was changed that is not known");
	else if (change->enabled)
		node->disabled = !*change->enabled;
	else if (change->kernel && node->kind == GT_GRAPH_NODE_KERNEL)
		change_kernel(kept, graph, (uint32_t)(node - graph->nodes.nodes), change->kernel);
	else if (change->inside && node->inside_count > 0)
		change_inside(kept, graph, (uint32_t)(node - graph->nodes.nodes), *change->inside);
	else if (change->copy && node->kind == GT_GRAPH_NODE_COPY)
		node->copy = *change->copy;
	else if (change->fill && node->kind == GT_GRAPH_NODE_FILL)
		node->fill = *change->fill;
	else
		gt_kept_graph_set_reason(graph,
		                         "a node of the CUDA graph became one of another type");
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/graphs/nodes.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "injection/driver/capture_driver.h"

#define NONE UINT32_MAX

static int check(const struct gt_graph_reader *reader, CUresult code, struct gt_error *err)
{
	return gt_capture_driver_check(reader->driver, code,
	                               "the driver does not tell the nodes of a CUDA graph", err);
}

/* ---- what is kept ---- */

static int add_bytes(struct gt_graph_reader *reader, const void *bytes, size_t size, uint32_t *at,
                     struct gt_error *err)
{
	struct gt_graph_nodes *read = &reader->read;

	if (size > GT_GRAPH_BYTES - read->byte_count)
		return gt_fail(err, E2BIG, "its kernels have more than %d MiB of parameters",
		               GT_GRAPH_BYTES >> 20);
	*at = read->byte_count;
	memcpy(read->bytes + read->byte_count, bytes, size);
	read->byte_count += (uint32_t)size;
	return 0;
}

static int add_nodes(struct gt_graph_reader *reader, size_t count, struct gt_error *err)
{
	struct gt_graph_nodes *read = &reader->read;

	if (count > GT_GRAPH_NODES - read->node_count)
		return gt_fail(err, E2BIG, "the CUDA graph has more than %d nodes", GT_GRAPH_NODES);
	memset(&read->nodes[read->node_count], 0, count * sizeof(*read->nodes));
	memset(&reader->leads_on[read->node_count], 0, count * sizeof(*reader->leads_on));
	read->node_count += (uint32_t)count;
	return 0;
}

static int add_edge(struct gt_graph_reader *reader, struct gt_graph_edge edge, struct gt_error *err)
{
	struct gt_graph_nodes *read = &reader->read;

	if (read->edge_count == GT_GRAPH_EDGES)
		return gt_fail(err, E2BIG, "the CUDA graph has more than %d dependencies",
		               GT_GRAPH_EDGES);
	read->edges[read->edge_count++] = edge;
	return 0;
}

/* ---- kernels ---- */

int gt_graph_read_kernel(struct gt_graph_reader *reader, const CUDA_KERNEL_NODE_PARAMS *asked,
                         struct gt_launch_shape *shape, const char **name, struct gt_error *err)
{
	int result;

	*shape = (struct gt_launch_shape){
		.function = asked->func ? asked->func : (CUfunction)asked->kern,
		.grid = {asked->gridDimX, asked->gridDimY, asked->gridDimZ},
		.block = {asked->blockDimX, asked->blockDimY, asked->blockDimZ},
		.shared_bytes = asked->sharedMemBytes,
		.carveout = -2,
		.parameters = asked->kernelParams,
		.extra = asked->kernelParams ? NULL : asked->extra,
	};
	result = gt_captured_function_read(&reader->function, reader->driver, shape, err);
	shape->parameters = NULL;
	shape->extra = NULL;
	if (result < 0)
		return result;
	result = check(reader, reader->driver->function_name(name, reader->function.handle), err);
	if (result == 0 && !*name) {
		*name = "";
		return gt_fail(err, EIO, "the driver does not tell the name of a kernel");
	}
	return result;
}

/* Attributes that a driver does not know are not asked for. */
static bool has_attribute(const struct gt_graph_reader *reader, CUgraphNode node,
                          CUlaunchAttributeID attribute, CUlaunchAttributeValue *value)
{
	memset(value, 0, sizeof(*value));
	return reader->driver->node_attribute(node, attribute, value) == CUDA_SUCCESS;
}

static void note_other(struct gt_launch_shape *shape, CUlaunchAttributeID attribute, bool is_there)
{
	if (!is_there)
		return;
	if (!shape->others)
		shape->other = attribute;
	shape->others = true;
}

static int read_attributes(const struct gt_graph_reader *reader, CUgraphNode node,
                           struct gt_launch_shape *shape, struct gt_error *err)
{
	CUlaunchAttributeValue value;

	if (has_attribute(reader, node, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &value) &&
	    value.deviceUpdatableKernelNode.deviceUpdatable)
		return gt_fail(err, ENOTSUP, "kernels may change a node of the CUDA graph");
	if (has_attribute(reader, node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value) &&
	    value.clusterDim.x * value.clusterDim.y * value.clusterDim.z > 1) {
		shape->cluster[0] = value.clusterDim.x;
		shape->cluster[1] = value.clusterDim.y;
		shape->cluster[2] = value.clusterDim.z;
	}
	if (has_attribute(reader, node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value))
		shape->cooperative = value.cooperative != 0;
	if (has_attribute(reader, node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value))
		shape->priority = value.priority;
	note_other(shape, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
	           has_attribute(reader, node, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value) &&
	                   value.accessPolicyWindow.num_bytes > 0);
	return 0;
}

static int read_kernel(struct gt_graph_reader *reader, struct gt_graph_node *node,
                       struct gt_error *err)
{
	const struct gt_captured_function *function = &reader->function;
	CUDA_KERNEL_NODE_PARAMS asked = {0};
	const char *name = "";
	int result = check(reader, reader->driver->node_kernel(node->handle, &asked), err);

	node->kind = GT_GRAPH_NODE_KERNEL;
	node->context = asked.func ? NULL : asked.ctx;
	if (result == 0)
		result = gt_graph_read_kernel(reader, &asked, &node->launch, &name, err);
	if (result == 0)
		result = read_attributes(reader, node->handle, &node->launch, err);
	if (result == 0)
		result = add_bytes(reader, function->block, function->block_bytes, &node->block,
		                   err);
	node->block_bytes = node->block_room = function->block_bytes;
	if (result < 0)
		return result;
	node->name_room = (uint32_t)strlen(name) + 1;
	return add_bytes(reader, name, node->name_room, &node->name, err);
}

/* ---- nodes ---- */

static int refuse(CUgraphNodeType type, struct gt_error *err)
{
	const char *what = "a node of a type that is not known";

	switch ((int)type) {
	case CU_GRAPH_NODE_TYPE_HOST:
		what = "a function of the host";
		break;
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		what = "a node that waits for an event of others, or records one";
		break;
	case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
	case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
		what = "a semaphore of others";
		break;
	case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
	case CU_GRAPH_NODE_TYPE_MEM_FREE:
		what = "a node that allocates or frees memory";
		break;
	case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
		what = "a node that waits for a value in memory, or writes one";
		break;
	case CU_GRAPH_NODE_TYPE_CONDITIONAL:
		what = "a conditional node";
		break;
	default: /* of a later driver */
		break;
	}
	return gt_fail(err, ENOTSUP, "the CUDA graph has %s", what);
}

static int read_copy(struct gt_graph_reader *reader, struct gt_graph_node *node,
                     struct gt_error *err)
{
	const int result = check(reader, reader->driver->node_copy(node->handle, &node->copy), err);

	node->kind = GT_GRAPH_NODE_COPY;
	return result;
}

static int read_fill(struct gt_graph_reader *reader, struct gt_graph_node *node,
                     struct gt_error *err)
{
	const int result = check(reader, reader->driver->node_fill(node->handle, &node->fill), err);

	node->kind = GT_GRAPH_NODE_FILL;
	return result;
}

/* 1: it has a graph inside. */
static int read_node(struct gt_graph_reader *reader, struct gt_graph_node *node,
                     struct gt_error *err)
{
	CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
	const int result = check(reader, reader->driver->node_type(node->handle, &type), err);

	if (result < 0)
		return result;
	switch ((int)type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		return read_kernel(reader, node, err);
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		return read_copy(reader, node, err);
	case CU_GRAPH_NODE_TYPE_MEMSET:
		return read_fill(reader, node, err);
	case CU_GRAPH_NODE_TYPE_EMPTY:
		return 0;
	case CU_GRAPH_NODE_TYPE_GRAPH:
		return 1;
	default: /* what cannot be captured, whatever it is */
		return refuse(type, err);
	}
}

/* ---- who waits for whom ---- */

/* Nodes of one graph, which are in a row. */
struct level {
	uint32_t first;
	uint32_t count;
	uint32_t before; /* what all of it waits for; NONE: nothing */
	uint32_t depth;
};

/* The node that another one waits for was mostly made right before it. */
static uint32_t find(const struct gt_graph_reader *reader, const struct level *level, uint32_t near,
                     CUgraphNode handle)
{
	for (uint32_t i = near; i > level->first; i--)
		if (reader->handles[i - 1] == handle)
			return i - 1;
	for (uint32_t i = near; i < level->first + level->count; i++)
		if (reader->handles[i] == handle)
			return i;
	return NONE;
}

/*
 * Into before and before_edges. Not asked for how many there are: without their data that fails
 * where an edge has some. The driver clears what it does not need of the room.
 */
static int list_before(struct gt_graph_reader *reader, CUgraphNode node, size_t *count,
                       struct gt_error *err)
{
	enum { FEW = 32 };
	CUresult code;

	*count = FEW;
	code = reader->driver->node_before(node, reader->before, reader->before_edges, count);
	if (code == CUDA_SUCCESS && *count >= FEW) {
		*count = GT_GRAPH_NODES;
		code = reader->driver->node_before(node, reader->before, reader->before_edges,
		                                   count);
	}
	return check(reader, code, err);
}

/* Reads the edges of the node number; they become those of the node to. */
static int read_edges(struct gt_graph_reader *reader, const struct level *level, uint32_t number,
                      uint32_t to, struct gt_error *err)
{
	struct gt_graph_node *node = &reader->read.nodes[to];
	size_t count = 0;
	int result = list_before(reader, reader->handles[number], &count, err);

	node->first_edge = reader->read.edge_count;
	for (size_t i = 0; i < count && result == 0; i++) {
		const struct gt_graph_edge edge = {
			.from = find(reader, level, number, reader->before[i]),
			.programmatic = reader->before_edges[i].type ==
		                        CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC,
		};

		if (edge.from == NONE)
			return gt_fail(err, EIO, "the driver tells of a dependency of no node");
		reader->leads_on[edge.from] = true;
		result = add_edge(reader, edge, err);
	}
	if (result == 0 && count == 0 && level->before != NONE)
		result = add_edge(reader, (struct gt_graph_edge){.from = level->before}, err);
	node->edge_count = reader->read.edge_count - node->first_edge;
	return result;
}

/* ---- graphs inside of graphs ---- */

static int read_level(struct gt_graph_reader *reader, CUgraph graph, struct level *level,
                      struct gt_error *err);

/*
 * A node with a graph inside: all nodes in that graph wait for a node before it, which has the
 * edges of the outer one; and the outer one waits for those in it that no other waits for.
 */
/* NOLINTNEXTLINE(misc-no-recursion): GT_GRAPH_DEPTH deep at most */
static int read_inside(struct gt_graph_reader *reader, const struct level *level, uint32_t number,
                       struct gt_error *err)
{
	struct gt_graph_node *node = &reader->read.nodes[number];
	struct level inside = {.before = reader->read.node_count, .depth = level->depth + 1};
	CUgraph graph = NULL;
	int result = add_nodes(reader, 1, err);

	if (result == 0)
		result = read_edges(reader, level, number, inside.before, err);
	if (result == 0)
		result = check(reader, reader->driver->node_graph(node->handle, &graph), err);
	if (result == 0)
		result = read_level(reader, graph, &inside, err);
	if (result < 0)
		return result;
	node->first_inside = inside.first;
	node->inside_count = reader->read.node_count - inside.first;
	node->first_edge = reader->read.edge_count;
	for (uint32_t i = inside.first; i < inside.first + inside.count && result == 0; i++)
		if (!reader->leads_on[i])
			result = add_edge(reader, (struct gt_graph_edge){.from = i}, err);
	if (result == 0 && inside.count == 0)
		result = add_edge(reader, (struct gt_graph_edge){.from = inside.before}, err);
	node->edge_count = reader->read.edge_count - node->first_edge;
	return result;
}

static int list_nodes(struct gt_graph_reader *reader, CUgraph graph, struct level *level,
                      struct gt_error *err)
{
	size_t count = 0;
	int result = check(reader, reader->driver->graph_nodes(graph, NULL, &count), err);

	level->first = reader->read.node_count;
	if (result == 0)
		result = add_nodes(reader, count, err);
	if (result == 0 && count)
		result = check(reader,
		               reader->driver->graph_nodes(graph, &reader->handles[level->first],
		                                           &count),
		               err);
	level->count = (uint32_t)count;
	return result;
}

/* NOLINTNEXTLINE(misc-no-recursion): GT_GRAPH_DEPTH deep at most */
static int read_level(struct gt_graph_reader *reader, CUgraph graph, struct level *level,
                      struct gt_error *err)
{
	int result;

	if (level->depth == GT_GRAPH_DEPTH)
		return gt_fail(err, E2BIG, "more than %d CUDA graphs lie inside of one another",
		               GT_GRAPH_DEPTH);
	result = list_nodes(reader, graph, level, err);
	for (uint32_t i = level->first; i < level->first + level->count && result >= 0; i++) {
		reader->read.nodes[i].handle = reader->handles[i];
		result = read_node(reader, &reader->read.nodes[i], err);
		if (result == 1)
			result = read_inside(reader, level, i, err);
		else if (result == 0)
			result = read_edges(reader, level, i, i, err);
	}
	return result;
}

int gt_graph_read(struct gt_graph_reader *reader, CUgraph graph, struct gt_error *err)
{
	struct level level = {.before = NONE};

	reader->read = (struct gt_graph_nodes){
		.nodes = reader->nodes, .edges = reader->edges, .bytes = reader->bytes};
	return read_level(reader, graph, &level, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/graphs/kept.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "injection/process/thread.h"
#include "injection/process/wait.h"

#define TURN_NS 2000000000u /* for another thread that reads a graph */

/* ---- asking the driver ---- */

struct asking {
	struct gt_set_aside calls;
	CUstreamCaptureMode mode;
};

/* Nobody hears of it, and what another thread captures forbids nothing. */
static void begin_asking(const struct gt_kept_graphs *kept, struct asking *asking)
{
	asking->mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	gt_own_set_aside(&asking->calls);
	(void)kept->driver.exchange_capture(&asking->mode);
}

static void end_asking(const struct gt_kept_graphs *kept, struct asking *asking)
{
	(void)kept->driver.exchange_capture(&asking->mode);
	gt_own_take_up(&asking->calls);
}

static bool open_driver(struct gt_kept_graphs *kept, struct gt_error *err)
{
	if (!kept->driver_open)
		kept->driver_open = gt_capture_driver_open(&kept->driver, err) == 0;
	kept->reader->driver = &kept->driver;
	return kept->driver_open;
}

/* ---- places ---- */

static uint32_t place_of(CUgraphExec exec)
{
	return (uint32_t)((uintptr_t)exec * 0x9e3779b97f4a7c15u >> 32) % GT_KEPT_GRAPHS;
}

static struct gt_kept_graph *find(struct gt_kept_graphs *kept, CUgraphExec exec)
{
	const uint32_t first = place_of(exec);

	for (uint32_t i = 0; exec && i < GT_KEPT_GRAPHS; i++) {
		struct gt_kept_graph *graph = &kept->graphs[(first + i) % GT_KEPT_GRAPHS];

		if (graph->exec == exec)
			return graph;
		if (!graph->exec && !graph->was_taken)
			return NULL;
	}
	return NULL;
}

static struct gt_kept_graph *find_free(struct gt_kept_graphs *kept, CUgraphExec exec)
{
	const uint32_t first = place_of(exec);

	for (uint32_t i = 0; i < GT_KEPT_GRAPHS; i++) {
		struct gt_kept_graph *graph = &kept->graphs[(first + i) % GT_KEPT_GRAPHS];

		if (!graph->exec && !graph->used)
			return graph;
	}
	return NULL;
}

/* Nothing that belongs elsewhere is behind a place whose next one was never taken. */
static void shorten(struct gt_kept_graphs *kept, uint32_t place)
{
	const struct gt_kept_graph *next = &kept->graphs[(place + 1) % GT_KEPT_GRAPHS];

	if (next->exec || next->was_taken)
		return;
	while (!kept->graphs[place].exec && !kept->graphs[place].used &&
	       kept->graphs[place].was_taken) {
		kept->graphs[place].was_taken = false;
		place = (place + GT_KEPT_GRAPHS - 1) % GT_KEPT_GRAPHS;
	}
}

static void forget_nodes(struct gt_kept_graphs *kept, struct gt_kept_graph *graph)
{
	if (graph->memory)
		(void)munmap(graph->memory, graph->size);
	kept->bytes -= graph->size;
	graph->memory = NULL;
	graph->size = 0;
	graph->nodes = (struct gt_graph_nodes){.node_count = 0};
	graph->found = 0;
}

static void set_reason(struct gt_kept_graph *graph, const char *reason)
{
	(void)snprintf(graph->reason, sizeof(graph->reason), "%s", reason);
}

/* ---- its nodes ---- */

/* Nodes, edges and bytes behind each other. */
static bool move_nodes(struct gt_kept_graph *graph, const struct gt_graph_nodes *read)
{
	const size_t node_bytes = read->node_count * sizeof(*read->nodes);
	const size_t edge_bytes = read->edge_count * sizeof(*read->edges);
	uint8_t *memory =
		mmap(NULL, graph->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return false;
	graph->memory = memory;
	graph->nodes = *read;
	graph->nodes.nodes = (struct gt_graph_node *)(void *)memory;
	graph->nodes.edges = (struct gt_graph_edge *)(void *)(memory + node_bytes);
	graph->nodes.bytes = memory + node_bytes + edge_bytes;
	memcpy(memory, read->nodes, node_bytes);
	memcpy(memory + node_bytes, read->edges, edge_bytes);
	memcpy(memory + node_bytes + edge_bytes, read->bytes, read->byte_count);
	return true;
}

static void keep_nodes(struct gt_kept_graphs *kept, struct gt_kept_graph *graph)
{
	const struct gt_graph_nodes *read = &kept->reader->read;
	const size_t size = read->node_count * sizeof(*read->nodes) +
	                    read->edge_count * sizeof(*read->edges) + read->byte_count;

	if (size == 0)
		return;
	if (size > GT_KEPT_GRAPHS_BYTES - kept->bytes) {
		set_reason(graph, "the CUDA graphs of the program have more nodes than can be "
		                  "kept, 256 MiB of them");
		return;
	}
	graph->size = size;
	if (!move_nodes(graph, read)) {
		graph->size = 0;
		set_reason(graph, "there was no memory for the nodes of the CUDA graph");
	}
	kept->bytes += graph->size;
}

static void read_graph(struct gt_kept_graphs *kept, struct gt_kept_graph *graph, CUgraph from)
{
	struct gt_error err = {0};
	struct asking asking;
	int result = -1;

	graph->reason[0] = '\0';
	if (open_driver(kept, &err)) {
		begin_asking(kept, &asking);
		result = gt_graph_read(kept->reader, from, &err);
		end_asking(kept, &asking);
	}
	if (result < 0)
		set_reason(graph, err.text);
	else
		keep_nodes(kept, graph);
}

/* ---- the turn ---- */

static bool take_turn(struct gt_kept_graphs *kept)
{
	if (!kept->reader)
		return false;
	if (gt_wait(&kept->turn, TURN_NS))
		return true;
	atomic_store_explicit(&kept->lost, true, memory_order_relaxed);
	return false;
}

static void end_turn(struct gt_kept_graphs *kept)
{
	sem_post(&kept->turn);
}

/* ---- what the program does with them ---- */

/* Nobody reads what nobody may destroy meanwhile: a program that does so all the same. */
static void drop(struct gt_kept_graphs *kept, struct gt_kept_graph *graph)
{
	graph->exec = NULL;
	if (graph->used)
		return;
	forget_nodes(kept, graph);
	shorten(kept, (uint32_t)(graph - kept->graphs));
}

void gt_kept_graphs_add(struct gt_kept_graphs *kept, CUgraphExec exec, CUgraph graph,
                        uint64_t flags)
{
	struct gt_kept_graph *place;

	if (!exec || !take_turn(kept))
		return;
	place = find(kept, exec);
	if (place) /* its end was not heard */
		drop(kept, place);
	place = find_free(kept, exec);
	if (place) {
		*place = (struct gt_kept_graph){
			.exec = exec,
			.was_taken = true,
			.priorities = flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY,
		};
		read_graph(kept, place, graph);
		if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
			set_reason(place, "kernels may launch the CUDA graph");
	}
	kept->left_out = kept->left_out || !place;
	end_turn(kept);
}

static bool are_alike(const struct gt_graph_nodes *nodes, const struct gt_graph_nodes *others)
{
	if (nodes->node_count != others->node_count || nodes->edge_count != others->edge_count)
		return false;
	for (uint32_t i = 0; i < nodes->node_count; i++)
		if (nodes->nodes[i].kind != others->nodes[i].kind ||
		    nodes->nodes[i].first_edge != others->nodes[i].first_edge ||
		    nodes->nodes[i].edge_count != others->nodes[i].edge_count)
			return false;
	for (uint32_t i = 0; i < nodes->edge_count; i++)
		if (nodes->edges[i].from != others->edges[i].from)
			return false;
	return true;
}

/* Later changes name nodes of the graph that the executable one was made from, not of this one. */
static void take_handles(struct gt_graph_nodes *nodes, const struct gt_graph_nodes *before)
{
	const bool are_known = are_alike(nodes, before);

	for (uint32_t i = 0; i < nodes->node_count; i++)
		nodes->nodes[i].handle = are_known ? before->nodes[i].handle : NULL;
}

/* The driver does not say whether an update switches a node on again. */
static bool has_disabled(const struct gt_graph_nodes *nodes)
{
	for (uint32_t i = 0; i < nodes->node_count; i++)
		if (nodes->nodes[i].disabled)
			return true;
	return false;
}

void gt_kept_graphs_update(struct gt_kept_graphs *kept, CUgraphExec exec, CUgraph graph)
{
	struct gt_kept_graph *place;
	struct gt_kept_graph before;

	if (!take_turn(kept))
		return;
	place = find(kept, exec);
	if (place && place->used) {
		set_reason(place, "the CUDA graph was changed while it was captured");
	} else if (place && has_disabled(&place->nodes)) {
		set_reason(place, "the CUDA graph was updated after one of its nodes was switched "
		                  "off");
	} else if (place && !place->reason[0]) {
		before = *place;
		place->memory = NULL;
		place->size = 0;
		place->found = 0;
		place->nodes = (struct gt_graph_nodes){.node_count = 0};
		/* Its nodes of before are on their way out. */
		kept->bytes -= before.size;
		read_graph(kept, place, graph);
		kept->bytes += before.size;
		take_handles(&place->nodes, &before.nodes);
		forget_nodes(kept, &before);
	}
	end_turn(kept);
}

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
	struct asking asking;
	const char *name = NULL;
	int result;

	begin_asking(kept, &asking);
	result = gt_graph_read_kernel(kept->reader, asked, &shape, &name, &err);
	end_asking(kept, &asking);
	if (result < 0)
		set_reason(graph, err.text);
	else if (!set_kernel(kept, graph, number, &shape, name))
		set_reason(graph, "there was no memory for what a node of the CUDA graph was "
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
	struct asking asking;
	int result;

	begin_asking(kept, &asking);
	result = gt_graph_read(kept->reader, inside, &err);
	end_asking(kept, &asking);
	if (result < 0)
		set_reason(graph, err.text);
	else if (!have_kinds(read, &graph->nodes, &graph->nodes.nodes[number]))
		set_reason(graph,
		           "a graph inside of the CUDA graph was changed in a way that is not "
		           "followed");
	else if (!set_inside(kept, graph, number, read))
		set_reason(graph, "there was no memory for what a node of the CUDA graph was "
		                  "changed to");
}

static void change_node(struct gt_kept_graphs *kept, struct gt_kept_graph *graph,
                        CUgraphNode handle, const struct gt_node_change *change)
{
	struct gt_graph_node *node = find_node(graph, handle);

	if (change->reason)
		set_reason(graph, change->reason);
	else if (!node)
		set_reason(graph, "a node of the CUDA graph was changed that is not known");
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
		set_reason(graph, "a node of the CUDA graph became one of another type");
}

void gt_kept_graphs_change(struct gt_kept_graphs *kept, CUgraphExec exec, CUgraphNode node,
                           const struct gt_node_change *change)
{
	struct gt_kept_graph *graph;

	if (!take_turn(kept))
		return;
	graph = find(kept, exec);
	if (graph && graph->used)
		set_reason(graph, "the CUDA graph was changed while it was captured");
	else if (graph && !graph->reason[0])
		change_node(kept, graph, node, change);
	end_turn(kept);
}

void gt_kept_graphs_remove(struct gt_kept_graphs *kept, CUgraphExec exec)
{
	struct gt_kept_graph *graph;

	if (!take_turn(kept))
		return;
	graph = find(kept, exec);
	if (graph)
		drop(kept, graph);
	end_turn(kept);
}

void gt_kept_graphs_lose(struct gt_kept_graphs *kept)
{
	if (!take_turn(kept))
		return;
	for (uint32_t i = 0; i < GT_KEPT_GRAPHS; i++)
		if (kept->graphs[i].exec && !kept->graphs[i].reason[0])
			set_reason(&kept->graphs[i],
			           "recording was switched off for a while, in which the CUDA "
			           "graph may have changed");
	end_turn(kept);
}

/* ---- whoever captures a launch ---- */

static int check(const struct gt_kept_graphs *kept, const struct gt_kept_graph *graph,
                 struct gt_error *err)
{
	if (atomic_load_explicit(&kept->lost, memory_order_relaxed))
		return gt_fail(err, EBUSY,
		               "what became of CUDA graphs could not be followed: reading one took "
		               "more than two seconds");
	if (!graph)
		return gt_fail(err, ENOENT, "%s",
		               kept->left_out ? "the CUDA graph is one of more than can be kept"
		                              : "the CUDA graph was instantiated before recording "
		                                "began");
	if (graph->reason[0])
		return gt_fail(err, ENOTSUP, "%s", graph->reason);
	if (graph->used)
		return gt_fail(err, EBUSY, "another thread launches the same CUDA graph");
	return 0;
}

int gt_kept_graphs_take(struct gt_kept_graphs *kept, CUgraphExec exec, struct gt_kept_graph **graph,
                        struct gt_error *err)
{
	struct gt_kept_graph *found;
	int result;

	if (!take_turn(kept))
		return gt_fail(err, EBUSY, "the nodes of CUDA graphs are not kept");
	found = find(kept, exec);
	result = check(kept, found, err);
	if (result == 0) {
		found->used = true;
		*graph = found;
	}
	end_turn(kept);
	return result;
}

void gt_kept_graphs_give(struct gt_kept_graphs *kept, struct gt_kept_graph *graph)
{
	if (!take_turn(kept))
		return; /* its memory stays */
	graph->used = false;
	if (!graph->exec)
		drop(kept, graph);
	end_turn(kept);
}

int gt_kept_graphs_init(struct gt_kept_graphs *kept, struct gt_error *err)
{
	const size_t places = GT_KEPT_GRAPHS * sizeof(*kept->graphs);
	uint8_t *memory = mmap(NULL, sizeof(*kept->reader) + places, PROT_READ | PROT_WRITE,
	                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return gt_fail(err, ENOMEM,
		               "nodes of CUDA graphs are not captured: there is no memory for it");
	kept->graphs = (struct gt_kept_graph *)(void *)memory;
	kept->reader = (struct gt_graph_reader *)(void *)(memory + places);
	sem_init(&kept->turn, 0, 1);
	return 0;
}

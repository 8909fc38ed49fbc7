/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/graphs/kept.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "injection/process/wait.h"
#include "injection/snapshot/graphs/asking.h"
#include "injection/snapshot/graphs/changes.h"

#define TURN_NS 2000000000u /* for another thread that reads a graph */

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
		gt_kept_graph_set_reason(
			graph, "the CUDA graphs of the program have more nodes than can be "
			       "kept, 256 MiB of them");
		return;
	}
	graph->size = size;
	if (!move_nodes(graph, read)) {
		graph->size = 0;
		gt_kept_graph_set_reason(graph,
		                         "there was no memory for the nodes of the CUDA graph");
	}
	kept->bytes += graph->size;
}

static void read_graph(struct gt_kept_graphs *kept, struct gt_kept_graph *graph, CUgraph from)
{
	struct gt_error err = {0};
	struct gt_graph_asking asking;
	int result = -1;

	graph->reason[0] = '\0';
	if (gt_graph_asking_open(kept, &err)) {
		gt_graph_asking_begin(kept, &asking);
		result = gt_graph_read(kept->reader, from, &err);
		gt_graph_asking_end(kept, &asking);
	}
	if (result < 0)
		gt_kept_graph_set_reason(graph, err.text);
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
			gt_kept_graph_set_reason(place, "kernels may launch the CUDA graph");
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
		gt_kept_graph_set_reason(place, "the CUDA graph was changed while it was captured");
	} else if (place && has_disabled(&place->nodes)) {
		gt_kept_graph_set_reason(
			place, "the CUDA graph was updated after one of its nodes was switched "
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

void gt_kept_graphs_change(struct gt_kept_graphs *kept, CUgraphExec exec, CUgraphNode node,
                           const struct gt_node_change *change)
{
	struct gt_kept_graph *graph;

	if (!take_turn(kept))
		return;
	graph = find(kept, exec);
	if (graph && graph->used)
		gt_kept_graph_set_reason(graph, "the CUDA graph was changed while it was captured");
	else if (graph && !graph->reason[0])
		gt_kept_graph_change_node(kept, graph, node, change);
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
			gt_kept_graph_set_reason(
				&kept->graphs[i],
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

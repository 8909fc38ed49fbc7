/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/hazards/graph_hazards.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/graphs/order.h"
#include "model/index.h"
#include "model/kinds/graph.h"
#include "model/names.h"
#include "model/path/stream_order.h"

enum {
	PAIRS_OF_LAUNCH = 256, /* that one launch is reported with */
	VISITS_MOST = 1 << 26, /* stretches of memory and nodes that are looked at */
};

/* A stretch of memory that a use at hand touches. */
struct stretch {
	uint64_t address;
	uint64_t end;
	const struct gt_node_use *use;
	bool writes;
};

struct nodes {
	gt_id earlier;
	gt_id later;
};

/* A pair of a launch in the making: stretches of memory are found one by one. */
struct pair {
	struct nodes nodes;
	struct gt_hazard hazard;
};

struct search {
	const struct gt_trace *trace;
	struct gt_hazards *hazards;
	const struct gt_touch *touches;
	struct gt_graph_order order;
	bool *is_lost; /* by row of graph_execs: its order is not in its dependencies alone */
	struct gt_index
		*known; /* pairs of nodes that were looked at, and whether they are in order */
	gt_array(bool) in_order;
	uint32_t *seen; /* by row of graph_nodes: in which walk */
	uint32_t walk;
	gt_array(gt_id) open; /* nodes that a walk has yet to look at */
	gt_array(struct stretch) stretches;
	gt_array(struct pair) pairs;
	uint64_t visits_left;
};

/* ---- which nodes are in order ---- */

static bool waits_elsewhere(gt_count type)
{
	return type == GT_GRAPH_NODE_WAIT_EVENT || type == GT_GRAPH_NODE_SEMAPHORES_WAIT ||
	       type == GT_GRAPH_NODE_BATCH_MEM_OP;
}

static void search_init(struct search *search, struct gt_hazards *hazards,
                        const struct gt_trace *trace, const struct gt_touch *touches)
{
	const size_t nodes = trace->graph_nodes.count + 1;
	const size_t execs = trace->graph_execs.count + 1;

	*search = (struct search){
		.trace = trace,
		.hazards = hazards,
		.touches = touches,
		.is_lost = gt_allocate(execs * sizeof(*search->is_lost)),
		.known = gt_index_new(sizeof(struct nodes)),
		.seen = gt_allocate(nodes * sizeof(*search->seen)),
		.visits_left = VISITS_MOST,
	};
	memset(search->is_lost, 0, execs * sizeof(*search->is_lost));
	memset(search->seen, 0, nodes * sizeof(*search->seen));
	gt_array_each(const struct gt_graph_node, node, &trace->graph_nodes)
		if (node->exec < trace->graph_execs.count && waits_elsewhere(node->type))
			search->is_lost[node->exec] = true;
	gt_graph_order_init(&search->order, trace);
}

static void search_release(struct search *search)
{
	gt_graph_order_release(&search->order);
	gt_index_free(search->known);
	gt_array_free(search->is_lost);
	gt_array_free(search->seen);
	gt_array_release(&search->in_order);
	gt_array_release(&search->open);
	gt_array_release(&search->stretches);
	gt_array_release(&search->pairs);
}

/* False where there is no time left to look. */
static bool visit(struct search *search)
{
	if (search->visits_left == 0) {
		search->hazards->cut_short = true;
		return false;
	}
	search->visits_left--;
	return true;
}

/* Whether a node waits for another one, from itself back; true where it was not looked to the end. */
static bool waits_for(struct search *search, gt_id later, gt_id earlier)
{
	search->walk++;
	search->open.count = 0;
	*gt_array_push(&search->open) = later;
	while (search->open.count > 0) {
		const gt_id node = search->open.rows[--search->open.count];

		if (node == earlier || !visit(search))
			return true;
		if (search->seen[node] == search->walk)
			continue;
		search->seen[node] = search->walk;
		for (size_t i = search->order.first[node]; i < search->order.first[node + 1]; i++)
			*gt_array_push(&search->open) = search->order.edges.list.rows[i].from;
	}
	return false;
}

/* Nodes of one executable graph; those of two are nobody's here. */
static bool is_ordered(struct search *search, const struct nodes *nodes)
{
	const struct gt_graph_node *rows = search->trace->graph_nodes.rows;
	const gt_id exec = rows[nodes->earlier].exec;
	size_t number;

	if (exec != rows[nodes->later].exec || exec >= search->trace->graph_execs.count ||
	    search->is_lost[exec])
		return true;
	number = gt_index_add(search->known, nodes);
	if (number == search->in_order.count) {
		const bool ordered = waits_for(search, nodes->later, nodes->earlier) ||
		                     waits_for(search, nodes->earlier, nodes->later);

		*gt_array_push(&search->in_order) = ordered;
	}
	return search->in_order.rows[number];
}

/* ---- what two nodes have in common ---- */

static gt_id origin_of(const struct gt_trace *trace, gt_id node)
{
	const gt_id origin = trace->graph_nodes.rows[node].origin;

	return origin < trace->graph_nodes.count ? origin : node;
}

/* Whether the one was made before the other, as the program made them. */
static bool was_made_first(const struct gt_trace *trace, gt_id one, gt_id other)
{
	const gt_id first = origin_of(trace, one);
	const gt_id second = origin_of(trace, other);

	return first != second ? first < second : one < other;
}

static enum gt_hazard_kind kind_of(const struct stretch *earlier, const struct stretch *later)
{
	if (earlier->writes)
		return later->writes ? GT_HAZARD_WRITE_AFTER_WRITE : GT_HAZARD_READ_AFTER_WRITE;
	return GT_HAZARD_WRITE_AFTER_READ;
}

static bool happened(const struct gt_trace *trace, const struct gt_hazard *hazard)
{
	gt_time start_ns;
	gt_time end_ns;
	gt_time other_start_ns;
	gt_time other_end_ns;

	gt_step_times(trace, (struct gt_step){hazard->earlier.table, hazard->earlier.row},
	              &start_ns, &end_ns);
	gt_step_times(trace, (struct gt_step){hazard->later.table, hazard->later.row},
	              &other_start_ns, &other_end_ns);
	return end_ns > other_start_ns && other_end_ns > start_ns;
}

/* Both begin before the other ends. */
static void note(struct search *search, const struct stretch *one, const struct stretch *other)
{
	const bool in_order =
		was_made_first(search->trace, one->use->shown.node, other->use->shown.node);
	const struct stretch *earlier = in_order ? one : other;
	const struct stretch *later = in_order ? other : one;
	const struct nodes nodes = {earlier->use->shown.node, later->use->shown.node};
	const uint64_t begin = one->address > other->address ? one->address : other->address;
	const uint64_t end = one->end < other->end ? one->end : other->end;
	const enum gt_hazard_kind kind = kind_of(earlier, later);

	gt_array_each(struct pair, pair, &search->pairs) {
		if (pair->nodes.earlier != nodes.earlier || pair->nodes.later != nodes.later ||
		    pair->hazard.kind != kind)
			continue;
		pair->hazard.size_bytes += end - begin;
		return;
	}
	if (is_ordered(search, &nodes))
		return;
	if (search->pairs.count == PAIRS_OF_LAUNCH) {
		search->hazards->cut_short = true;
		return;
	}
	*gt_array_push(&search->pairs) = (struct pair){
		.nodes = nodes,
		.hazard = {.kind = kind,
	                   .earlier = earlier->use->shown,
	                   .later = later->use->shown,
	                   .address = begin,
	                   .size_bytes = end - begin,
	                   .in_graph = true},
	};
}

/* ---- launches ---- */

static int by_address(const void *a, const void *b)
{
	const struct stretch *left = a;
	const struct stretch *right = b;

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	if (left->end != right->end)
		return left->end < right->end ? -1 : 1;
	return (left->use > right->use) - (left->use < right->use);
}

static void add_stretches(struct search *search, const struct gt_node_use *uses, size_t count)
{
	search->stretches.count = 0;
	for (size_t i = 0; i < count; i++) {
		for (size_t t = uses[i].first; t < uses[i].first + uses[i].count; t++) {
			const struct gt_touch *touch = &search->touches[t];

			*gt_array_push(&search->stretches) =
				(struct stretch){touch->address, touch->address + touch->size_bytes,
			                         &uses[i], touch->writes};
		}
	}
	if (search->stretches.count > 1)
		qsort(search->stretches.rows, search->stretches.count,
		      sizeof(*search->stretches.rows), by_address);
}

static void see_launch(struct search *search, const struct gt_node_use *uses, size_t count)
{
	const struct stretch *rows;

	add_stretches(search, uses, count);
	rows = search->stretches.rows;
	for (size_t i = 0; i < search->stretches.count; i++)
		for (size_t j = i + 1; j < search->stretches.count && rows[j].address < rows[i].end;
		     j++) {
			if (!visit(search))
				break;
			if ((rows[i].writes || rows[j].writes) &&
			    rows[i].use->shown.node != rows[j].use->shown.node)
				note(search, &rows[i], &rows[j]);
		}
	gt_array_each(struct pair, pair, &search->pairs) {
		pair->hazard.happened = happened(search->trace, &pair->hazard);
		*gt_array_push(&search->hazards->list) = pair->hazard;
	}
	search->pairs.count = 0;
}

static int by_launch(const void *a, const void *b)
{
	const struct gt_hazard_use *left = &((const struct gt_node_use *)a)->shown;
	const struct gt_hazard_use *right = &((const struct gt_node_use *)b)->shown;

	if (left->api_call != right->api_call)
		return left->api_call < right->api_call ? -1 : 1;
	if (left->table != right->table)
		return left->table < right->table ? -1 : 1;
	return (left->row > right->row) - (left->row < right->row);
}

void gt_graph_hazards_find(struct gt_hazards *hazards, const struct gt_trace *trace,
                           struct gt_node_use *uses, size_t count, const struct gt_touch *touches)
{
	struct search search;

	if (count < 2)
		return;
	search_init(&search, hazards, trace, touches);
	qsort(uses, count, sizeof(*uses), by_launch);
	for (size_t first = 0, end; first < count; first = end) {
		for (end = first;
		     end < count && uses[end].shown.api_call == uses[first].shown.api_call; end++)
			;
		if (end - first > 1)
			see_launch(&search, uses + first, end - first);
	}
	search_release(&search);
}

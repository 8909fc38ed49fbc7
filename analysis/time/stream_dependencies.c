/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/time/stream_dependencies.h"

#include <stdbool.h>
#include <stdint.h>

#include "analysis/figures.h"
#include "analysis/result.h"
#include "base/array.h"
#include "model/index.h"
#include "model/names.h"
#include "model/path/stream_order.h"
#include "model/trace.h"
#include "model/whole.h"
#include "model/work/intervals.h"

static const struct gt_heading headings[] = {
	{"from_stream", GT_UNIT_TEXT, "Stream whose work had to be done first", GT_WORTH_NAME},
	{"to_stream", GT_UNIT_TEXT, "Stream that waited for it", GT_WORTH_NAME},
	{"kind", GT_UNIT_TEXT, "Through what", GT_WORTH_NAME},
	{"calls", GT_UNIT_COUNT, "Waits that are linked to what they waited for"},
	{"held", GT_UNIT_COUNT, "Those that really held work back", GT_WORTH_KEY},
	{"held_ns", GT_UNIT_NS,
         "From when its next work could have begun until the awaited work ended; united over waits",
         GT_WORTH_KEY},
	{"max_held_ns", GT_UNIT_NS, "Longest that one wait held", GT_WORTH_LITTLE},
};

struct pair {
	gt_id from;
	gt_id to;
	uint32_t kind;
};

struct held {
	uint64_t calls;
	uint64_t held;
	int64_t max_ns;
	gt_array(struct gt_interval) times;
};

struct end {
	gt_id stream;
	gt_id api_call; /* that asked for it */
};

static struct end end_of(const struct gt_trace *trace, gt_count table, gt_id row)
{
#define END(plural)                                                                                \
	if (table == GT_TABLE_##plural && row < trace->plural.count)                               \
		return (struct end){trace->plural.rows[row].stream,                                \
		                    trace->plural.rows[row].api_call};
	END(kernels)
	END(copies)
	END(fills)
#undef END
	return (struct end){GT_NONE, GT_NONE};
}

/* When what waited could have begun: asked for, and what was before it on its stream done. */
static gt_time could_begin(const struct gt_trace *trace, const struct gt_stream_order *order,
                           const struct gt_sync *sync, struct end to)
{
	const size_t place = gt_stream_order_from(order, to.stream, sync->start_ns);
	gt_time begin_ns = sync->start_ns;

	if (to.api_call < trace->api_calls.count &&
	    trace->api_calls.rows[to.api_call].start_ns > begin_ns)
		begin_ns = trace->api_calls.rows[to.api_call].start_ns;
	if (place > 0) {
		gt_time start_ns;
		gt_time end_ns;

		gt_step_times(trace, gt_stream_order_at(order, to.stream, place - 1), &start_ns,
		              &end_ns);
		if (end_ns <= 0)
			return INT64_MAX; /* that never ended */
		if (end_ns > begin_ns)
			begin_ns = end_ns;
	}
	return begin_ns;
}

static void count_edge(const struct gt_trace *trace, const struct gt_stream_order *order,
                       const struct gt_edge *edge, struct held *held)
{
	const struct gt_step from = {edge->from_table, edge->from_row};
	const struct end to = end_of(trace, edge->to_table, edge->to_row);
	gt_time start_ns;
	gt_time end_ns;
	gt_time begin_ns;

	held->calls++;
	gt_step_times(trace, from, &start_ns, &end_ns);
	if (edge->sync >= trace->syncs.count || end_ns <= 0)
		return;
	begin_ns = could_begin(trace, order, &trace->syncs.rows[edge->sync], to);
	if (end_ns <= begin_ns)
		return;
	held->held++;
	if (end_ns - begin_ns > held->max_ns)
		held->max_ns = end_ns - begin_ns;
	*gt_array_push(&held->times) = (struct gt_interval){begin_ns, end_ns};
}

/* An edge between streams of which both ends are shown. */
static bool is_between_streams(const struct gt_trace *shown, const struct gt_edge *edge,
                               struct pair *pair)
{
	const struct gt_trace *trace = gt_whole_of(shown);

	*pair = (struct pair){
		.from = end_of(trace, edge->from_table, edge->from_row).stream,
		.to = end_of(trace, edge->to_table, edge->to_row).stream,
		.kind = edge->sync < trace->syncs.count ? trace->syncs.rows[edge->sync].kind : 0,
	};
	return edge->kind == GT_EDGE_EVENT && pair->from != GT_NONE && pair->to != GT_NONE &&
	       gt_whole_shown(shown, (int)edge->from_table, edge->from_row) != GT_NONE &&
	       gt_whole_shown(shown, (int)edge->to_table, edge->to_row) != GT_NONE;
}

void gt_add_stream_dependencies(struct gt_result *result, const struct gt_trace *shown)
{
	const struct gt_trace *trace = gt_whole_of(shown);
	struct gt_index *index = gt_index_new(sizeof(struct pair));
	struct held *held = gt_allocate((trace->edges.count + 1) * sizeof(*held));
	struct gt_stream_order order;

	gt_stream_order_init(&order, trace, NULL);
	gt_array_each(const struct gt_edge, edge, &trace->edges) {
		struct pair pair;
		size_t known;
		size_t number;

		if (!is_between_streams(shown, edge, &pair))
			continue;
		known = gt_index_count(index);
		number = gt_index_add(index, &pair);
		if (number == known)
			held[number] = (struct held){0};
		count_edge(trace, &order, edge, &held[number]);
	}
	gt_result_begin(result, "dependencies", headings, GT_COUNT_OF(headings));
	for (size_t i = 0; i < gt_index_count(index); i++) {
		const struct pair *pair = gt_index_key(index, i);

		gt_add_stream(result, trace, pair->from);
		gt_add_stream(result, trace, pair->to);
		gt_result_add_text(result, gt_sync_kind_name(pair->kind));
		gt_result_add_count(result, (int64_t)held[i].calls);
		gt_result_add_count(result, (int64_t)held[i].held);
		gt_result_add_count(result, (int64_t)gt_intervals_union(held[i].times.rows,
		                                                        held[i].times.count));
		gt_result_add_count(result, held[i].max_ns);
		gt_array_release(&held[i].times);
	}
	gt_stream_order_release(&order);
	gt_array_free(held);
	gt_index_free(index);
}

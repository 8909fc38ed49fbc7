/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pending/work.h"

#include <stdlib.h>
#include <string.h>

#include "model/naming/kernel_names.h"
#include "model/work/activity.h"
#include "model/work/sync.h"
#include "model/work/timed.h"

/* A row of one of the tables of work. */
struct piece {
	struct gt_step step;
	gt_time end_ns;
	gt_id stream;
	gt_id api_call;
	gt_count correlation;
	gt_wide node;   /* number of its node of a graph, 0: none */
	uint64_t nodes; /* of a graph that it stands for; 0: all that there are */
	bool ended;
	bool collective;
};

/* Nodes of one launch of a graph, as far as they have records. */
struct launched {
	uint64_t ended;
	uint64_t open;
	struct gt_step first_open;
	gt_wide first_node;
	bool collective; /* an open one is */
	bool is_over;    /* it was recorded as a whole, and that has ended */
};

struct finder {
	struct gt_pending *pending;
	const struct gt_trace *trace;
	gt_time *proven_ns; /* by row of streams */
	gt_id *launch_of;   /* by row of api_calls: row of graph_launches */
	bool *waited;       /* by row of api_calls: it returned when its own work had ended */
	struct launched *launches; /* by row of graph_launches */
	uint64_t *most;            /* by row of graph_execs: nodes that a launch of it has had */
};

static bool is_collective(const struct gt_trace *trace, gt_id shape)
{
	return shape < trace->launch_shapes.count &&
	       trace->launch_shapes.rows[shape].family == GT_FAMILY_communication;
}

static gt_time given_ns(const struct gt_trace *trace, gt_id api_call)
{
	return api_call < trace->api_calls.count ? trace->api_calls.rows[api_call].start_ns : 0;
}

/* Work that was given to a stream before that time has ended. */
static void prove(const struct finder *finder, gt_id stream, gt_time before_ns)
{
	if (stream < finder->trace->streams.count && before_ns > finder->proven_ns[stream])
		finder->proven_ns[stream] = before_ns;
}

static gt_id launch_of(const struct finder *finder, gt_id api_call)
{
	return api_call < finder->trace->api_calls.count ? finder->launch_of[api_call] : GT_NONE;
}

static void add_work(struct finder *finder, const struct piece *piece)
{
	const gt_time given = given_ns(finder->trace, piece->api_call);
	const gt_id process = gt_trace_stream_process(finder->trace, piece->stream);

	if (process == GT_NONE || (given && given < finder->proven_ns[piece->stream]) ||
	    (piece->api_call < finder->trace->api_calls.count && finder->waited[piece->api_call]))
		return;
	*gt_array_push(&finder->pending->works) = (struct gt_pending_work){
		.step = piece->step,
		.node = {.table = GT_TABLE_NONE},
		.stream = piece->stream,
		.process = process,
		.api_call = piece->api_call,
		.correlation = piece->correlation,
		.given_ns = given,
		.collective = piece->collective,
	};
}

static void see_node(struct launched *launched, const struct piece *piece)
{
	if (piece->ended) {
		launched->ended += piece->nodes;
		launched->is_over |= piece->nodes == 0;
		return;
	}
	if (launched->open++ == 0 || piece->node < launched->first_node) {
		launched->first_open = piece->step;
		launched->first_node = piece->node;
	}
	launched->collective |= piece->collective;
}

/* First what ended, for it proves that what was before it in its stream has ended, too. */
static void see_ended(struct finder *finder, const struct piece *piece)
{
	const gt_id launch = launch_of(finder, piece->api_call);
	const gt_id into = launch == GT_NONE ? piece->stream
	                                     : finder->trace->graph_launches.rows[launch].stream;
	struct gt_pending_stream *stream;

	if (launch != GT_NONE)
		see_node(&finder->launches[launch], piece);
	if (!piece->ended || into >= finder->trace->streams.count)
		return;
	prove(finder, into, given_ns(finder->trace, piece->api_call));
	stream = &finder->pending->streams[into];
	if (piece->end_ns >= stream->last_end_ns) {
		stream->last_end_ns = piece->end_ns;
		stream->last = piece->step;
	}
}

static void see_open(struct finder *finder, const struct piece *piece)
{
	if (!piece->ended && launch_of(finder, piece->api_call) == GT_NONE)
		add_work(finder, piece);
}

#define PIECE(name, plural, of_node, nodes_of, is_one)                                             \
	static void each_##name(struct finder *finder,                                             \
	                        void (*see)(struct finder *, const struct piece *))                \
	{                                                                                          \
		const struct gt_trace *trace = finder->trace;                                      \
                                                                                                   \
		for (gt_id i = 0; i < trace->plural.count; i++) {                                  \
			const struct gt_##name *row = &trace->plural.rows[i];                      \
                                                                                                   \
			see(finder, &(struct piece){                                               \
					    .step = {GT_TABLE_##plural, i},                        \
					    .end_ns = row->end_ns,                                 \
					    .stream = row->stream,                                 \
					    .api_call = row->api_call,                             \
					    .correlation = row->correlation,                       \
					    .node = (of_node),                                     \
					    .nodes = (nodes_of),                                   \
					    .ended = row->start_ns > 0 &&                          \
			                             gt_timed(GT_TIMES_ANY, row->flags,            \
			                                      row->start_ns, row->end_ns),         \
					    .collective = (is_one),                                \
				    });                                                            \
		}                                                                                  \
	}

PIECE(kernel, kernels, row->graph_node, 1, is_collective(trace, row->shape))
PIECE(copy, copies, row->graph_node, 1, false)
PIECE(fill, fills, row->graph_node, 1, false)
PIECE(graph_trace, graph_traces, 0, row->activities, false)

static void each(struct finder *finder, void (*see)(struct finder *, const struct piece *))
{
	each_kernel(finder, see);
	each_copy(finder, see);
	each_fill(finder, see);
	each_graph_trace(finder, see);
}

/* A wait of the host that returned: all before it has ended. waited_ns: by row of contexts. */
static void see_wait(struct finder *finder, const struct gt_sync *sync, gt_time *waited_ns)
{
	const struct gt_trace *trace = finder->trace;

	if (sync->result != 0 || sync->flags & GT_UNFINISHED || !gt_sync_waits_host(sync->kind))
		return;
	if (sync->kind == GT_SYNC_STREAM_SYNCHRONIZE)
		prove(finder, sync->stream, sync->start_ns);
	if (sync->kind == GT_SYNC_BLOCKING_COPY || sync->kind == GT_SYNC_BLOCKING_FILL) {
		prove(finder, sync->stream, sync->start_ns);
		if (sync->api_call < trace->api_calls.count)
			finder->waited[sync->api_call] = true;
	}
	if (sync->kind == GT_SYNC_EVENT_SYNCHRONIZE && sync->record < trace->syncs.count)
		prove(finder, trace->syncs.rows[sync->record].stream,
		      trace->syncs.rows[sync->record].start_ns);
	if (sync->kind == GT_SYNC_CONTEXT_SYNCHRONIZE && sync->context < trace->contexts.count &&
	    sync->start_ns > waited_ns[sync->context])
		waited_ns[sync->context] = sync->start_ns;
}

static void see_waits(struct finder *finder)
{
	const struct gt_trace *trace = finder->trace;
	gt_time *waited_ns = gt_allocate_zeroed(trace->contexts.count, sizeof(*waited_ns));

	gt_array_each(const struct gt_sync, sync, &trace->syncs)
		see_wait(finder, sync, waited_ns);
	for (gt_id stream = 0; stream < trace->streams.count; stream++)
		if (trace->streams.rows[stream].context < trace->contexts.count)
			prove(finder, stream, waited_ns[trace->streams.rows[stream].context]);
	gt_array_free(waited_ns);
}

/* As many nodes as the launches of an executable graph have had at most. */
static void count_most(struct finder *finder)
{
	const struct gt_trace *trace = finder->trace;

	for (gt_id i = 0; i < trace->graph_launches.count; i++) {
		const struct launched *launched = &finder->launches[i];
		const gt_id exec = trace->graph_launches.rows[i].exec;

		if (exec < trace->graph_execs.count &&
		    launched->ended + launched->open > finder->most[exec])
			finder->most[exec] = launched->ended + launched->open;
	}
}

/*
 * Whether a launch has nodes that have not ended: some are open, or there are fewer than another
 * launch of it had. Nobody can tell where no launch had a node with a record, so it counts.
 */
static bool is_open(const struct finder *finder, gt_id launch, uint64_t nodes)
{
	const struct gt_graph_launch *row = &finder->trace->graph_launches.rows[launch];
	const struct launched *launched = &finder->launches[launch];

	return row->result == 0 && row->stream < finder->trace->streams.count &&
	       row->start_ns >= finder->proven_ns[row->stream] && !launched->is_over &&
	       (launched->open > 0 || launched->ended < nodes || nodes == 0);
}

static void add_launch(struct finder *finder, gt_id launch)
{
	const struct gt_trace *trace = finder->trace;
	const struct gt_graph_launch *row = &trace->graph_launches.rows[launch];
	const struct launched *launched = &finder->launches[launch];
	const uint64_t nodes = row->exec < trace->graph_execs.count ? finder->most[row->exec] : 0;
	const gt_id process = gt_trace_stream_process(trace, row->stream);
	const bool whole = launched->open && launched->first_open.table == GT_TABLE_graph_traces;

	if (process == GT_NONE || !is_open(finder, launch, nodes))
		return;
	*gt_array_push(&finder->pending->works) = (struct gt_pending_work){
		.step = {GT_TABLE_graph_launches, launch},
		.node = launched->open && !whole ? launched->first_open
	                                         : (struct gt_step){.table = GT_TABLE_NONE},
		.stream = row->stream,
		.process = process,
		.api_call = row->api_call,
		.correlation = row->correlation,
		.given_ns = row->start_ns,
		.collective = launched->collective,
		.ended = launched->ended,
		.nodes = whole ? 0 : nodes,
	};
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the finder writes it */
void gt_pending_find_work(struct gt_pending *pending, gt_time *proven_ns)
{
	const struct gt_trace *trace = pending->trace;
	const size_t calls = trace->api_calls.count + 1;
	struct finder finder = {
		.pending = pending,
		.trace = trace,
		.proven_ns = proven_ns,
		.launch_of = gt_allocate(calls * sizeof(*finder.launch_of)),
		.waited = gt_allocate_zeroed(calls, sizeof(*finder.waited)),
		.launches =
			gt_allocate_zeroed(trace->graph_launches.count, sizeof(*finder.launches)),
		.most = gt_allocate_zeroed(trace->graph_execs.count, sizeof(*finder.most)),
	};

	memset(finder.launch_of, 0xff, calls * sizeof(*finder.launch_of));
	for (gt_id i = 0; i < trace->graph_launches.count; i++)
		if (trace->graph_launches.rows[i].api_call < trace->api_calls.count)
			finder.launch_of[trace->graph_launches.rows[i].api_call] = i;
	each(&finder, see_ended);
	see_waits(&finder);
	each(&finder, see_open);
	count_most(&finder);
	for (gt_id i = 0; i < trace->graph_launches.count; i++)
		add_launch(&finder, i);
	gt_array_free(finder.launch_of);
	gt_array_free(finder.waited);
	gt_array_free(finder.launches);
	gt_array_free(finder.most);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/hazards/uses.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "analysis/reports/hazards/declared_accesses.h"
#include "model/kinds/access.h"
#include "model/kinds/graph.h"
#include "model/kinds/memory.h"
#include "model/names.h"
#include "model/ranges/owners.h"
#include "model/ranges/ranges.h"
#include "model/work/sync.h"
#include "model/work/timed.h"

enum {
	ROWS_MOST = 4096,       /* of one access: what has more is not looked at, */
	ROWS_ANYWAY = 256,      /* nor what has more than this, once there are */
	TOUCHES_MOST = 1 << 21, /* so many stretches */
};

/* The first copy of a batch is taken for all: the memory that each touches is not recorded. */
enum told { TOLD_NOTHING, TOLD_ALL, TOLD_PART };

struct finder {
	const struct gt_trace *trace;
	struct gt_uses *found;
	gt_id *first_access;   /* by row of api_calls: of accesses, GT_NONE: none */
	gt_id *next_access;    /* by row of accesses: the next of its call */
	gt_id *launch_streams; /* by row of api_calls: stream of a graph's launch; GT_NONE: none */
	uint8_t *told;         /* by row of api_calls: enum told */
	bool *was_updated;     /* by row of graph_execs: from another graph */
};

static gt_id *no_ids(size_t count)
{
	gt_id *ids = gt_allocate((count + 1) * sizeof(*ids));

	memset(ids, 0xff, (count + 1) * sizeof(*ids));
	return ids;
}

static void index_accesses(struct finder *finder)
{
	const struct gt_trace *trace = finder->trace;

	finder->first_access = no_ids(trace->api_calls.count);
	finder->next_access = no_ids(trace->accesses.count);
	for (gt_id row = (gt_id)trace->accesses.count; row-- > 0;) {
		const gt_id call = trace->accesses.rows[row].api_call;

		if (call >= trace->api_calls.count)
			continue;
		finder->next_access[row] = finder->first_access[call];
		finder->first_access[call] = row;
	}
	finder->told = gt_allocate_zeroed(trace->api_calls.count, sizeof(*finder->told));
	finder->was_updated =
		gt_allocate_zeroed(trace->graph_execs.count, sizeof(*finder->was_updated));
	gt_array_each(const struct gt_graph_call, call, &trace->graph_calls)
		if (call->kind == GT_GRAPH_CALL_UPDATE && call->exec < trace->graph_execs.count)
			finder->was_updated[call->exec] = true;
	finder->launch_streams = no_ids(trace->api_calls.count);
	gt_array_each(const struct gt_graph_launch, launch, &trace->graph_launches)
		if (launch->api_call < trace->api_calls.count)
			finder->launch_streams[launch->api_call] = launch->stream;
}

/* False: the access is in too many rows, or its size makes no sense. */
static bool add_access(struct finder *finder, const struct gt_access *access)
{
	const uint64_t rows = access->rows;
	const uint64_t most = finder->found->touches.count < TOUCHES_MOST ? ROWS_MOST : ROWS_ANYWAY;
	const uint64_t last = rows > 1 && rows <= most && access->pitch <= UINT64_MAX / ROWS_MOST
	                              ? (rows - 1) * access->pitch
	                              : 0;

	if (rows == 0 || rows > most || access->size_bytes == 0 || (rows > 1 && last == 0) ||
	    access->address > UINT64_MAX - last ||
	    access->address + last > UINT64_MAX - (uint64_t)access->size_bytes)
		return false;
	for (uint64_t row = 0; row < rows; row++)
		*gt_array_push(&finder->found->touches) = (struct gt_touch){
			.address = access->address + row * access->pitch,
			.size_bytes = (uint64_t)access->size_bytes,
			.writes = gt_access_writes(access->kind),
		};
	return true;
}

static struct gt_use *add_use(struct finder *finder, struct gt_hazard_use shown)
{
	const struct gt_trace *trace = finder->trace;
	struct gt_use *use = gt_array_push(&finder->found->list);
	const gt_id context = shown.stream < trace->streams.count
	                              ? trace->streams.rows[shown.stream].context
	                              : GT_NONE;

	shown.node = GT_NONE;
	*use = (struct gt_use){
		.shown = shown,
		.process = context < trace->contexts.count ? trace->contexts.rows[context].process
	                                                   : GT_NONE,
		.first = finder->found->touches.count,
	};
	return use;
}

static void add_step(struct finder *finder, gt_time time_ns, enum gt_use_step_kind kind, gt_id row)
{
	*gt_array_push(&finder->found->steps) = (struct gt_use_step){time_ns, kind, row};
}

/* Common members of a kernel, a copy and a fill. */
struct work {
	size_t table;
	gt_id row;
	gt_id stream;
	gt_id api_call;
	gt_id node;
	bool of_graph;
};

#define WORK(T, at, row)                                                                           \
	((struct work){GT_TABLE_##T, (gt_id)(row), (at)->stream, (at)->api_call, (at)->node,       \
	               (at)->graph_node != 0})

static bool is_legacy(const struct gt_trace *trace, gt_id stream)
{
	const gt_id context = trace->streams.rows[stream].context;

	return context < trace->contexts.count &&
	       trace->streams.rows[stream].number == trace->contexts.rows[context].null_stream;
}

/* The work of a graph is ordered in the stream that the graph was launched into. */
static gt_id stream_of(const struct finder *finder, const struct work *work)
{
	if (work->of_graph && work->api_call < finder->trace->api_calls.count &&
	    finder->launch_streams[work->api_call] != GT_NONE)
		return finder->launch_streams[work->api_call];
	return work->stream;
}

/* Begins a use that is not kept unless end_use finds that it touches something. */
static struct gt_use *begin_use(struct finder *finder, const struct work *work)
{
	const struct gt_trace *trace = finder->trace;
	const gt_id stream = stream_of(finder, work);

	if (work->api_call >= trace->api_calls.count || stream >= trace->streams.count)
		return NULL;
	return add_use(finder, (struct gt_hazard_use){
				       .table = work->table,
				       .row = work->row,
				       .stream = stream,
				       .api_call = work->api_call,
				       .given_ns = trace->api_calls.rows[work->api_call].start_ns,
			       });
}

/*
 * The work of the default stream orders that of others, whatever it touches. Returns whether it is
 * known what it touches.
 */
static bool end_use(struct finder *finder, struct gt_use *use)
{
	const bool touches = finder->found->touches.count > use->first;

	use->count = finder->found->touches.count - use->first;
	if (touches || is_legacy(finder->trace, use->shown.stream))
		add_step(finder, use->shown.given_ns, GT_USE_STEP_USE,
		         (gt_id)finder->found->list.count - 1);
	else
		finder->found->list.count--;
	return touches;
}

/* Whether a later call changed what a node does, in a graph or in an executable one. */
static bool was_changed(const struct finder *finder, gt_id node)
{
	enum { CLONES_MOST = 64 };
	const struct gt_trace *trace = finder->trace;
	const gt_id exec = trace->graph_nodes.rows[node].exec;

	if (exec < trace->graph_execs.count && finder->was_updated[exec])
		return true;
	for (int i = 0; i < CLONES_MOST && node < trace->graph_nodes.count; i++) {
		if (trace->graph_nodes.rows[node].changes > 0)
			return true;
		node = trace->graph_nodes.rows[node].original;
	}
	return false;
}

/* The call that says what it touches; GT_NONE: a later call may have changed it. */
static gt_id saying_call(const struct finder *finder, const struct work *work)
{
	const struct gt_trace *trace = finder->trace;
	gt_id origin;

	if (!work->of_graph)
		return work->api_call;
	if (work->node >= trace->graph_nodes.count || was_changed(finder, work->node))
		return GT_NONE;
	origin = trace->graph_nodes.rows[work->node].origin;
	return origin < trace->graph_nodes.count ? trace->graph_nodes.rows[origin].api_call
	                                         : GT_NONE;
}

static bool add_accesses(struct finder *finder, gt_id call)
{
	bool known = true;

	for (gt_id row = finder->first_access[call]; row != GT_NONE; row = finder->next_access[row])
		known &= add_access(finder, &finder->trace->accesses.rows[row]);
	return known;
}

/* A copy or a fill. Returns whether it is known what it touches. */
static bool add_work(struct finder *finder, const struct work *work)
{
	const gt_id call = saying_call(finder, work);
	struct gt_use *use;
	bool known = true;

	if (!work->of_graph && call < finder->trace->api_calls.count &&
	    finder->told[call] != TOLD_NOTHING)
		return finder->told[call] == TOLD_ALL;
	use = begin_use(finder, work);
	if (!use)
		return false;
	if (call < finder->trace->api_calls.count)
		known = add_accesses(finder, call);
	known &= end_use(finder, use);
	if (!work->of_graph && call < finder->trace->api_calls.count)
		finder->told[call] = known ? TOLD_ALL : TOLD_PART;
	return known;
}

/* The innermost range that says what kernels use; GT_NONE: none does. */
static gt_id declaring(const struct gt_declared_accesses *declared, const struct gt_ranges *ranges,
                       struct gt_owner owner)
{
	gt_id range = gt_owner_sure(owner).range;

	while (range != GT_NONE && declared->first[range] == declared->first[range + 1])
		range = gt_ranges_around_sure(ranges, range, owner.at_ns);
	return range;
}

static bool add_kernel(struct finder *finder, const struct gt_declared_accesses *declared,
                       const struct gt_ranges *ranges, gt_id row)
{
	const struct gt_trace *trace = finder->trace;
	const struct work work = WORK(kernels, &trace->kernels.rows[row], row);
	const gt_id range = declared->any ? declaring(declared, ranges,
	                                              gt_owner_of(trace, GT_ACTIVITY_KERNEL, row))
	                                  : GT_NONE;
	struct gt_use *use;

	if (range == GT_NONE &&
	    (work.stream >= trace->streams.count || !is_legacy(trace, work.stream)))
		return false;
	use = begin_use(finder, &work);
	if (!use)
		return false;
	for (size_t i = range == GT_NONE ? 0 : declared->first[range];
	     range != GT_NONE && i < declared->first[range + 1]; i++) {
		const struct gt_declared *said = &declared->list.rows[i];

		*gt_array_push(&finder->found->touches) = (struct gt_touch){
			said->address, said->size_bytes, (said->mode & GT_DECLARED_WRITES) != 0};
	}
	return end_use(finder, use);
}

static void add_kernels(struct finder *finder)
{
	const struct gt_trace *trace = finder->trace;
	struct gt_declared_accesses declared;
	struct gt_ranges ranges;

	gt_declared_accesses_init(&declared, trace);
	gt_ranges_init(&ranges, trace);
	for (gt_id row = 0; row < trace->kernels.count; row++)
		finder->found->cover.known_kernels += add_kernel(finder, &declared, &ranges, row);
	finder->found->cover.kernels = trace->kernels.count;
	gt_ranges_release(&ranges);
	gt_declared_accesses_release(&declared);
}

static void add_copies_and_fills(struct finder *finder)
{
	const struct gt_trace *trace = finder->trace;
	struct gt_hazard_cover *cover = &finder->found->cover;

	for (gt_id row = 0; row < trace->copies.count; row++) {
		const struct work work = WORK(copies, &trace->copies.rows[row], row);

		cover->known_copies += add_work(finder, &work);
	}
	for (gt_id row = 0; row < trace->fills.count; row++) {
		const struct work work = WORK(fills, &trace->fills.rows[row], row);

		cover->known_fills += add_work(finder, &work);
	}
	cover->copies = trace->copies.count;
	cover->fills = trace->fills.count;
}

static bool is_looked_at(const struct gt_allocation *allocation)
{
	const enum gt_memory_space space = gt_memory_space(allocation->kind);

	return (space == GT_MEMORY_SPACE_POINTER || space == GT_MEMORY_SPACE_HOST ||
	        space == GT_MEMORY_SPACE_IMPORTED || space == GT_MEMORY_SPACE_MAPPING) &&
	       allocation->address != 0 && allocation->size_bytes > 0 &&
	       allocation->address <= UINT64_MAX - (uint64_t)allocation->size_bytes;
}

static void add_memory_use(struct finder *finder, const struct gt_allocation *allocation, gt_id row,
                           enum gt_use_step_kind kind)
{
	const struct gt_memory_call *call;
	struct gt_use *use;

	if (row >= finder->trace->memory_calls.count)
		return;
	call = &finder->trace->memory_calls.rows[row];
	use = add_use(finder, (struct gt_hazard_use){
				      .table = GT_TABLE_memory_calls,
				      .row = row,
				      .stream = call->stream,
				      .api_call = call->api_call,
				      .given_ns = call->start_ns,
			      });
	use->process = allocation->process;
	*gt_array_push(&finder->found->touches) =
		(struct gt_touch){allocation->address, (uint64_t)allocation->size_bytes, true};
	use->count = 1;
	finder->found->cover.ordered_calls += call->kind == GT_MEMORY_CALL_ALLOCATE_ORDERED ||
	                                      call->kind == GT_MEMORY_CALL_FREE_ORDERED;
	add_step(finder, kind == GT_USE_STEP_MAKE ? call->end_ns : call->start_ns, kind,
	         (gt_id)finder->found->list.count - 1);
}

static void add_memory(struct finder *finder)
{
	gt_array_each(const struct gt_allocation, allocation, &finder->trace->allocations) {
		if (!is_looked_at(allocation))
			continue;
		add_memory_use(finder, allocation, allocation->made_by, GT_USE_STEP_MAKE);
		add_memory_use(finder, allocation, allocation->ended_by, GT_USE_STEP_FREE);
	}
}

/* By call: whether it filled memory of the host, for which the host waits. */
static bool *find_host_fills(const struct gt_trace *trace)
{
	bool *waits = gt_allocate(trace->api_calls.count + 1);

	memset(waits, 1, trace->api_calls.count + 1);
	gt_array_each(const struct gt_fill, fill, &trace->fills)
		if (fill->api_call < trace->api_calls.count &&
		    (fill->memory_kind == GT_MEMORY_DEVICE ||
		     fill->memory_kind == GT_MEMORY_DEVICE_STATIC))
			waits[fill->api_call] = false;
	return waits;
}

/* When a call that waits returns, the host knows that the work is done. */
static void add_syncs(struct finder *finder)
{
	const struct gt_trace *trace = finder->trace;
	bool *host_fills = find_host_fills(trace);

	for (gt_id row = 0; row < trace->syncs.count; row++) {
		const struct gt_sync *sync = &trace->syncs.rows[row];
		const bool waits = gt_sync_waits_host(sync->kind);

		if (sync->kind == GT_SYNC_BLOCKING_FILL &&
		    sync->api_call < trace->api_calls.count && !host_fills[sync->api_call])
			continue;
		if (waits && !gt_timed(GT_TIMES_ANY, sync->flags, sync->start_ns, sync->end_ns))
			continue;
		add_step(finder, waits ? sync->end_ns : sync->start_ns, GT_USE_STEP_SYNC, row);
	}
	gt_array_free(host_fills);
	for (gt_id row = 0; row < trace->queries.count; row++) {
		if (trace->queries.rows[row].result != 0)
			continue;
		add_step(finder, trace->queries.rows[row].start_ns, GT_USE_STEP_ASK, row);
		add_step(finder, trace->queries.rows[row].end_ns, GT_USE_STEP_ASKED, row);
	}
	for (gt_id row = 0; row < trace->events.count; row++)
		if (trace->events.rows[row].destroyed_ns != 0)
			add_step(finder, trace->events.rows[row].destroyed_ns, GT_USE_STEP_FORGET,
			         row);
}

void gt_uses_init(struct gt_uses *uses, const struct gt_trace *trace)
{
	struct finder finder = {.trace = trace, .found = uses};

	*uses = (struct gt_uses){0};
	index_accesses(&finder);
	add_kernels(&finder);
	add_copies_and_fills(&finder);
	add_memory(&finder);
	add_syncs(&finder);
	gt_array_free(finder.first_access);
	gt_array_free(finder.next_access);
	gt_array_free(finder.launch_streams);
	gt_array_free(finder.told);
	gt_array_free(finder.was_updated);
}

void gt_uses_release(struct gt_uses *uses)
{
	gt_array_release(&uses->list);
	gt_array_release(&uses->touches);
	gt_array_release(&uses->steps);
}

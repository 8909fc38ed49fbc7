/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/hazards/hazards.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/hazards/declared_accesses.h"
#include "analysis/hazards/graph_hazards.h"
#include "analysis/hazards/stream_clocks.h"
#include "base/search.h"
#include "model/kinds/access.h"
#include "model/kinds/graph.h"
#include "model/kinds/memory.h"
#include "model/names.h"
#include "model/path/stream_order.h"
#include "model/ranges/owners.h"
#include "model/ranges/ranges.h"
#include "model/work/sync.h"
#include "model/work/timed.h"

enum {
	ROWS_MOST = 4096,       /* of one access: what has more is not looked at, */
	ROWS_ANYWAY = 256,      /* nor what has more than this, once there are */
	TOUCHES_MOST = 1 << 21, /* so many stretches */
	READS_KEPT = 4,         /* of a piece of memory, of different streams */
	PAIRS_OF_USE = 32,      /* that one use is reported with */
	VISITS_OF_USE = 64,     /* pieces that are looked at for each use, on average, */
	VISITS_LEAST = 1 << 24, /* and in any case */
};

struct use {
	struct gt_hazard_use shown;
	gt_id process;
	struct gt_clock_point point; /* once it was given */
	size_t first;                /* of touches */
	size_t count;
};

/* Memory between an address where something begins or ends and the next one. */
struct cell {
	uint64_t address;
	gt_id process;
	gt_id write; /* rows of uses; GT_NONE: none */
	gt_id made;  /* in the order of a stream */
	gt_id freed;
	gt_id reads[READS_KEPT];
};

enum step_kind { STEP_SYNC, STEP_ASK, STEP_ASKED, STEP_FORGET, STEP_MAKE, STEP_USE, STEP_FREE };

/* A step of the host, in its order. row: of syncs, queries, uses; of uses for MAKE and FREE too. */
struct step {
	gt_time time_ns;
	enum step_kind kind;
	gt_id row;
};

/* A hazard in the making: pieces of memory are found one by one. */
struct pair {
	gt_id use;
	struct gt_hazard hazard;
};

/* The first copy of a batch is taken for all: the memory that each touches is not recorded. */
enum told { TOLD_NOTHING, TOLD_ALL, TOLD_PART };

struct finder {
	const struct gt_trace *trace;
	struct gt_hazards *hazards;
	struct gt_clocks clocks;
	gt_array(struct use) uses;
	gt_array(struct gt_touch) touches;
	gt_array(struct cell) cells;
	gt_array(struct step) steps;
	gt_id *first_access;   /* by row of api_calls: of accesses, GT_NONE: none */
	gt_id *next_access;    /* by row of accesses: the next of its call */
	gt_id *launch_streams; /* by row of api_calls: stream of a graph's launch; GT_NONE: none */
	uint8_t *told;         /* by row of api_calls: enum told */
	bool *was_updated;     /* by row of graph_execs: from another graph */
	struct pair pairs[PAIRS_OF_USE];
	size_t pair_count;
	uint64_t visits_left;
};

/* ---- uses ---- */

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
	const uint64_t most = finder->touches.count < TOUCHES_MOST ? ROWS_MOST : ROWS_ANYWAY;
	const uint64_t last = rows > 1 && rows <= most && access->pitch <= UINT64_MAX / ROWS_MOST
	                              ? (rows - 1) * access->pitch
	                              : 0;

	if (rows == 0 || rows > most || access->size_bytes == 0 || (rows > 1 && last == 0) ||
	    access->address > UINT64_MAX - last ||
	    access->address + last > UINT64_MAX - (uint64_t)access->size_bytes)
		return false;
	for (uint64_t row = 0; row < rows; row++)
		*gt_array_push(&finder->touches) = (struct gt_touch){
			.address = access->address + row * access->pitch,
			.size_bytes = (uint64_t)access->size_bytes,
			.writes = gt_access_writes(access->kind),
		};
	return true;
}

static struct use *add_use(struct finder *finder, struct gt_hazard_use shown)
{
	const struct gt_trace *trace = finder->trace;
	struct use *use = gt_array_push(&finder->uses);
	const gt_id context = shown.stream < trace->streams.count
	                              ? trace->streams.rows[shown.stream].context
	                              : GT_NONE;

	shown.node = GT_NONE;
	*use = (struct use){
		.shown = shown,
		.process = context < trace->contexts.count ? trace->contexts.rows[context].process
	                                                   : GT_NONE,
		.first = finder->touches.count,
	};
	return use;
}

static void add_step(struct finder *finder, gt_time time_ns, enum step_kind kind, gt_id row)
{
	*gt_array_push(&finder->steps) = (struct step){time_ns, kind, row};
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
static struct use *begin_use(struct finder *finder, const struct work *work)
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
static bool end_use(struct finder *finder, struct use *use)
{
	const bool touches = finder->touches.count > use->first;

	use->count = finder->touches.count - use->first;
	if (touches || is_legacy(finder->trace, use->shown.stream))
		add_step(finder, use->shown.given_ns, STEP_USE, (gt_id)finder->uses.count - 1);
	else
		finder->uses.count--;
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
	struct use *use;
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
	struct use *use;

	if (range == GT_NONE &&
	    (work.stream >= trace->streams.count || !is_legacy(trace, work.stream)))
		return false;
	use = begin_use(finder, &work);
	if (!use)
		return false;
	for (size_t i = range == GT_NONE ? 0 : declared->first[range];
	     range != GT_NONE && i < declared->first[range + 1]; i++) {
		const struct gt_declared *said = &declared->list.rows[i];

		*gt_array_push(&finder->touches) = (struct gt_touch){
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
		finder->hazards->cover.known_kernels += add_kernel(finder, &declared, &ranges, row);
	finder->hazards->cover.kernels = trace->kernels.count;
	gt_ranges_release(&ranges);
	gt_declared_accesses_release(&declared);
}

static void add_copies_and_fills(struct finder *finder)
{
	const struct gt_trace *trace = finder->trace;
	struct gt_hazard_cover *cover = &finder->hazards->cover;

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

/* ---- memory that comes and goes ---- */

static bool is_looked_at(const struct gt_allocation *allocation)
{
	const enum gt_memory_space space = gt_memory_space(allocation->kind);

	return (space == GT_MEMORY_SPACE_POINTER || space == GT_MEMORY_SPACE_HOST ||
	        space == GT_MEMORY_SPACE_IMPORTED || space == GT_MEMORY_SPACE_MAPPING) &&
	       allocation->address != 0 && allocation->size_bytes > 0 &&
	       allocation->address <= UINT64_MAX - (uint64_t)allocation->size_bytes;
}

static void add_memory_use(struct finder *finder, const struct gt_allocation *allocation, gt_id row,
                           enum step_kind kind)
{
	const struct gt_memory_call *call;
	struct use *use;

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
	*gt_array_push(&finder->touches) =
		(struct gt_touch){allocation->address, (uint64_t)allocation->size_bytes, true};
	use->count = 1;
	finder->hazards->cover.ordered_calls += call->kind == GT_MEMORY_CALL_ALLOCATE_ORDERED ||
	                                        call->kind == GT_MEMORY_CALL_FREE_ORDERED;
	add_step(finder, kind == STEP_MAKE ? call->end_ns : call->start_ns, kind,
	         (gt_id)finder->uses.count - 1);
}

static void add_memory(struct finder *finder)
{
	gt_array_each(const struct gt_allocation, allocation, &finder->trace->allocations) {
		if (!is_looked_at(allocation))
			continue;
		add_memory_use(finder, allocation, allocation->made_by, STEP_MAKE);
		add_memory_use(finder, allocation, allocation->ended_by, STEP_FREE);
	}
}

/* ---- waits ---- */

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
		add_step(finder, waits ? sync->end_ns : sync->start_ns, STEP_SYNC, row);
	}
	gt_array_free(host_fills);
	for (gt_id row = 0; row < trace->queries.count; row++) {
		if (trace->queries.rows[row].result != 0)
			continue;
		add_step(finder, trace->queries.rows[row].start_ns, STEP_ASK, row);
		add_step(finder, trace->queries.rows[row].end_ns, STEP_ASKED, row);
	}
	for (gt_id row = 0; row < trace->events.count; row++)
		if (trace->events.rows[row].destroyed_ns != 0)
			add_step(finder, trace->events.rows[row].destroyed_ns, STEP_FORGET, row);
}

/* ---- pieces of memory ---- */

static int by_address(const void *a, const void *b)
{
	const struct cell *left = a;
	const struct cell *right = b;

	if (left->process != right->process)
		return left->process < right->process ? -1 : 1;
	return (left->address > right->address) - (left->address < right->address);
}

static void add_cell(struct finder *finder, gt_id process, uint64_t address)
{
	struct cell *cell = gt_array_push(&finder->cells);

	memset(cell, 0xff, sizeof(*cell));
	cell->process = process;
	cell->address = address;
}

/* One for each address where something begins or ends. */
static void make_cells(struct finder *finder)
{
	size_t kept = 0;

	gt_array_each(const struct use, use, &finder->uses) {
		for (size_t i = 0; i < use->count; i++) {
			const struct gt_touch *touch = &finder->touches.rows[use->first + i];

			add_cell(finder, use->process, touch->address);
			add_cell(finder, use->process, touch->address + touch->size_bytes);
		}
	}
	if (finder->cells.count > 1)
		qsort(finder->cells.rows, finder->cells.count, sizeof(*finder->cells.rows),
		      by_address);
	for (size_t i = 0; i < finder->cells.count; i++)
		if (kept == 0 ||
		    by_address(&finder->cells.rows[i], &finder->cells.rows[kept - 1]) != 0)
			finder->cells.rows[kept++] = finder->cells.rows[i];
	finder->cells.count = kept;
	finder->visits_left = VISITS_LEAST + VISITS_OF_USE * (uint64_t)finder->uses.count;
}

/* Pieces from first to one behind the last. */
struct reach {
	size_t first;
	size_t end;
};

static struct reach reach_of(struct finder *finder, const struct use *use,
                             const struct gt_touch *touch)
{
	struct cell wanted = {.address = touch->address, .process = use->process};
	struct reach reach;

	reach.first = gt_count_before(&finder->cells, &wanted, by_address);
	wanted.address += touch->size_bytes;
	reach.end = gt_count_before(&finder->cells, &wanted, by_address);
	if (reach.end - reach.first > finder->visits_left) {
		finder->hazards->cut_short = true;
		reach.end = reach.first;
	}
	finder->visits_left -= reach.end - reach.first;
	return reach;
}

static uint64_t size_of(const struct finder *finder, size_t cell)
{
	return finder->cells.rows[cell + 1].address - finder->cells.rows[cell].address;
}

/* ---- hazards ---- */

static void times_of(const struct gt_trace *trace, const struct gt_hazard_use *use,
                     gt_time *start_ns, gt_time *end_ns)
{
	if (use->table == GT_TABLE_memory_calls) {
		*start_ns = trace->memory_calls.rows[use->row].start_ns;
		*end_ns = INT64_MAX; /* from then on */
		return;
	}
	gt_step_times(trace, (struct gt_step){use->table, use->row}, start_ns, end_ns);
}

static bool happened(const struct gt_trace *trace, const struct gt_hazard *hazard)
{
	gt_time start_ns;
	gt_time end_ns;
	gt_time other_start_ns;
	gt_time other_end_ns;

	if (hazard->kind == GT_HAZARD_USE_BEFORE_ALLOCATION)
		return false; /* when the memory came to be there is not recorded */
	times_of(trace, &hazard->earlier, &start_ns, &end_ns);
	times_of(trace, &hazard->later, &other_start_ns, &other_end_ns);
	return end_ns > other_start_ns && other_end_ns > start_ns;
}

/* A piece of memory that the use at hand and an earlier one have in common. */
static void note(struct finder *finder, const struct use *later, enum gt_hazard_kind kind,
                 gt_id earlier, size_t cell)
{
	struct pair *pair;

	for (size_t i = 0; i < finder->pair_count; i++) {
		pair = &finder->pairs[i];
		if (pair->use == earlier && pair->hazard.kind == kind) {
			pair->hazard.size_bytes += size_of(finder, cell);
			return;
		}
	}
	if (finder->pair_count == PAIRS_OF_USE)
		return;
	pair = &finder->pairs[finder->pair_count++];
	*pair = (struct pair){
		.use = earlier,
		.hazard = {.kind = kind,
	                   .earlier = finder->uses.rows[earlier].shown,
	                   .later = later->shown,
	                   .address = finder->cells.rows[cell].address,
	                   .size_bytes = size_of(finder, cell)},
	};
}

static void report_pairs(struct finder *finder)
{
	for (size_t i = 0; i < finder->pair_count; i++) {
		struct gt_hazard *hazard = gt_array_push(&finder->hazards->list);

		*hazard = finder->pairs[i].hazard;
		hazard->happened = happened(finder->trace, hazard);
	}
	finder->pair_count = 0;
}

/* Whether something puts a use behind an earlier one; true where nobody knows. */
static bool is_ordered(const struct finder *finder, const struct use *later, gt_id earlier)
{
	const struct use *use = &finder->uses.rows[earlier];

	return (use->shown.api_call != GT_NONE && use->shown.api_call == later->shown.api_call) ||
	       gt_clocks_is_after(&finder->clocks, later->point.slot, use->point);
}

static void check(struct finder *finder, const struct use *use, enum gt_hazard_kind kind,
                  gt_id earlier, size_t cell)
{
	if (earlier != GT_NONE && !is_ordered(finder, use, earlier))
		note(finder, use, kind, earlier, cell);
}

static void check_reads(struct finder *finder, const struct use *use, enum gt_hazard_kind kind,
                        size_t cell)
{
	for (int i = 0; i < READS_KEPT; i++)
		check(finder, use, kind, finder->cells.rows[cell].reads[i], cell);
}

static void forget_uses(struct cell *cell)
{
	cell->write = GT_NONE;
	for (int i = 0; i < READS_KEPT; i++)
		cell->reads[i] = GT_NONE;
}

/* The latest of each stream; without room the oldest goes. */
static void keep_read(const struct finder *finder, struct cell *cell, gt_id row)
{
	const uint32_t slot = finder->uses.rows[row].point.slot;
	int place = 0;

	while (place < READS_KEPT - 1 && cell->reads[place] != GT_NONE &&
	       finder->uses.rows[cell->reads[place]].point.slot != slot)
		place++;
	if (place == READS_KEPT - 1 && cell->reads[place] != GT_NONE &&
	    finder->uses.rows[cell->reads[place]].point.slot != slot)
		memmove(cell->reads, cell->reads + 1, (READS_KEPT - 1) * sizeof(*cell->reads));
	cell->reads[place] = row;
}

static void use_cell(struct finder *finder, gt_id row, const struct gt_touch *touch, size_t at)
{
	const struct use *use = &finder->uses.rows[row];
	struct cell *cell = &finder->cells.rows[at];

	if (cell->freed != GT_NONE) {
		note(finder, use, GT_HAZARD_USE_AFTER_FREE, cell->freed, at);
		return;
	}
	check(finder, use, GT_HAZARD_USE_BEFORE_ALLOCATION, cell->made, at);
	check(finder, use, touch->writes ? GT_HAZARD_WRITE_AFTER_WRITE : GT_HAZARD_READ_AFTER_WRITE,
	      cell->write, at);
	if (!touch->writes) {
		keep_read(finder, cell, row);
		return;
	}
	check_reads(finder, use, GT_HAZARD_WRITE_AFTER_READ, at);
	forget_uses(cell);
	cell->write = row;
}

static void step_use(struct finder *finder, gt_id row)
{
	struct use *use = &finder->uses.rows[row];

	use->point = gt_clocks_give(&finder->clocks, use->shown.stream);
	if (gt_clocks_lost(&finder->clocks, use->process))
		return;
	for (size_t i = 0; i < use->count; i++) {
		const struct gt_touch *touch = &finder->touches.rows[use->first + i];
		const struct reach reach = reach_of(finder, use, touch);

		for (size_t cell = reach.first; cell < reach.end; cell++)
			use_cell(finder, row, touch, cell);
	}
	report_pairs(finder);
}

/*
 * CUDA hands out memory that was freed in another stream only in an order of its own: what comes
 * after the allocation comes after the free.
 */
static void step_make(struct finder *finder, gt_id row)
{
	struct use *use = &finder->uses.rows[row];
	const bool ordered = finder->trace->memory_calls.rows[use->shown.row].kind ==
	                     GT_MEMORY_CALL_ALLOCATE_ORDERED;
	struct reach reach;

	use->point = gt_clocks_give(&finder->clocks, ordered ? use->shown.stream : GT_NONE);
	reach = reach_of(finder, use, &finder->touches.rows[use->first]);
	for (size_t i = reach.first; i < reach.end; i++) {
		struct cell *cell = &finder->cells.rows[i];

		if (cell->freed != GT_NONE)
			gt_clocks_order(&finder->clocks, use->point.slot,
			                finder->uses.rows[cell->freed].point.slot);
		forget_uses(cell);
		cell->made = ordered ? row : GT_NONE;
		cell->freed = GT_NONE;
	}
}

/*
 * A free in no stream waits for all work of the process; the host knows that. Addresses of the host
 * and of mappings may become something else that nobody records.
 */
static void step_free(struct finder *finder, gt_id row)
{
	struct use *use = &finder->uses.rows[row];
	const gt_count kind = finder->trace->memory_calls.rows[use->shown.row].kind;
	const bool ordered = kind == GT_MEMORY_CALL_FREE_ORDERED;
	const bool lost = gt_clocks_lost(&finder->clocks, use->process);
	struct reach reach;

	use->point = gt_clocks_give(&finder->clocks, ordered ? use->shown.stream : GT_NONE);
	reach = reach_of(finder, use, &finder->touches.rows[use->first]);
	for (size_t i = reach.first; i < reach.end; i++) {
		struct cell *cell = &finder->cells.rows[i];

		if (ordered && !lost) {
			check(finder, use, GT_HAZARD_USE_AFTER_FREE, cell->write, i);
			check_reads(finder, use, GT_HAZARD_USE_AFTER_FREE, i);
		}
		forget_uses(cell);
		cell->made = GT_NONE;
		cell->freed = ordered || kind == GT_MEMORY_CALL_FREE ? row : GT_NONE;
	}
	report_pairs(finder);
}

/* ---- all of it ---- */

static int by_time(const void *a, const void *b)
{
	const struct step *left = a;
	const struct step *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	if (left->kind != right->kind)
		return left->kind < right->kind ? -1 : 1;
	return (left->row > right->row) - (left->row < right->row);
}

static void want(const struct gt_trace *trace, bool *wanted, gt_id stream)
{
	if (stream < trace->streams.count)
		wanted[stream] = true;
}

/* Streams that use memory come first to a clock, as there may be more than have one. */
static void init_clocks(struct finder *finder)
{
	const struct gt_trace *trace = finder->trace;
	bool *wanted = gt_allocate_zeroed(trace->streams.count + 1, 1);

	gt_array_each(const struct use, use, &finder->uses)
		want(trace, wanted, use->shown.stream);
	gt_array_each(const struct gt_sync, sync, &trace->syncs)
		want(trace, wanted, sync->stream);
	gt_clocks_init(&finder->clocks, trace, wanted);
	gt_array_free(wanted);
}

static void walk(struct finder *finder)
{
	gt_array_each(const struct step, step, &finder->steps) {
		switch (step->kind) {
		case STEP_SYNC:
			gt_clocks_sync(&finder->clocks, step->row);
			break;
		case STEP_ASK:
		case STEP_ASKED:
			gt_clocks_ask(&finder->clocks, &finder->trace->queries.rows[step->row],
			              step->kind == STEP_ASK);
			break;
		case STEP_FORGET:
			gt_clocks_forget(&finder->clocks, step->row);
			break;
		case STEP_MAKE:
			step_make(finder, step->row);
			break;
		case STEP_USE:
			step_use(finder, step->row);
			break;
		case STEP_FREE:
			step_free(finder, step->row);
			break;
		}
	}
}

static gt_id node_of(const struct gt_trace *trace, const struct gt_hazard_use *use)
{
	switch (use->table) {
	case GT_TABLE_kernels:
		return trace->kernels.rows[use->row].node;
	case GT_TABLE_copies:
		return trace->copies.rows[use->row].node;
	case GT_TABLE_fills:
		return trace->fills.rows[use->row].node;
	default:
		return GT_NONE;
	}
}

/* Hazards between nodes of graphs: the clocks of streams know of their launches alone. */
static void find_in_graphs(struct finder *finder)
{
	gt_array(struct gt_node_use) uses = {0};

	gt_array_each(const struct use, use, &finder->uses) {
		struct gt_node_use node = {use->shown, use->first, use->count};

		node.shown.node = node_of(finder->trace, &use->shown);
		if (node.shown.node < finder->trace->graph_nodes.count && use->count > 0)
			*gt_array_push(&uses) = node;
	}
	gt_graph_hazards_find(finder->hazards, finder->trace, uses.rows, uses.count,
	                      finder->touches.rows);
	gt_array_free(uses.rows);
}

void gt_hazards_init(struct gt_hazards *hazards, const struct gt_trace *trace)
{
	struct finder finder = {.trace = trace, .hazards = hazards};

	*hazards = (struct gt_hazards){.cut_short = false};
	index_accesses(&finder);
	add_kernels(&finder);
	add_copies_and_fills(&finder);
	add_memory(&finder);
	add_syncs(&finder);
	make_cells(&finder);
	init_clocks(&finder);
	if (finder.steps.count > 1)
		qsort(finder.steps.rows, finder.steps.count, sizeof(*finder.steps.rows), by_time);
	walk(&finder);
	find_in_graphs(&finder);
	hazards->has_unclocked = finder.clocks.has_unclocked;
	for (gt_id i = 0; i < trace->processes.count; i++)
		hazards->has_lost |= gt_clocks_lost(&finder.clocks, i);
	gt_clocks_release(&finder.clocks);
	gt_array_release(&finder.uses);
	gt_array_release(&finder.touches);
	gt_array_release(&finder.cells);
	gt_array_release(&finder.steps);
	gt_array_free(finder.first_access);
	gt_array_free(finder.next_access);
	gt_array_free(finder.launch_streams);
	gt_array_free(finder.told);
	gt_array_free(finder.was_updated);
}

void gt_hazards_release(struct gt_hazards *hazards)
{
	gt_array_release(&hazards->list);
}

const char *gt_hazard_name(enum gt_hazard_kind kind)
{
	static const char *const names[GT_HAZARD_KINDS] = {
		[GT_HAZARD_READ_AFTER_WRITE] = "read after write",
		[GT_HAZARD_WRITE_AFTER_READ] = "write after read",
		[GT_HAZARD_WRITE_AFTER_WRITE] = "write after write",
		[GT_HAZARD_USE_AFTER_FREE] = "use after free",
		[GT_HAZARD_USE_BEFORE_ALLOCATION] = "use before allocation",
	};

	return kind < GT_HAZARD_KINDS ? names[kind] : "";
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/hazards/hazards.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/reports/hazards/graph_hazards.h"
#include "analysis/reports/hazards/stream_clocks.h"
#include "analysis/reports/hazards/uses.h"
#include "base/search.h"
#include "model/kinds/memory.h"
#include "model/path/stream_order.h"

enum {
	READS_KEPT = 4,         /* of a piece of memory, of different streams */
	PAIRS_OF_USE = 32,      /* that one use is reported with */
	VISITS_OF_USE = 64,     /* pieces that are looked at for each use, on average, */
	VISITS_LEAST = 1 << 24, /* and in any case */
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

/* A hazard in the making: pieces of memory are found one by one. */
struct pair {
	gt_id use;
	struct gt_hazard hazard;
};

struct finder {
	const struct gt_trace *trace;
	struct gt_hazards *hazards;
	struct gt_clocks clocks;
	struct gt_uses uses;
	gt_array(struct cell) cells;
	struct pair pairs[PAIRS_OF_USE];
	size_t pair_count;
	uint64_t visits_left;
};

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

	gt_array_each(const struct gt_use, use, &finder->uses.list) {
		for (size_t i = 0; i < use->count; i++) {
			const struct gt_touch *touch = &finder->uses.touches.rows[use->first + i];

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
	finder->visits_left = VISITS_LEAST + VISITS_OF_USE * (uint64_t)finder->uses.list.count;
}

/* Pieces from first to one behind the last. */
struct reach {
	size_t first;
	size_t end;
};

static struct reach reach_of(struct finder *finder, const struct gt_use *use,
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
static void note(struct finder *finder, const struct gt_use *later, enum gt_hazard_kind kind,
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
	                   .earlier = finder->uses.list.rows[earlier].shown,
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
static bool is_ordered(const struct finder *finder, const struct gt_use *later, gt_id earlier)
{
	const struct gt_use *use = &finder->uses.list.rows[earlier];

	return (use->shown.api_call != GT_NONE && use->shown.api_call == later->shown.api_call) ||
	       gt_clocks_is_after(&finder->clocks, later->point.slot, use->point);
}

static void check(struct finder *finder, const struct gt_use *use, enum gt_hazard_kind kind,
                  gt_id earlier, size_t cell)
{
	if (earlier != GT_NONE && !is_ordered(finder, use, earlier))
		note(finder, use, kind, earlier, cell);
}

static void check_reads(struct finder *finder, const struct gt_use *use, enum gt_hazard_kind kind,
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
	const uint32_t slot = finder->uses.list.rows[row].point.slot;
	int place = 0;

	while (place < READS_KEPT - 1 && cell->reads[place] != GT_NONE &&
	       finder->uses.list.rows[cell->reads[place]].point.slot != slot)
		place++;
	if (place == READS_KEPT - 1 && cell->reads[place] != GT_NONE &&
	    finder->uses.list.rows[cell->reads[place]].point.slot != slot)
		memmove(cell->reads, cell->reads + 1, (READS_KEPT - 1) * sizeof(*cell->reads));
	cell->reads[place] = row;
}

static void use_cell(struct finder *finder, gt_id row, const struct gt_touch *touch, size_t at)
{
	const struct gt_use *use = &finder->uses.list.rows[row];
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
	struct gt_use *use = &finder->uses.list.rows[row];

	use->point = gt_clocks_give(&finder->clocks, use->shown.stream);
	if (gt_clocks_lost(&finder->clocks, use->process))
		return;
	for (size_t i = 0; i < use->count; i++) {
		const struct gt_touch *touch = &finder->uses.touches.rows[use->first + i];
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
	struct gt_use *use = &finder->uses.list.rows[row];
	const bool ordered = finder->trace->memory_calls.rows[use->shown.row].kind ==
	                     GT_MEMORY_CALL_ALLOCATE_ORDERED;
	struct reach reach;

	use->point = gt_clocks_give(&finder->clocks, ordered ? use->shown.stream : GT_NONE);
	reach = reach_of(finder, use, &finder->uses.touches.rows[use->first]);
	for (size_t i = reach.first; i < reach.end; i++) {
		struct cell *cell = &finder->cells.rows[i];

		if (cell->freed != GT_NONE)
			gt_clocks_order(&finder->clocks, use->point.slot,
			                finder->uses.list.rows[cell->freed].point.slot);
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
	struct gt_use *use = &finder->uses.list.rows[row];
	const gt_count kind = finder->trace->memory_calls.rows[use->shown.row].kind;
	const bool ordered = kind == GT_MEMORY_CALL_FREE_ORDERED;
	const bool lost = gt_clocks_lost(&finder->clocks, use->process);
	struct reach reach;

	use->point = gt_clocks_give(&finder->clocks, ordered ? use->shown.stream : GT_NONE);
	reach = reach_of(finder, use, &finder->uses.touches.rows[use->first]);
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
	const struct gt_use_step *left = a;
	const struct gt_use_step *right = b;

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

	gt_array_each(const struct gt_use, use, &finder->uses.list)
		want(trace, wanted, use->shown.stream);
	gt_array_each(const struct gt_sync, sync, &trace->syncs)
		want(trace, wanted, sync->stream);
	gt_clocks_init(&finder->clocks, trace, wanted);
	gt_array_free(wanted);
}

static void walk(struct finder *finder)
{
	gt_array_each(const struct gt_use_step, step, &finder->uses.steps) {
		switch (step->kind) {
		case GT_USE_STEP_SYNC:
			gt_clocks_sync(&finder->clocks, step->row);
			break;
		case GT_USE_STEP_ASK:
		case GT_USE_STEP_ASKED:
			gt_clocks_ask(&finder->clocks, &finder->trace->queries.rows[step->row],
			              step->kind == GT_USE_STEP_ASK);
			break;
		case GT_USE_STEP_FORGET:
			gt_clocks_forget(&finder->clocks, step->row);
			break;
		case GT_USE_STEP_MAKE:
			step_make(finder, step->row);
			break;
		case GT_USE_STEP_USE:
			step_use(finder, step->row);
			break;
		case GT_USE_STEP_FREE:
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

	gt_array_each(const struct gt_use, use, &finder->uses.list) {
		struct gt_node_use node = {use->shown, use->first, use->count};

		node.shown.node = node_of(finder->trace, &use->shown);
		if (node.shown.node < finder->trace->graph_nodes.count && use->count > 0)
			*gt_array_push(&uses) = node;
	}
	gt_graph_hazards_find(finder->hazards, finder->trace, uses.rows, uses.count,
	                      finder->uses.touches.rows);
	gt_array_free(uses.rows);
}

void gt_hazards_init(struct gt_hazards *hazards, const struct gt_trace *trace)
{
	struct finder finder = {.trace = trace, .hazards = hazards};

	*hazards = (struct gt_hazards){.cut_short = false};
	gt_uses_init(&finder.uses, trace);
	hazards->cover = finder.uses.cover;
	make_cells(&finder);
	init_clocks(&finder);
	if (finder.uses.steps.count > 1)
		qsort(finder.uses.steps.rows, finder.uses.steps.count,
		      sizeof(*finder.uses.steps.rows), by_time);
	walk(&finder);
	find_in_graphs(&finder);
	hazards->has_unclocked = finder.clocks.has_unclocked;
	for (gt_id i = 0; i < trace->processes.count; i++)
		hazards->has_lost |= gt_clocks_lost(&finder.clocks, i);
	gt_clocks_release(&finder.clocks);
	gt_uses_release(&finder.uses);
	gt_array_release(&finder.cells);
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

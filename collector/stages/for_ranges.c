/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "collector/stage.h"
#include "model/known.h"
#include "model/naming/operations.h"
#include "model/ranges/open.h"
#include "model/ranges/ranges.h"

/*
 * Finds work that threads did for ranges of other threads: for_range of API calls and of
 * frameworks' ranges, by the rules of docs/terms.md. A call or a range of a framework that lies in
 * a range of the program on its own thread belongs there, and is none of these.
 *
 * - By sequence number: an operation of PyTorch's backward pass has the number of the forward
 *   operation that it belongs to. It is for what is open, when it begins, on the thread that ran
 *   that. So is what lies between two of them that are for the same range.
 * - By time: for the innermost range of the program on the one other thread of the process that has
 *   any open.
 */

/* Bits of each range. */
enum {
	NAMED = 1,       /* by the program itself, not by a framework or library */
	NUMBERED = 2,    /* an operation of PyTorch with a sequence number */
	BACKWARD = 4,    /* an operation of backward */
	IN_NAMED = 8,    /* it or one around it is NAMED */
	IN_BACKWARD = 16 /* it or one around it is BACKWARD */
};

enum {
	MOST_STEPS = 1 << 8, /* past ranges that have ended; nothing real has as many in a row */
	MOST_OPEN = 1 << 12, /* ranges open at once on a thread */
};

/* Operations with a number in one process: the latest, and the latest on another thread than that. */
struct forward {
	gt_id latest;
	gt_id other;
};

/* An operation of backward began that is for a range of another thread. */
struct tie {
	gt_time at_ns;
	gt_id range;
};

/* From then on so many threads of a process have ranges of the program open. */
struct moment {
	gt_time at_ns;
	uint64_t sum; /* of their rows: the one's own where it is one */
	uint32_t threads;
};

struct process {
	uint32_t threads;
	struct gt_known numbers; /* rows of forwards by sequence number */
	gt_array(struct moment) moments;
};

struct thread {
	gt_array(struct tie) ties; /* in order of time */
};

struct finder {
	struct gt_trace *trace;
	struct gt_open_ranges open;
	uint8_t *bits;       /* by row of ranges */
	uint64_t *sequences; /* by row of ranges, of those that are NUMBERED */
	gt_id *forward_by;   /* by row of ranges: thread of the forward operation; GT_NONE: none */
	gt_array(struct forward) forwards;
	struct process *processes;
	struct thread *threads;
};

/* The range that something was done for. */
struct found {
	gt_id range;
	uint32_t flags; /* GT_BY_TIME, GT_UNTOLD */
};

/* The process of a thread; NULL: it has no other threads that could work for each other. */
static struct process *process_of(const struct finder *finder, gt_id thread)
{
	const gt_id process = gt_trace_thread_process(finder->trace, thread);

	return process < finder->trace->processes.count && finder->processes[process].threads > 1
	               ? &finder->processes[process]
	               : NULL;
}

/* The next range around one on its thread that is open at a moment; what is around begins before. */
static gt_id around(const struct finder *finder, gt_id range, gt_time at_ns)
{
	const struct gt_range *rows = finder->trace->ranges.rows;

	for (size_t i = 0; i < MOST_STEPS; i++) {
		const gt_id parent = rows[range].parent;

		if (parent >= range)
			return GT_NONE;
		if (gt_range_end(&rows[parent]) > at_ns)
			return parent;
		range = parent;
	}
	return GT_NONE;
}

/* ---- what each range is ---- */

static void read_range(struct finder *finder, gt_id row)
{
	const struct gt_trace *trace = finder->trace;
	const struct gt_range *range = &trace->ranges.rows[row];
	const gt_id outer = around(finder, row, range->start_ns);
	const char *domain = range->domain < trace->domains.count
	                             ? gt_trace_text(trace, trace->domains.rows[range->domain].name)
	                             : "";
	const struct gt_operation operation =
		gt_operation_of(domain, gt_trace_text(trace, range->text));
	uint8_t bits = outer == GT_NONE ? 0 : finder->bits[outer] & (IN_NAMED | IN_BACKWARD);

	if (operation.kind == GT_OPERATION_NONE && !gt_domain_is_library(domain))
		bits |= NAMED | IN_NAMED;
	if (operation.kind == GT_OPERATION_OP && operation.direction == GT_DIRECTION_BACKWARD)
		bits |= BACKWARD | IN_BACKWARD;
	if (operation.kind == GT_OPERATION_OP && operation.numbered)
		bits |= NUMBERED;
	finder->bits[row] = bits;
	finder->sequences[row] = operation.sequence;
}

static void read_ranges(struct finder *finder)
{
	for (gt_id i = 0; i < finder->trace->ranges.count; i++)
		if (process_of(finder, finder->trace->ranges.rows[i].thread))
			read_range(finder, i);
}

/* ---- by sequence number ---- */

static void see_forward(struct finder *finder, struct process *process, gt_id row)
{
	const struct gt_range *rows = finder->trace->ranges.rows;
	struct forward *forward;
	gt_id place;

	if (gt_known_is_new(&process->numbers, finder->sequences[row], finder->forwards.count,
	                    &place))
		*gt_array_push(&finder->forwards) = (struct forward){GT_NONE, GT_NONE};
	forward = &finder->forwards.rows[place];
	if (forward->latest != GT_NONE && rows[forward->latest].thread != rows[row].thread)
		forward->other = forward->latest;
	forward->latest = row;
}

/*
 * Numbers are each thread's own. An operation called on a thread that runs backward may have any:
 * it counts as forward, as checkpoints run it once more, but not for the same thread.
 */
static gt_id forward_thread(const struct finder *finder, struct process *process, gt_id row)
{
	const struct gt_range *rows = finder->trace->ranges.rows;
	const gt_id place = gt_known_find(&process->numbers, finder->sequences[row]);
	gt_id forward;

	if (place == GT_NONE)
		return GT_NONE;
	forward = finder->forwards.rows[place].latest;
	if (rows[forward].thread == rows[row].thread && finder->bits[forward] & IN_BACKWARD)
		forward = finder->forwards.rows[place].other;
	if (forward == GT_NONE || rows[forward].thread == rows[row].thread)
		return GT_NONE;
	return rows[forward].thread;
}

/*
 * The engine's range around an operation has no number: it goes with the first inside. One with a
 * number of its own does not, also where that is of no operation that was recorded.
 */
static void tie(struct finder *finder, gt_id row, gt_id thread)
{
	const struct gt_range *range = &finder->trace->ranges.rows[row];
	const gt_id other = gt_open_range(&finder->open, thread, range->start_ns);
	gt_id at = row;

	for (size_t i = 0; at != GT_NONE && i < MOST_OPEN; i++) {
		if (finder->forward_by[at] != GT_NONE || (at != row && finder->bits[at] & NUMBERED))
			break;
		finder->forward_by[at] = thread;
		at = around(finder, at, range->start_ns);
	}
	if (other != GT_NONE)
		*gt_array_push(&finder->threads[range->thread].ties) =
			(struct tie){range->start_ns, other};
}

static void tie_all(struct finder *finder)
{
	for (gt_id i = 0; i < finder->trace->ranges.count; i++) {
		const gt_id thread = finder->trace->ranges.rows[i].thread;
		struct process *process =
			finder->bits[i] & NUMBERED ? process_of(finder, thread) : NULL;
		gt_id other;

		if (!process)
			continue;
		if (!(finder->bits[i] & BACKWARD)) {
			see_forward(finder, process, i);
			continue;
		}
		other = forward_thread(finder, process, i);
		if (other != GT_NONE && !(finder->bits[i] & IN_NAMED))
			tie(finder, i, other);
	}
}

/* Between two operations of backward that are for the same range. */
static gt_id tied_between(const struct finder *finder, gt_id thread, gt_time at_ns)
{
	const struct thread *row = &finder->threads[thread];
	const size_t place = gt_count_up_to(&row->ties, &at_ns, gt_by_i64);

	if (place == 0 || place == row->ties.count ||
	    row->ties.rows[place - 1].range != row->ties.rows[place].range)
		return GT_NONE;
	return row->ties.rows[place].range;
}

/* ---- by time ---- */

/* A range of the program begins, or ends. */
struct edge {
	gt_time at_ns;
	gt_id process;
	gt_id thread;
	bool ends;
};

static int by_process_and_time(const void *a, const void *b)
{
	const struct edge *left = a;
	const struct edge *right = b;

	if (left->process != right->process)
		return left->process < right->process ? -1 : 1;
	return (left->at_ns > right->at_ns) - (left->at_ns < right->at_ns);
}

static struct edge *make_edges(const struct finder *finder, size_t *count)
{
	const struct gt_trace *trace = finder->trace;
	struct edge *edges = gt_allocate((2 * trace->ranges.count + 1) * sizeof(*edges));

	*count = 0;
	for (gt_id i = 0; i < trace->ranges.count; i++) {
		const struct gt_range *range = &trace->ranges.rows[i];
		const gt_time end_ns = gt_range_end(range);
		struct edge edge = {range->start_ns, GT_NONE, range->thread, false};

		if (!(finder->bits[i] & NAMED) || end_ns <= range->start_ns)
			continue;
		edge.process = gt_trace_thread_process(trace, range->thread);
		edges[(*count)++] = edge;
		edge.at_ns = end_ns;
		edge.ends = true;
		edges[(*count)++] = edge;
	}
	if (*count > 1)
		qsort(edges, *count, sizeof(*edges), by_process_and_time);
	return edges;
}

static void find_moments(struct finder *finder)
{
	const size_t threads = finder->trace->threads.count;
	int64_t *open = gt_allocate_zeroed(threads + 1, sizeof(*open)); /* ranges, by thread */
	size_t count;
	struct edge *edges = make_edges(finder, &count);
	struct moment now = {0};

	for (size_t i = 0; i < count; i++) {
		const struct edge *edge = &edges[i];
		const int64_t before = open[edge->thread];

		if (i == 0 || edges[i - 1].process != edge->process)
			now = (struct moment){0};
		open[edge->thread] += edge->ends ? -1 : 1;
		now.threads += (open[edge->thread] != 0) - (uint32_t)(before != 0);
		if (before == 0)
			now.sum += edge->thread;
		else if (open[edge->thread] == 0)
			now.sum -= edge->thread;
		now.at_ns = edge->at_ns;
		if (i + 1 == count || edges[i + 1].process != edge->process ||
		    edges[i + 1].at_ns != edge->at_ns)
			*gt_array_push(&finder->processes[edge->process].moments) = now;
	}
	gt_array_free(edges);
	gt_array_free(open);
}

static struct found by_time(const struct finder *finder, gt_id thread, gt_time at_ns)
{
	const struct process *process = process_of(finder, thread);
	const size_t place = gt_count_up_to(&process->moments, &at_ns, gt_by_i64);
	const struct moment *moment = place > 0 ? &process->moments.rows[place - 1] : NULL;
	gt_id range;

	if (!moment || moment->threads == 0)
		return (struct found){GT_NONE, 0};
	if (moment->threads > 1)
		return (struct found){GT_NONE, GT_UNTOLD};
	range = gt_open_range(&finder->open, (gt_id)moment->sum, at_ns);
	for (size_t i = 0; range != GT_NONE && !(finder->bits[range] & NAMED); i++)
		range = i < MOST_OPEN ? around(finder, range, at_ns) : GT_NONE;
	if (range == GT_NONE || moment->sum == thread)
		return (struct found){GT_NONE, 0};
	return (struct found){range, GT_BY_TIME};
}

/* ---- both ---- */

static struct found find(const struct finder *finder, gt_id thread, gt_time at_ns)
{
	const gt_id range = tied_between(finder, thread, at_ns);

	return range == GT_NONE ? by_time(finder, thread, at_ns) : (struct found){range, 0};
}

static struct found find_for_range(const struct finder *finder, gt_id row)
{
	const struct gt_range *rows = finder->trace->ranges.rows;
	const gt_time at_ns = rows[row].start_ns;
	const gt_id outer = around(finder, row, at_ns);
	gt_id range = GT_NONE;

	if (outer != GT_NONE && rows[outer].for_range != GT_NONE &&
	    gt_range_end(&rows[rows[outer].for_range]) > at_ns)
		return (struct found){rows[outer].for_range, rows[outer].flags & GT_BY_TIME};
	if (finder->forward_by[row] != GT_NONE)
		range = gt_open_range(&finder->open, finder->forward_by[row], at_ns);
	return range == GT_NONE ? find(finder, rows[row].thread, at_ns) : (struct found){range, 0};
}

static void tell_ranges(struct finder *finder)
{
	for (gt_id i = 0; i < finder->trace->ranges.count; i++) {
		struct gt_range *range = &finder->trace->ranges.rows[i];
		struct found found;

		if (finder->bits[i] & IN_NAMED || !process_of(finder, range->thread))
			continue;
		found = find_for_range(finder, i);
		range->for_range = found.range;
		range->flags |= found.flags;
	}
}

static void tell_calls(struct finder *finder)
{
	gt_array_each(struct gt_api_call, call, &finder->trace->api_calls) {
		struct found found;

		if (call->range < finder->trace->ranges.count || !process_of(finder, call->thread))
			continue;
		found = find(finder, call->thread, call->start_ns);
		call->for_range = found.range;
		call->flags |= found.flags;
	}
}

/* Memory that a pool handed out has no API call. */
static void tell_blocks(struct finder *finder)
{
	gt_array_each(struct gt_pool_block, block, &finder->trace->pool_blocks) {
		struct found found;

		if (block->range < finder->trace->ranges.count ||
		    !process_of(finder, block->thread))
			continue;
		found = find(finder, block->thread, block->start_ns);
		block->range = found.range;
		block->flags |= found.flags;
	}
}

/* ---- all of it ---- */

static bool init(struct finder *finder)
{
	const struct gt_trace *trace = finder->trace;
	const size_t count = trace->ranges.count;
	bool any = false;

	finder->processes =
		gt_allocate_zeroed(trace->processes.count + 1, sizeof(*finder->processes));
	gt_array_each(const struct gt_thread, thread, &trace->threads)
		if (thread->process < trace->processes.count)
			any = ++finder->processes[thread->process].threads > 1 || any;
	if (count == 0 || !any)
		return false;
	finder->threads = gt_allocate_zeroed(trace->threads.count + 1, sizeof(*finder->threads));
	finder->bits = gt_allocate_zeroed(count + 1, sizeof(*finder->bits));
	finder->sequences = gt_allocate_zeroed(count + 1, sizeof(*finder->sequences));
	finder->forward_by = gt_allocate(count * sizeof(*finder->forward_by));
	memset(finder->forward_by, 0xff, count * sizeof(*finder->forward_by));
	gt_open_ranges_init(&finder->open, trace);
	return true;
}

static void release(struct finder *finder)
{
	const struct gt_trace *trace = finder->trace;

	for (size_t i = 0; i < trace->processes.count; i++) {
		gt_known_release(&finder->processes[i].numbers);
		gt_array_release(&finder->processes[i].moments);
	}
	for (size_t i = 0; finder->threads && i < trace->threads.count; i++)
		gt_array_release(&finder->threads[i].ties);
	gt_array_release(&finder->forwards);
	gt_open_ranges_release(&finder->open);
	gt_array_free(finder->processes);
	gt_array_free(finder->threads);
	gt_array_free(finder->bits);
	gt_array_free(finder->sequences);
	gt_array_free(finder->forward_by);
}

static int run(struct gt_collection *collection, struct gt_error *err)
{
	struct finder finder = {.trace = collection->trace};

	(void)err;
	if (init(&finder)) {
		read_ranges(&finder);
		tie_all(&finder);
		find_moments(&finder);
		tell_ranges(&finder);
		tell_calls(&finder);
		tell_blocks(&finder);
	}
	release(&finder);
	return 0;
}

const struct gt_stage gt_stage_for_ranges = {.name = "for_ranges", .run = run};

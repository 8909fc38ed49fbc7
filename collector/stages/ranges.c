/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collector/decode/rows.h"
#include "collector/nvtx/payloads.h"
#include "collector/nvtx/range_walk.h"
#include "collector/stage.h"
#include "format/ranges.h"
#include "model/work/pauses.h"

/*
 * Ranges and marks of NVTX from what a thread pushed and popped, started, ended and marked. Each
 * thread's events are walked once, in the order of time and, where that is the same, of the
 * thread's own count. A push tells its level in its domain, and so does a pop, so that a lost one
 * spoils no other. One whose partner is missing is counted, not guessed.
 *
 * Ranges that are open on a thread are a list in the order in which they began, of all domains: its
 * last is the parent of the next, and where API calls are made and blocks of pools handed out.
 */

/* An event of a thread of one capture. */
struct step {
	gt_time time_ns;
	gt_id thread;
	uint32_t order;
	uint32_t place; /* in the capture's raw_range_begins, or raw_range_ends */
	bool ends;
};

static int by_thread(const void *a, const void *b)
{
	const struct step *left = a;
	const struct step *right = b;

	if (left->thread != right->thread)
		return left->thread < right->thread ? -1 : 1;
	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return (left->order > right->order) - (left->order < right->order);
}

/* A range or mark that the program told of later was not open on the thread that told it. */
static bool is_later(uint32_t kind)
{
	return kind == GT_RANGE_STEP_LATER || kind == GT_RANGE_STEP_LATER_MARK;
}

static void finish(struct gt_range_walk *walk, gt_id row, const struct gt_record_range_end *end)
{
	struct gt_range *range = &walk->trace->ranges.rows[row];
	gt_time end_ns = (gt_time)end->time_ns;

	/* Damage alone makes them longer than all that can be added up. */
	if (end_ns < range->start_ns || (uint64_t)(end_ns - range->start_ns) > walk->work_left_ns)
		end_ns = range->start_ns;
	walk->work_left_ns -= (uint64_t)(end_ns - range->start_ns);
	range->end_ns = end_ns;
	range->end_thread = gt_row_of_thread(walk->trace, walk->capture, end->thread);
	range->flags = (range->flags & ~(uint32_t)GT_UNFINISHED) | (end->flags & GT_SALVAGED);
	range->data =
		gt_payloads_of(walk->payloads,
	                       &(struct gt_payload_event){end->thread, end->order, end->time_ns},
	                       range->data, &range->text);
}

/* ---- what was started and ended by its id, on whatever threads ---- */

static void pair_ids(struct gt_range_walk *walk)
{
	struct gt_capture *capture = walk->capture;
	struct gt_known ids = {0};

	for (size_t i = 0; i < capture->raw_range_begins.count; i++) {
		const struct gt_record_range_begin *begin = &capture->raw_range_begins.rows[i];

		if (gt_range_has_id(begin->kind) && gt_known_find(&ids, begin->id) == GT_NONE)
			gt_known_add(&ids, begin->id, walk->rows[i]);
	}
	gt_array_each(const struct gt_record_range_end, end, &capture->raw_range_ends) {
		gt_id row;

		if (!gt_range_has_id(end->kind))
			continue;
		row = gt_known_find(&ids, end->id);
		if (row != GT_NONE && walk->trace->ranges.rows[row].flags & GT_UNFINISHED)
			finish(walk, row, end);
		else
			walk->unopened++;
	}
	gt_known_release(&ids);
}

/* ---- what is open on the thread at hand ---- */

static void open_range(struct gt_range_walk *walk, gt_id row)
{
	struct gt_range_link *link = &walk->links[row];

	link->open = true;
	link->before = walk->last;
	link->after = GT_NONE;
	if (walk->last != GT_NONE)
		walk->links[walk->last].after = row;
	walk->last = row;
}

static void close_range(struct gt_range_walk *walk, gt_id row)
{
	struct gt_range_link *link = &walk->links[row];

	if (!link->open)
		return;
	link->open = false;
	if (link->before != GT_NONE)
		walk->links[link->before].after = link->after;
	if (link->after != GT_NONE)
		walk->links[link->after].before = link->before;
	else
		walk->last = link->before;
}

/* The last that is open; what another thread has ended is taken out when it comes to that. */
static gt_id innermost(struct gt_range_walk *walk, gt_time now_ns)
{
	while (walk->last != GT_NONE) {
		const struct gt_range *range = &walk->trace->ranges.rows[walk->last];

		if (range->kind != GT_RANGE_STARTED || range->flags & GT_UNFINISHED ||
		    range->end_ns > now_ns)
			break;
		close_range(walk, walk->last);
	}
	return walk->last;
}

/* ---- stacks of domains ---- */

static gt_id *top_of(struct gt_range_walk *walk, uint32_t domain)
{
	const uint64_t key = (uint64_t)walk->life << 32 | domain;
	gt_id place = gt_known_find(&walk->tops, key);

	if (place == GT_NONE) {
		place = (gt_id)walk->top_rows.count;
		*gt_array_push(&walk->top_rows) = GT_NONE;
		gt_known_add(&walk->tops, key, place);
	}
	return &walk->top_rows.rows[place];
}

/* The range on top has ended somehow: its pop is lost. */
static void tear(struct gt_range_walk *walk, gt_id *top)
{
	walk->torn++;
	close_range(walk, *top);
	*top = walk->links[*top].below;
}

static void push(struct gt_range_walk *walk, gt_id row, const struct gt_record_range_begin *begin)
{
	gt_id *top = top_of(walk, begin->domain);

	while (*top != GT_NONE && begin->level != GT_LEVEL_UNKNOWN &&
	       walk->links[*top].level >= begin->level)
		tear(walk, top);
	walk->links[row].below = *top;
	walk->links[row].level = begin->level;
	*top = row;
}

static void pop(struct gt_range_walk *walk, const struct gt_record_range_end *end)
{
	gt_id *top = top_of(walk, end->domain);
	gt_id row;

	if (end->kind == GT_RANGE_STEP_EMPTY) {
		walk->unopened++;
		return;
	}
	while (*top != GT_NONE && end->level != GT_LEVEL_UNKNOWN &&
	       walk->links[*top].level > end->level)
		tear(walk, top);
	row = *top;
	if (row != GT_NONE && walk->links[row].level == end->level) {
		*top = walk->links[row].below;
		finish(walk, row, end);
		close_range(walk, row);
	} else if (end->level == GT_LEVEL_UNKNOWN || walk->was_paused) {
		walk->unopened++;
	} else {
		walk->torn++; /* its push is lost */
	}
}

/* ---- the walk ---- */

static void begin_step(struct gt_range_walk *walk, const struct step *step)
{
	const struct gt_record_range_begin *begin =
		&walk->capture->raw_range_begins.rows[step->place];
	const gt_id row = walk->rows[step->place];
	const gt_id parent = innermost(walk, step->time_ns);

	if (begin->kind == GT_RANGE_STEP_MARK) {
		walk->trace->marks.rows[row].range = parent;
		return;
	}

	struct gt_range *range = &walk->trace->ranges.rows[row];

	if (begin->kind != GT_RANGE_STEP_ID)
		push(walk, row, begin);
	/* A range that was torn just now is no parent. */
	range->parent = innermost(walk, step->time_ns);
	if (range->parent != GT_NONE)
		range->depth = walk->trace->ranges.rows[range->parent].depth + 1;
	open_range(walk, row);
}

static void end_step(struct gt_range_walk *walk, const struct step *step)
{
	const struct gt_record_range_end *end = &walk->capture->raw_range_ends.rows[step->place];

	/* Those that are ended by their ids are found by their ends' times. */
	if (end->kind != GT_RANGE_STEP_ID)
		pop(walk, end);
}

/* Places the deeds of a thread before its next event, or after its last. */
static void place_deeds(struct gt_range_walk *walk, gt_time until_ns)
{
	struct gt_deeds *deeds = walk->deeds;

	for (;;) {
		struct gt_deeds *first = NULL;
		gt_id range;

		for (size_t i = 0; i < GT_DEEDS; i++)
			if (deeds[i].next < deeds[i].end &&
			    (!first || gt_deed_time(gt_next_deed(&deeds[i])) <
			                       gt_deed_time(gt_next_deed(first))))
				first = &deeds[i];
		if (!first || gt_deed_time(gt_next_deed(first)) >= until_ns)
			return;
		range = innermost(walk, gt_deed_time(gt_next_deed(first)));
		memcpy(gt_next_deed(first) + first->range, &range, sizeof(range));
		first->next++;
	}
}

static void begin_thread(struct gt_range_walk *walk, gt_id thread)
{
	for (size_t i = 0; i < GT_DEEDS; i++) {
		struct gt_deeds *deeds = &walk->deeds[i];
		/* Where the thread is one that only a range's end names it did nothing else. */
		const bool known = thread < deeds->threads;

		deeds->next = known && thread ? deeds->ends[thread - 1] : 0;
		deeds->end = known ? deeds->ends[thread] : 0;
	}
	walk->last = GT_NONE;
	walk->life++;
	walk->was_paused = false;
	walk->pause = gt_pause_next(walk->trace, walk->capture->process, INT64_MIN);
}

/*
 * A range that was open when recording was paused may have ended before it went on, and other
 * ranges may be open at their levels: nothing is known to be open any more.
 */
static void pass_pauses(struct gt_range_walk *walk, gt_time until_ns)
{
	while (walk->pause && walk->pause->start_ns < until_ns) {
		place_deeds(walk, walk->pause->start_ns);
		walk->last = GT_NONE;
		walk->life++;
		walk->was_paused = true;
		walk->pause =
			gt_pause_next(walk->trace, walk->pause->process, walk->pause->start_ns + 1);
	}
}

/* Then it is known to have been open until then. */
static void end_with_pauses(struct gt_range_walk *walk)
{
	for (size_t i = 0; i < walk->capture->raw_range_begins.count; i++) {
		struct gt_range *range;
		const struct gt_pause *pause;

		if (walk->capture->raw_range_begins.rows[i].kind == GT_RANGE_STEP_MARK ||
		    walk->capture->raw_range_begins.rows[i].kind == GT_RANGE_STEP_LATER_MARK)
			continue;
		range = &walk->trace->ranges.rows[walk->rows[i]];
		if (!(range->flags & GT_UNFINISHED))
			continue;
		pause = gt_pause_next(walk->trace, walk->capture->process, range->start_ns);
		if (pause) {
			range->end_ns = pause->start_ns;
			range->flags |= GT_INTERRUPTED;
		}
	}
}

static void walk_thread(struct gt_range_walk *walk, const struct step *steps, size_t count)
{
	begin_thread(walk, steps[0].thread);
	for (size_t i = 0; i < count; i++) {
		pass_pauses(walk, steps[i].time_ns);
		place_deeds(walk, steps[i].time_ns);
		/* Each thread counts from 1: this one has the id of one that is gone. */
		if (i > 0 && steps[i].order <= steps[i - 1].order) {
			walk->last = GT_NONE;
			walk->life++;
		}
		if (steps[i].ends)
			end_step(walk, &steps[i]);
		else
			begin_step(walk, &steps[i]);
	}
	pass_pauses(walk, INT64_MAX);
	place_deeds(walk, INT64_MAX);
}

static struct step *make_steps(struct gt_range_walk *walk, size_t *count)
{
	struct gt_capture *capture = walk->capture;
	struct step *steps =
		gt_allocate((capture->raw_range_begins.count + capture->raw_range_ends.count + 1) *
	                    sizeof(*steps));

	*count = 0;
	for (size_t i = 0; i < capture->raw_range_begins.count; i++) {
		const struct gt_record_range_begin *begin = &capture->raw_range_begins.rows[i];

		if (is_later(begin->kind))
			continue;
		steps[(*count)++] = (struct step){
			.time_ns = (gt_time)begin->time_ns,
			.thread = gt_row_of_thread(walk->trace, capture, begin->thread),
			.order = begin->order,
			.place = (uint32_t)i,
		};
	}
	for (size_t i = 0; i < capture->raw_range_ends.count; i++) {
		const struct gt_record_range_end *end = &capture->raw_range_ends.rows[i];

		if (is_later(end->kind))
			continue;
		steps[(*count)++] = (struct step){
			.time_ns = (gt_time)end->time_ns,
			.thread = gt_row_of_thread(walk->trace, capture, end->thread),
			.order = end->order,
			.place = (uint32_t)i,
			.ends = true,
		};
	}
	if (*count > 1)
		qsort(steps, *count, sizeof(*steps), by_thread);
	return steps;
}

static void add_ledger(struct gt_range_walk *walk)
{
	const gt_id process = walk->capture->process;

	if (walk->capture->raw_range_begins.count + walk->capture->raw_range_ends.count == 0)
		return;
	gt_trace_add_ledger(walk->trace, process, "ranges_torn", walk->torn);
	gt_trace_add_ledger(walk->trace, process, "ranges_unopened", walk->unopened);
}

static void walk_capture(struct gt_range_walk *walk)
{
	size_t count;
	struct step *steps;

	walk->torn = walk->unopened = 0;
	pair_ids(walk);
	steps = make_steps(walk, &count);
	for (size_t first = 0; first < count;) {
		size_t next = first;

		while (next < count && steps[next].thread == steps[first].thread)
			next++;
		walk_thread(walk, steps + first, next - first);
		first = next;
	}
	if (walk->trace->pauses.count > 0)
		end_with_pauses(walk);
	free(steps);
}

static void remark_payloads(struct gt_collection *collection, const struct gt_capture *capture,
                            uint64_t left_out)
{
	if (left_out)
		gt_collection_note(collection, capture->process, "ranges",
		                   "payloads of %llu ranges and marks are not shown: their schemas "
		                   "make far more of them than they are",
		                   (unsigned long long)left_out);
}

static int run(struct gt_collection *collection, struct gt_error *err)
{
	struct gt_range_walk walk = {.trace = collection->trace, .work_left_ns = GT_MOST_WORK_NS};

	(void)err;
	gt_range_init_sources(&walk, collection);
	gt_range_make_rows(&walk);
	gt_range_fill_rows(&walk);
	gt_make_deeds(&walk);
	for (size_t i = 0; i < collection->captures.count; i++) {
		walk.capture = &collection->captures.rows[i];
		walk.rows = walk.sources[i].rows;
		walk.payloads = &walk.sources[i].payloads;
		walk_capture(&walk);
		/* A look leaves out the begins of long ago. */
		if (!collection->look)
			add_ledger(&walk);
		remark_payloads(collection, walk.capture, walk.payloads->left_out);
	}
	gt_range_release_sources(&walk, collection->captures.count);
	gt_known_release(&walk.tops);
	gt_array_release(&walk.top_rows);
	gt_array_release(&walk.ranges);
	gt_array_release(&walk.marks);
	free(walk.links);
	for (size_t i = 0; i < GT_DEEDS; i++) {
		gt_array_free(walk.deeds[i].by_thread);
		gt_array_free(walk.deeds[i].ends);
	}
	return 0;
}

const struct gt_stage gt_stage_ranges = {.name = "ranges", .run = run};

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "collector/decode/rows.h"
#include "collector/nvtx/memory.h"
#include "collector/nvtx/names.h"
#include "collector/nvtx/payloads.h"
#include "collector/stage.h"
#include "format/ranges.h"

/*
 * Ranges and marks of NVTX from what a thread pushed and popped, started, ended and marked. Each
 * thread's events are walked once, in the order of time and, where that is the same, of the
 * thread's own count. A push tells its level in its domain, and so does a pop, so that a lost one
 * spoils no other. One whose partner is missing is counted, not guessed.
 *
 * Ranges that are open on a thread are a list in the order in which they began, of all domains: its
 * last is the parent of the next, and where API calls are made and blocks of pools handed out.
 */

/* A begin of one capture, on its way to its row. */
struct start {
	gt_time time_ns;
	gt_id thread;
	uint32_t order;
	uint32_t capture;
	uint32_t begin; /* in the capture's raw_range_begins */
};

/* An event of a thread of one capture. */
struct step {
	gt_time time_ns;
	gt_id thread;
	uint32_t order;
	uint32_t place; /* in the capture's raw_range_begins, or raw_range_ends */
	bool ends;
};

/* Links of open ranges, by row of ranges. */
struct link {
	gt_id before; /* in the list of the thread; GT_NONE: it is the first */
	gt_id after;
	gt_id below; /* pushed before it in its domain, and still open */
	uint32_t level;
	bool open;
};

struct source;

/* A table in the order of time whose rows are things that threads did, each in a range. */
struct deeds {
	uint8_t *rows; /* they begin with start_ns */
	size_t row_size;
	size_t count;
	size_t thread; /* offsets of columns */
	size_t range;
	size_t threads;   /* of the trace when they were sorted */
	size_t *ends;     /* by thread: where those of it end in by_thread */
	gt_id *by_thread; /* rows, by thread and time */
	size_t next;      /* of those of the thread at hand */
	size_t end;
};

enum { CALLS, BLOCKS, DEEDS };

struct walk {
	struct gt_trace *trace;
	struct gt_capture *capture;
	struct source *sources;        /* by capture */
	struct gt_payloads *payloads;  /* of the capture's source */
	gt_array(struct start) ranges; /* of all captures; their places are the rows */
	gt_array(struct start) marks;
	struct link *links;
	const gt_id *rows;    /* of the capture's source */
	struct gt_known tops; /* what was pushed last: places of top_rows by life and domain */
	gt_array(gt_id) top_rows;
	uint32_t life; /* of the thread at hand: its id may be another thread's later */
	gt_id last;    /* that is open on it and began last */
	uint64_t torn;
	uint64_t unopened;
	uint64_t work_left_ns; /* of GT_MOST_WORK_NS */
	struct deeds deeds[DEEDS];
};

/* ---- in which order ---- */

static int by_time(const void *a, const void *b)
{
	const struct start *left = a;
	const struct start *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	if (left->thread != right->thread)
		return left->thread < right->thread ? -1 : 1;
	return (left->order > right->order) - (left->order < right->order);
}

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

static bool is_mark(const struct gt_record_range_begin *begin)
{
	return begin->kind == GT_RANGE_STEP_MARK || begin->kind == GT_RANGE_STEP_LATER_MARK;
}

/* A range or mark that the program told of later was not open on the thread that told it. */
static bool is_later(uint32_t kind)
{
	return kind == GT_RANGE_STEP_LATER || kind == GT_RANGE_STEP_LATER_MARK;
}

static bool has_id(uint32_t kind)
{
	return kind == GT_RANGE_STEP_ID || kind == GT_RANGE_STEP_LATER;
}

static void add_starts(struct walk *walk, uint32_t number, struct gt_capture *capture)
{
	for (size_t i = 0; i < capture->raw_range_begins.count; i++) {
		const struct gt_record_range_begin *begin = &capture->raw_range_begins.rows[i];
		const struct start start = {
			.time_ns = (gt_time)begin->time_ns,
			.thread = gt_row_of_thread(walk->trace, capture, begin->thread),
			.order = begin->order,
			.capture = number,
			.begin = (uint32_t)i,
		};

		if (is_mark(begin))
			*gt_array_push(&walk->marks) = start;
		else
			*gt_array_push(&walk->ranges) = start;
	}
}

static void sort(struct start *starts, size_t count)
{
	if (count > 1)
		qsort(starts, count, sizeof(*starts), by_time);
}

/* ---- rows ---- */

static gt_string text_of(struct gt_nvtx_names *names, const struct gt_record_range_begin *begin)
{
	return begin->registered ? gt_nvtx_registered(names, begin->registered)
	                         : gt_capture_string(names->capture, begin->text);
}

static struct gt_range range_of(struct gt_nvtx_names *names,
                                const struct gt_record_range_begin *begin, gt_id thread)
{
	return (struct gt_range){
		.start_ns = (gt_time)begin->time_ns,
		.payload = begin->payload,
		.thread = thread,
		.end_thread = GT_NONE,
		.domain = gt_nvtx_domain(names, begin->domain),
		.parent = GT_NONE,
		.for_range = GT_NONE,
		.text = text_of(names, begin),
		.category = gt_nvtx_category(names, begin->domain, begin->category),
		.payload_type = begin->payload_type,
		.color = begin->color,
		.kind = has_id(begin->kind) ? GT_RANGE_STARTED : GT_RANGE_PUSHED,
		.flags = begin->flags | GT_UNFINISHED,
	};
}

static struct gt_mark mark_of(struct gt_nvtx_names *names,
                              const struct gt_record_range_begin *begin, gt_id thread)
{
	return (struct gt_mark){
		.start_ns = (gt_time)begin->time_ns,
		.end_ns = (gt_time)begin->time_ns,
		.payload = begin->payload,
		.thread = thread,
		.domain = gt_nvtx_domain(names, begin->domain),
		.range = GT_NONE,
		.text = text_of(names, begin),
		.category = gt_nvtx_category(names, begin->domain, begin->category),
		.payload_type = begin->payload_type,
		.color = begin->color,
		.flags = begin->flags,
	};
}

/* State of one capture while rows are filled. */
struct source {
	struct gt_nvtx_names names;
	struct gt_payloads payloads;
	gt_id *rows; /* by raw_range_begins: of ranges or marks */
};

static gt_string data_of(struct source *source, const struct gt_record_range_begin *begin,
                         gt_string *message)
{
	const struct gt_payload_event event = {begin->thread, begin->order, begin->time_ns};

	return gt_payloads_of(&source->payloads, &event, 0, message);
}

static void fill_range(struct walk *walk, gt_id row)
{
	const struct start *start = &walk->ranges.rows[row];
	struct source *source = &walk->sources[start->capture];
	const struct gt_record_range_begin *begin =
		&source->names.capture->raw_range_begins.rows[start->begin];
	struct gt_range range = range_of(&source->names, begin, start->thread);

	source->rows[start->begin] = row;
	range.data = data_of(source, begin, &range.text);
	walk->trace->ranges.rows[row] = range;
}

static void fill_mark(struct walk *walk, gt_id row)
{
	const struct start *start = &walk->marks.rows[row];
	struct source *source = &walk->sources[start->capture];
	const struct gt_record_range_begin *begin =
		&source->names.capture->raw_range_begins.rows[start->begin];
	struct gt_mark mark = mark_of(&source->names, begin, start->thread);

	source->rows[start->begin] = row;
	mark.data = data_of(source, begin, &mark.text);
	walk->trace->marks.rows[row] = mark;
}

static void fill_rows(struct walk *walk)
{
	for (size_t i = 0; i < walk->ranges.count; i++)
		fill_range(walk, (gt_id)i);
	for (size_t i = 0; i < walk->marks.count; i++)
		fill_mark(walk, (gt_id)i);
}

static void finish(struct walk *walk, gt_id row, const struct gt_record_range_end *end)
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

static void pair_ids(struct walk *walk)
{
	struct gt_capture *capture = walk->capture;
	struct gt_known ids = {0};

	for (size_t i = 0; i < capture->raw_range_begins.count; i++) {
		const struct gt_record_range_begin *begin = &capture->raw_range_begins.rows[i];

		if (has_id(begin->kind) && gt_known_find(&ids, begin->id) == GT_NONE)
			gt_known_add(&ids, begin->id, walk->rows[i]);
	}
	gt_array_each(const struct gt_record_range_end, end, &capture->raw_range_ends) {
		gt_id row;

		if (!has_id(end->kind))
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

static void open_range(struct walk *walk, gt_id row)
{
	struct link *link = &walk->links[row];

	link->open = true;
	link->before = walk->last;
	link->after = GT_NONE;
	if (walk->last != GT_NONE)
		walk->links[walk->last].after = row;
	walk->last = row;
}

static void close_range(struct walk *walk, gt_id row)
{
	struct link *link = &walk->links[row];

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
static gt_id innermost(struct walk *walk, gt_time now_ns)
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

static gt_id *top_of(struct walk *walk, uint32_t domain)
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
static void tear(struct walk *walk, gt_id *top)
{
	walk->torn++;
	close_range(walk, *top);
	*top = walk->links[*top].below;
}

static void push(struct walk *walk, gt_id row, const struct gt_record_range_begin *begin)
{
	gt_id *top = top_of(walk, begin->domain);

	while (*top != GT_NONE && begin->level != GT_LEVEL_UNKNOWN &&
	       walk->links[*top].level >= begin->level)
		tear(walk, top);
	walk->links[row].below = *top;
	walk->links[row].level = begin->level;
	*top = row;
}

static void pop(struct walk *walk, const struct gt_record_range_end *end)
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
	} else if (end->level == GT_LEVEL_UNKNOWN) {
		walk->unopened++;
	} else {
		walk->torn++; /* its push is lost */
	}
}

/* ---- the walk ---- */

static void begin_step(struct walk *walk, const struct step *step)
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

static void end_step(struct walk *walk, const struct step *step)
{
	const struct gt_record_range_end *end = &walk->capture->raw_range_ends.rows[step->place];

	/* Those that are ended by their ids are found by their ends' times. */
	if (end->kind != GT_RANGE_STEP_ID)
		pop(walk, end);
}

static gt_time time_of(const uint8_t *row)
{
	gt_time start_ns;

	memcpy(&start_ns, row, sizeof(start_ns));
	return start_ns;
}

static uint8_t *next_deed(const struct deeds *deeds)
{
	return deeds->rows + deeds->by_thread[deeds->next] * deeds->row_size;
}

/* Places the deeds of a thread before its next event, or after its last. */
static void place_deeds(struct walk *walk, gt_time until_ns)
{
	struct deeds *deeds = walk->deeds;

	for (;;) {
		struct deeds *first = NULL;
		gt_id range;

		for (size_t i = 0; i < DEEDS; i++)
			if (deeds[i].next < deeds[i].end &&
			    (!first || time_of(next_deed(&deeds[i])) < time_of(next_deed(first))))
				first = &deeds[i];
		if (!first || time_of(next_deed(first)) >= until_ns)
			return;
		range = innermost(walk, time_of(next_deed(first)));
		memcpy(next_deed(first) + first->range, &range, sizeof(range));
		first->next++;
	}
}

static void begin_thread(struct walk *walk, gt_id thread)
{
	for (size_t i = 0; i < DEEDS; i++) {
		struct deeds *deeds = &walk->deeds[i];
		/* Where the thread is one that only a range's end names it did nothing else. */
		const bool known = thread < deeds->threads;

		deeds->next = known && thread ? deeds->ends[thread - 1] : 0;
		deeds->end = known ? deeds->ends[thread] : 0;
	}
	walk->last = GT_NONE;
	walk->life++;
}

static void walk_thread(struct walk *walk, const struct step *steps, size_t count)
{
	begin_thread(walk, steps[0].thread);
	for (size_t i = 0; i < count; i++) {
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
	place_deeds(walk, INT64_MAX);
}

static struct step *make_steps(struct walk *walk, size_t *count)
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

static void add_ledger(struct walk *walk)
{
	const gt_id process = walk->capture->process;

	if (walk->capture->raw_range_begins.count + walk->capture->raw_range_ends.count == 0)
		return;
	gt_trace_add_ledger(walk->trace, process, "ranges_torn", walk->torn);
	gt_trace_add_ledger(walk->trace, process, "ranges_unopened", walk->unopened);
}

static void walk_capture(struct walk *walk)
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
	add_ledger(walk);
	free(steps);
}

static gt_id thread_of(const struct deeds *deeds, size_t row)
{
	gt_id thread;

	memcpy(&thread, deeds->rows + row * deeds->row_size + deeds->thread, sizeof(thread));
	return thread;
}

/* Those of each thread in the order of time, which the table has. */
static void sort_deeds(struct deeds *deeds, size_t threads)
{
	size_t sum = 0;

	deeds->threads = threads;
	deeds->ends = gt_allocate((threads + 1) * sizeof(*deeds->ends));
	deeds->by_thread = gt_allocate((deeds->count + 1) * sizeof(*deeds->by_thread));
	for (size_t i = 0; i < threads; i++)
		deeds->ends[i] = 0;
	for (size_t i = 0; i < deeds->count; i++)
		if (thread_of(deeds, i) < threads)
			deeds->ends[thread_of(deeds, i)]++;
	for (size_t i = 0; i < threads; i++) {
		sum += deeds->ends[i];
		deeds->ends[i] = sum - deeds->ends[i]; /* for now where those of the thread begin */
	}
	for (size_t i = 0; i < deeds->count; i++)
		if (thread_of(deeds, i) < threads)
			deeds->by_thread[deeds->ends[thread_of(deeds, i)]++] = (gt_id)i;
}

#define DEEDS_OF(trace, name, plural)                                                              \
	{                                                                                          \
		.rows = (uint8_t *)(trace)->plural.rows, .row_size = sizeof(struct gt_##name),     \
		.count = (trace)->plural.count, .thread = offsetof(struct gt_##name, thread),      \
		.range = offsetof(struct gt_##name, range),                                        \
	}

static void make_deeds(struct walk *walk)
{
	const struct deeds all[DEEDS] = {
		[CALLS] = DEEDS_OF(walk->trace, api_call, api_calls),
		[BLOCKS] = DEEDS_OF(walk->trace, pool_block, pool_blocks),
	};

	for (size_t i = 0; i < DEEDS; i++) {
		walk->deeds[i] = all[i];
		sort_deeds(&walk->deeds[i], walk->trace->threads.count);
	}
}

static void make_rows(struct walk *walk)
{
	const size_t ranges = walk->ranges.count;

	sort(walk->ranges.rows, ranges);
	sort(walk->marks.rows, walk->marks.count);
	if (ranges)
		(void)gt_trace_extend(walk->trace, GT_TABLE_ranges, ranges);
	if (walk->marks.count)
		(void)gt_trace_extend(walk->trace, GT_TABLE_marks, walk->marks.count);
	walk->links = gt_allocate((ranges + 1) * sizeof(*walk->links));
	for (size_t i = 0; i < ranges; i++)
		walk->links[i] = (struct link){.level = GT_LEVEL_UNKNOWN};
}

static void init_sources(struct walk *walk, struct gt_collection *collection)
{
	const size_t count = collection->captures.count;

	walk->sources = gt_allocate((count + 1) * sizeof(*walk->sources));
	for (size_t i = 0; i < count; i++) {
		struct gt_capture *capture = &collection->captures.rows[i];
		struct source *source = &walk->sources[i];

		add_starts(walk, (uint32_t)i, capture);
		gt_nvtx_names_init(&source->names, walk->trace, capture);
		gt_nvtx_memory_add(&source->names);
		gt_payloads_init(&source->payloads, &source->names, capture);
		source->rows = gt_allocate((capture->raw_range_begins.count + 1) * sizeof(gt_id));
	}
}

static void release_sources(struct walk *walk, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		gt_payloads_release(&walk->sources[i].payloads);
		gt_nvtx_names_release(&walk->sources[i].names);
		free(walk->sources[i].rows);
	}
	free(walk->sources);
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
	struct walk walk = {.trace = collection->trace, .work_left_ns = GT_MOST_WORK_NS};

	(void)err;
	init_sources(&walk, collection);
	make_rows(&walk);
	fill_rows(&walk);
	make_deeds(&walk);
	for (size_t i = 0; i < collection->captures.count; i++) {
		walk.capture = &collection->captures.rows[i];
		walk.rows = walk.sources[i].rows;
		walk.payloads = &walk.sources[i].payloads;
		walk_capture(&walk);
		remark_payloads(collection, walk.capture, walk.payloads->left_out);
	}
	release_sources(&walk, collection->captures.count);
	gt_known_release(&walk.tops);
	gt_array_release(&walk.top_rows);
	gt_array_release(&walk.ranges);
	gt_array_release(&walk.marks);
	free(walk.links);
	for (size_t i = 0; i < DEEDS; i++) {
		gt_array_free(walk.deeds[i].by_thread);
		gt_array_free(walk.deeds[i].ends);
	}
	return 0;
}

const struct gt_stage gt_stage_ranges = {.name = "ranges", .run = run};

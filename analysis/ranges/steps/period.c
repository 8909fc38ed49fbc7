/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ranges/steps/period.h"

#include <stdbool.h>
#include <stdlib.h>

#include "model/naming/functions.h"
#include "model/work/activity.h"

static const enum gt_work launches = GT_WORK_KERNELS | GT_WORK_GRAPHS | GT_WORK_PROFILED;

enum { SEARCHED = 1 << 20 }; /* launches of all processes, in which a period is looked for */

/* A launch, as far as it tells one from another. */
struct launch {
	gt_time at_ns;
	gt_time start_ns; /* on the GPU */
	gt_id process;
	gt_id thread;
	uint32_t key; /* function of a kernel; graphs come behind the functions */
};

struct search {
	const struct gt_trace *trace;
	struct gt_functions functions;
	gt_array(struct launch) launches; /* process after process, in order of their launch */
	uint64_t *sums; /* of the hashes of all launches before each: order does not matter */
	size_t *calls; /* by launch: the first of its call, which launches all kernels of a graph */
};

/* The launches from one of a function up to its next. */
struct stretch {
	uint64_t hash;
	size_t length;
};

struct anchor {
	uint32_t key;
	size_t period; /* launches */
	size_t first;  /* launch */
};

/* splitmix64: keys are small numbers, their hashes must not add up by chance. */
static uint64_t hash_of(uint32_t key)
{
	uint64_t hash = (key + UINT64_C(1)) * 0x9e3779b97f4a7c15u;

	hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9u;
	hash = (hash ^ hash >> 27) * 0x94d049bb133111ebu;
	return hash ^ hash >> 31;
}

/* ---- the launches ---- */

static uint32_t key_of(const struct search *search, const struct gt_activity *activity)
{
	const struct gt_trace *trace = search->trace;

	if (activity->type == GT_ACTIVITY_KERNEL)
		return (uint32_t)gt_function_of(&search->functions,
		                                trace->kernels.rows[activity->row].shape);
	return (uint32_t)(search->functions.count +
	                  trace->graph_traces.rows[activity->row].graph % (UINT32_MAX / 2));
}

static int by_process_and_launch(const void *a, const void *b)
{
	const struct launch *left = a;
	const struct launch *right = b;

	if (left->process != right->process)
		return left->process < right->process ? -1 : 1;
	if (left->at_ns != right->at_ns)
		return left->at_ns < right->at_ns ? -1 : 1;
	if (left->start_ns != right->start_ns)
		return left->start_ns < right->start_ns ? -1 : 1;
	return (left->key > right->key) - (left->key < right->key);
}

/* Returns false where it is not known which process it is of. */
static bool read_launch(const struct search *search, const struct gt_activity *activity,
                        struct launch *launch)
{
	const struct gt_trace *trace = search->trace;
	const struct gt_api_call *call = activity->api_call < trace->api_calls.count
	                                         ? &trace->api_calls.rows[activity->api_call]
	                                         : NULL;
	const gt_id stream = gt_activity_stream(trace, activity);

	if (stream >= trace->streams.count)
		return false;
	*launch = (struct launch){
		.at_ns = call ? call->start_ns : activity->start_ns,
		.start_ns = activity->start_ns,
		.process = gt_trace_stream_process(trace, stream),
		.thread = call ? call->thread : GT_NONE,
		.key = key_of(search, activity),
	};
	return true;
}

/* The first ones show the period; more cost time and memory. */
static void add_launches(struct search *search)
{
	struct gt_activity_walk walk;
	struct gt_activity activity;
	struct launch launch;

	gt_activity_walk_init(&walk, search->trace, launches);
	while (search->launches.count < SEARCHED && gt_activity_next(&walk, &activity))
		if (read_launch(search, &activity, &launch))
			*gt_array_push(&search->launches) = launch;
	if (search->launches.count > 1)
		qsort(search->launches.rows, search->launches.count, sizeof(*search->launches.rows),
		      by_process_and_launch);
}

static bool is_of_call(const struct launch *launch, const struct launch *other)
{
	return launch->process == other->process && launch->at_ns == other->at_ns;
}

static void read_order(struct search *search)
{
	const struct launch *rows = search->launches.rows;
	const size_t count = search->launches.count;

	search->sums = gt_allocate((count + 1) * sizeof(*search->sums));
	search->calls = gt_allocate((count + 1) * sizeof(*search->calls));
	search->sums[0] = 0;
	for (size_t i = 0; i < count; i++) {
		search->sums[i + 1] = search->sums[i] + hash_of(rows[i].key);
		search->calls[i] =
			i > 0 && is_of_call(&rows[i - 1], &rows[i]) ? search->calls[i - 1] : i;
	}
}

/* ---- anchors ---- */

static int by_stretch(const void *a, const void *b)
{
	const struct stretch *left = a;
	const struct stretch *right = b;

	if (left->length != right->length)
		return left->length < right->length ? -1 : 1;
	return (left->hash > right->hash) - (left->hash < right->hash);
}

/* Whether one is longer than the other by half of it or more: then not both are steps. */
static bool is_longer(size_t length, size_t other)
{
	return 2 * length >= 3 * other;
}

static size_t count_equal(const struct stretch *stretches, size_t count, size_t from)
{
	size_t end = from + 1;

	while (end < count && by_stretch(&stretches[from], &stretches[end]) == 0)
		end++;
	return end - from;
}

/*
 * The period of a function, in launches, by its stretches, which are sorted here; 0: it is no
 * anchor. all: launches of the process.
 */
static size_t period_of(struct stretch *stretches, size_t count, size_t all, bool is_graph)
{
	size_t most = 0;
	size_t period = 0;
	size_t equal;

	qsort(stretches, count, sizeof(*stretches), by_stretch);
	for (size_t i = 0; i < count; i += equal) {
		equal = count_equal(stretches, count, i);
		if (equal > most) {
			most = equal;
			period = stretches[i].length;
		}
	}
	if (most + 1 < GT_PERIOD_LEAST || 4 * most < 3 * count || 2 * most * period < all ||
	    (period < 2 && !is_graph))
		return 0;
	for (size_t i = 0; i < count; i += equal) {
		equal = count_equal(stretches, count, i);
		if (equal >= 3 && is_longer(stretches[i].length, period))
			return 0;
	}
	return period;
}

/* ---- of a process ---- */

static int by_number(const void *a, const void *b)
{
	const uint64_t left = *(const uint64_t *)a;
	const uint64_t right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

/* The launches of a process: from the first up to, not with, the end. */
struct part {
	size_t first;
	size_t end;
};

/* Whether one function, launched at these places, is a better anchor than the best so far. */
static void consider(const struct search *search, const struct part *part, const uint64_t *places,
                     size_t count, struct stretch *room, struct anchor *best)
{
	const uint32_t key = (uint32_t)(places[0] >> 32);
	const size_t first = (uint32_t)places[0];
	size_t stretches = 0;
	size_t period;

	if (count < GT_PERIOD_LEAST)
		return;
	for (size_t i = 0; i + 1 < count; i++) {
		const size_t from = search->calls[(uint32_t)places[i]];
		const size_t to = search->calls[(uint32_t)places[i + 1]];

		if (from < to)
			room[stretches++] =
				(struct stretch){search->sums[to] - search->sums[from], to - from};
	}
	period =
		period_of(room, stretches, part->end - part->first, key >= search->functions.count);
	if (period > 0 && (best->period == 0 || period < best->period ||
	                   (period == best->period && first < best->first)))
		*best = (struct anchor){key, period, first};
}

static struct anchor anchor_of(const struct search *search, const struct part *part)
{
	const size_t count = part->end - part->first;
	uint64_t *places = gt_allocate(count * sizeof(*places));
	struct stretch *room = gt_allocate(count * sizeof(*room));
	struct anchor best = {0};
	size_t of_key;

	for (size_t i = 0; i < count; i++)
		places[i] = (uint64_t)search->launches.rows[part->first + i].key << 32 |
		            (uint32_t)(part->first + i);
	qsort(places, count, sizeof(*places), by_number);
	for (size_t i = 0; i < count; i += of_key) {
		for (of_key = 1; i + of_key < count; of_key++)
			if (places[i + of_key] >> 32 != places[i] >> 32)
				break;
		consider(search, part, places + i, of_key, room, &best);
	}
	gt_array_free(places);
	gt_array_free(room);
	return best;
}

/* The anchors of all processes, by row of processes; a period of 0: it has none. */
static struct anchor *find_anchors(struct search *search)
{
	const size_t processes = search->trace->processes.count;
	struct anchor *anchors = gt_allocate_zeroed(processes + 1, sizeof(*anchors));
	struct part part = {0};

	for (; part.first < search->launches.count; part.first = part.end) {
		const gt_id process = search->launches.rows[part.first].process;

		for (part.end = part.first; part.end < search->launches.count; part.end++)
			if (search->launches.rows[part.end].process != process)
				break;
		if (process < processes)
			anchors[process] = anchor_of(search, &part);
	}
	return anchors;
}

/* ---- steps ---- */

/* A call that launched an anchor. */
struct mark {
	struct launch launch; /* the first of the anchor */
	size_t length;        /* launches of its process from the call up to the next mark */
};

struct marks {
	gt_array(struct mark) rows;
};

static int by_mark(const void *a, const void *b)
{
	return by_process_and_launch(&((const struct mark *)a)->launch,
	                             &((const struct mark *)b)->launch);
}

static void sort_marks(struct marks *marks)
{
	struct mark *rows = marks->rows.rows;
	size_t kept = 0;

	if (marks->rows.count > 1)
		qsort(rows, marks->rows.count, sizeof(*rows), by_mark);
	for (size_t i = 0; i < marks->rows.count; i++)
		if (kept == 0 || !is_of_call(&rows[kept - 1].launch, &rows[i].launch))
			rows[kept++] = rows[i];
	marks->rows.count = kept;
}

static void add_marks(const struct search *search, const struct anchor *anchors,
                      struct marks *marks)
{
	const size_t processes = search->trace->processes.count;
	struct gt_activity_walk walk;
	struct gt_activity activity;
	struct launch launch;

	gt_activity_walk_init(&walk, search->trace, launches);
	while (gt_activity_next(&walk, &activity))
		if (read_launch(search, &activity, &launch) && launch.process < processes &&
		    anchors[launch.process].period > 0 && anchors[launch.process].key == launch.key)
			*gt_array_push(&marks->rows) = (struct mark){.launch = launch};
	sort_marks(marks);
}

/* The last mark whose call was made no later; NULL: none of its process was. */
static struct mark *mark_before(const struct marks *marks, const struct launch *launch)
{
	size_t low = 0;
	size_t high = marks->rows.count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct launch *mark = &marks->rows.rows[middle].launch;

		if (mark->process < launch->process ||
		    (mark->process == launch->process && mark->at_ns <= launch->at_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && marks->rows.rows[low - 1].launch.process == launch->process
	               ? &marks->rows.rows[low - 1]
	               : NULL;
}

/* By the calls: GPUs run work in another order than it was launched in. */
static void count_launches(const struct search *search, const struct marks *marks)
{
	struct gt_activity_walk walk;
	struct gt_activity activity;
	struct launch launch;

	gt_activity_walk_init(&walk, search->trace, launches);
	while (gt_activity_next(&walk, &activity)) {
		struct mark *mark = read_launch(search, &activity, &launch)
		                            ? mark_before(marks, &launch)
		                            : NULL;

		if (mark)
			mark->length++;
	}
}

static void add_steps(struct gt_periods *periods, const struct anchor *anchors,
                      const struct marks *marks)
{
	for (size_t i = 0; i + 1 < marks->rows.count; i++) {
		const struct mark *mark = &marks->rows.rows[i];
		const struct launch *launch = &mark->launch;
		const size_t period = anchors[launch->process].period;

		if (mark[1].launch.process != launch->process)
			continue;
		if (is_longer(mark->length, period) || is_longer(period, mark->length))
			periods->others++;
		else
			*gt_array_push(&periods->rows) =
				(struct gt_period_step){launch->process, launch->thread,
			                                launch->at_ns, mark[1].launch.at_ns};
	}
}

static const char *name_of(const struct search *search, const struct anchor *anchors)
{
	for (size_t i = 0; i < search->trace->processes.count; i++)
		if (anchors[i].period > 0)
			return anchors[i].key < search->functions.count
			               ? search->functions.names[anchors[i].key]
			               : "a CUDA graph";
	return NULL;
}

void gt_periods_init(struct gt_periods *periods, const struct gt_trace *whole)
{
	struct search search = {.trace = whole};
	struct anchor *anchors;
	struct marks marks = {0};

	*periods = (struct gt_periods){0};
	gt_functions_init(&search.functions, whole);
	add_launches(&search);
	read_order(&search);
	anchors = find_anchors(&search);
	periods->anchor = name_of(&search, anchors);
	if (periods->anchor) {
		add_marks(&search, anchors, &marks);
		count_launches(&search, &marks);
	}
	add_steps(periods, anchors, &marks);
	gt_array_release(&marks.rows);
	gt_array_free(anchors);
	gt_array_free(search.sums);
	gt_array_free(search.calls);
	gt_array_release(&search.launches);
	gt_functions_release(&search.functions);
}

void gt_periods_release(struct gt_periods *periods)
{
	gt_array_release(&periods->rows);
	*periods = (struct gt_periods){0};
}

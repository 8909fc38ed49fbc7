/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/view/opening.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/ranges/steps/steps.h"
#include "base/array.h"
#include "base/parse.h"
#include "model/view/view.h"
#include "model/work/activity.h"

enum {
	SLICES_SHOWN = 400,    /* about as many as can be told apart on a screen */
	SLICES_AT_ONCE = 2000, /* up to so many all are shown */
};

/* ---- the stretch ---- */

/* The later half of the steps: the first ones load code. */
static const struct gt_step *typical_step(const struct gt_steps *steps)
{
	const struct gt_step_group *most = NULL;
	const struct gt_step *found = NULL;
	int64_t apart_ns = 0;

	gt_array_each(const struct gt_step_group, group, &steps->groups)
		if (!most || group->count > most->count)
			most = group;
	for (size_t i = most ? most->count / 2 : 0; most && i < most->count; i++) {
		const struct gt_step *step = &steps->rows.rows[most->first + i];
		const int64_t ns = llabs(gt_step_wall(step) - most->wall.spread.median);

		if (step->kernels == 0 || (found && ns >= apart_ns))
			continue;
		found = step;
		apart_ns = ns;
	}
	return found;
}

/* Work of a step may end behind it. */
static bool show_step(struct gt_opening *opening, const struct gt_steps *steps)
{
	const struct gt_step *step = typical_step(steps);

	if (step) {
		opening->start_ns = step->start_ns - gt_step_wall(step) / 20;
		opening->end_ns = step->end_ns + gt_step_wall(step) / 5;
	}
	return step;
}

static void show_kernels(struct gt_opening *opening, const struct gt_trace *trace, size_t first,
                         size_t count)
{
	const gt_time start_ns = trace->kernels.rows[first].start_ns;
	gt_time end_ns = start_ns;

	for (size_t i = first; i < first + count; i++)
		if (trace->kernels.rows[i].end_ns > end_ns)
			end_ns = trace->kernels.rows[i].end_ns;
	opening->start_ns = start_ns - (end_ns - start_ns) / 50;
	opening->end_ns = end_ns + (end_ns - start_ns) / 50;
}

/* Kernels come in the order of their start; those that never began stand first, at 0. */
static size_t count_unstarted(const struct gt_trace *trace)
{
	size_t count = 0;

	while (count < trace->kernels.count && trace->kernels.rows[count].start_ns <= 0)
		count++;
	return count;
}

static void show_work(struct gt_opening *opening, const struct gt_trace *trace)
{
	const size_t first = count_unstarted(trace);
	const size_t count = trace->kernels.count - first;

	if (count > SLICES_AT_ONCE)
		show_kernels(opening, trace, first + (count - SLICES_SHOWN) / 2, SLICES_SHOWN);
	else if (count > 0)
		show_kernels(opening, trace, first, count);
}

/* ---- the tracks ---- */

/* Streams of one number, which have one name but for their process. */
struct numbered {
	uint32_t number;
	uint64_t work;
	size_t tracks;
};

static int most_work_first(const void *a, const void *b)
{
	const struct numbered *left = a;
	const struct numbered *right = b;

	if (left->work != right->work)
		return left->work < right->work ? 1 : -1;
	return (left->number > right->number) - (left->number < right->number);
}

static int by_number(const void *a, const void *b)
{
	const struct numbered *left = a;
	const struct numbered *right = b;

	return (left->number > right->number) - (left->number < right->number);
}

static size_t merge_numbers(struct numbered *rows, size_t count)
{
	size_t kept = 0;

	qsort(rows, count, sizeof(*rows), by_number);
	for (size_t i = 0; i < count; i++) {
		if (rows[i].work == 0)
			continue;
		if (kept > 0 && rows[kept - 1].number == rows[i].number) {
			rows[kept - 1].work += rows[i].work;
			rows[kept - 1].tracks++;
		} else {
			rows[kept++] = rows[i];
		}
	}
	return kept;
}

static void choose_streams(struct gt_opening *opening, const struct gt_trace *trace, size_t room)
{
	struct numbered *rows = gt_allocate((trace->streams.count + 1) * sizeof(*rows));
	struct gt_activity_walk walk;
	struct gt_activity activity;
	size_t count;

	for (size_t i = 0; i < trace->streams.count; i++)
		rows[i] = (struct numbered){trace->streams.rows[i].number, 0, 1};
	gt_activity_walk_init(&walk, trace, GT_WORK_ALL);
	while (gt_activity_next(&walk, &activity)) {
		const gt_id stream = gt_activity_stream(trace, &activity);

		if (stream < trace->streams.count)
			rows[stream].work++;
	}
	count = merge_numbers(rows, trace->streams.count);
	qsort(rows, count, sizeof(*rows), most_work_first);
	for (size_t i = 0; i < count && rows[i].tracks <= room; i++) {
		opening->streams[opening->stream_count++] = rows[i].number;
		room -= rows[i].tracks;
	}
	gt_array_free(rows);
}

static bool shares_gpu(const struct gt_trace *trace)
{
	gt_id *users = gt_allocate((trace->devices.count + 1) * sizeof(*users));
	bool shared = false;

	memset(users, 0xff, (trace->devices.count + 1) * sizeof(*users));
	gt_array_each(const struct gt_context, context, &trace->contexts) {
		if (context->device >= trace->devices.count)
			continue;
		shared = shared || (users[context->device] != GT_NONE &&
		                    users[context->device] != context->process);
		users[context->device] = context->process;
	}
	gt_array_free(users);
	return shared;
}

void gt_opening_init(struct gt_opening *opening, const struct gt_view *view,
                     const struct gt_steps *steps)
{
	const struct gt_trace *trace = view->trace;
	size_t room = GT_OPENING_STREAMS;

	*opening = (struct gt_opening){
		.known = true,
		.busy = trace->devices.count <= GT_OPENING_GPUS,
		.path = trace->processes.count == 1,
		.shared = shares_gpu(trace),
	};
	if (show_step(opening, steps))
		room = 1;
	else
		show_work(opening, trace);
	if (opening->start_ns < view->start_ns)
		opening->start_ns = view->start_ns;
	if (opening->end_ns > view->end_ns)
		opening->end_ns = view->end_ns;
	if (opening->start_ns < 0 || opening->end_ns <= opening->start_ns)
		opening->start_ns = opening->end_ns = 0;
	choose_streams(opening, trace, room);
}

/* ---- as a text ---- */

void gt_opening_write(const struct gt_opening *opening, char text[GT_OPENING_BYTES])
{
	int size = snprintf(text, GT_OPENING_BYTES, "%" PRId64 " %" PRId64 " %d %d %d",
	                    opening->start_ns, opening->end_ns, opening->busy, opening->path,
	                    opening->shared);

	for (size_t i = 0; i < opening->stream_count; i++)
		size += snprintf(text + size, (size_t)(GT_OPENING_BYTES - size), " %" PRIu32,
		                 opening->streams[i]);
}

bool gt_opening_read(struct gt_opening *opening, const char *text)
{
	enum { FIXED = 5 };
	uint64_t numbers[FIXED + GT_OPENING_STREAMS] = {0};
	char copy[GT_OPENING_BYTES];
	size_t count = 0;
	char *left = copy;

	*opening = (struct gt_opening){0};
	snprintf(copy, sizeof(copy), "%s", text);
	for (char *word; (word = strsep(&left, " ")) != NULL; count++)
		if (count == GT_COUNT_OF(numbers) || gt_parse_count(word, &numbers[count]) < 0)
			return false;
	if (count < FIXED || numbers[0] > numbers[1] || numbers[1] > INT64_MAX)
		return false;
	for (size_t i = FIXED; i < count; i++) {
		if (numbers[i] > UINT32_MAX)
			return false;
		opening->streams[i - FIXED] = (uint32_t)numbers[i];
	}
	opening->known = true;
	opening->start_ns = (gt_time)numbers[0];
	opening->end_ns = (gt_time)numbers[1];
	opening->busy = numbers[2];
	opening->path = numbers[3];
	opening->shared = numbers[4];
	opening->stream_count = count - FIXED;
	return true;
}

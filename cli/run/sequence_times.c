/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/sequence_times.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/spread.h"
#include "base/array.h"
#include "cli/run/bundle_edit.h"
#include "cli/run/sequence.h"
#include "model/known.h"
#include "model/trace.h"

#define MOST_PATH  1024 /* bytes of a path of ranges */
#define MOST_DEPTH 32   /* ranges in it */

/* ---- what the bundle says ---- */

static int64_t number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static bool is_triple(const json_t *list, const gt_count values[3])
{
	for (size_t i = 0; i < 3; i++)
		if (json_integer_value(json_array_get(list, i)) != (json_int_t)values[i])
			return false;
	return true;
}

static bool is_launch(const struct gt_trace *trace, const json_t *root, const json_t *step,
                      const struct gt_sequence_work *work)
{
	const json_t *function = json_array_get(json_object_get(root, "functions"),
	                                        (size_t)number(step, "function"));
	const char *name = json_string_value(json_object_get(function, "name"));
	const struct gt_launch_shape *shape;

	if (work->kind != GT_SEQUENCE_LAUNCH || work->shape >= trace->launch_shapes.count || !name)
		return false;
	shape = &trace->launch_shapes.rows[work->shape];
	return strcmp(gt_trace_text(trace, shape->name), name) == 0 &&
	       is_triple(json_object_get(step, "grid"),
	                 (gt_count[]){shape->grid_x, shape->grid_y, shape->grid_z}) &&
	       is_triple(json_object_get(step, "block"),
	                 (gt_count[]){shape->block_x, shape->block_y, shape->block_z});
}

static const char *kind_of(const json_t *step)
{
	const char *kind = json_string_value(json_object_get(step, "kind"));

	return kind ? kind : "";
}

/* No other occurrence has a record of the host's own writes. */
static bool is_work(const json_t *step)
{
	const char *kind = kind_of(step);

	if (json_is_true(json_object_get(step, "by_host")))
		return false;
	return strcmp(kind, "launch") == 0 || strcmp(kind, "copy") == 0 ||
	       strcmp(kind, "fill") == 0;
}

/* Bytes of a copy or fill, all rows and slices. */
static uint64_t bytes_of(const json_t *step)
{
	const uint64_t slices =
		json_object_get(step, "slices") ? (uint64_t)number(step, "slices") : 1;

	return (uint64_t)number(step, "bytes") * (uint64_t)number(step, "rows") * slices;
}

static enum gt_sequence_work_kind work_of(const json_t *step)
{
	const char *kind = kind_of(step);

	return strcmp(kind, "launch") == 0 ? GT_SEQUENCE_LAUNCH
	       : strcmp(kind, "copy") == 0 ? GT_SEQUENCE_COPY
	                                   : GT_SEQUENCE_FILL;
}

static bool is_same(const struct gt_trace *trace, const json_t *root, const json_t *step,
                    const struct gt_sequence_work *work)
{
	if (work_of(step) == GT_SEQUENCE_LAUNCH)
		return is_launch(trace, root, step, work);
	return work->kind == work_of(step) && work->bytes == bytes_of(step);
}

/* ---- times ---- */

/* Times of the steps that are work, one row each. */
struct times {
	size_t occurrences;
	gt_array(int64_t) spans; /* from the first begin to the last end */
	struct step_times {
		json_t *step;
		gt_array(int64_t) start_ns;
		gt_array(int64_t) end_ns;
		gt_array(int64_t) call_ns;
	} * steps;
	size_t count;
};

static void times_init(struct times *times, const json_t *steps)
{
	*times = (struct times){
		.steps = gt_allocate_zeroed(json_array_size(steps), sizeof(*times->steps))};
	for (size_t i = 0; i < json_array_size(steps); i++)
		if (is_work(json_array_get(steps, i)))
			times->steps[times->count++].step = json_array_get(steps, i);
}

static void times_release(struct times *times)
{
	for (size_t i = 0; i < times->count; i++) {
		gt_array_release(&times->steps[i].start_ns);
		gt_array_release(&times->steps[i].end_ns);
		gt_array_release(&times->steps[i].call_ns);
	}
	gt_array_release(&times->spans);
	gt_array_free(times->steps);
}

/*
 * Pieces of GPU work in an occurrence, as many as there are steps; false: it was something else. A
 * fill of several slices is one for each of them (cudaMemset3D): those that follow each other and
 * have as many bytes together as the step are its one work.
 */
static bool put_together(const struct gt_sequence *sequence, const struct times *times,
                         size_t first, size_t end, struct gt_sequence_work *work)
{
	for (size_t i = 0; i < times->count; i++) {
		const json_t *step = times->steps[i].step;
		const bool splits =
			work_of(step) != GT_SEQUENCE_LAUNCH && number(step, "graph") == 0;
		const uint64_t bytes = splits ? bytes_of(step) : 0;

		if (first == end)
			return false;
		work[i] = sequence->work.rows[first++];
		while (first < end && work[i].kind == work_of(step) && work[i].bytes < bytes &&
		       sequence->work.rows[first].kind == work[i].kind) {
			const struct gt_sequence_work *next = &sequence->work.rows[first++];

			work[i].bytes += next->bytes;
			work[i].end_ns =
				next->end_ns > work[i].end_ns ? next->end_ns : work[i].end_ns;
			work[i].counts &= next->counts;
		}
	}
	return first == end;
}

/* Steps from first up to end, and the work that may be theirs: of each step the one in its place. */
struct group {
	size_t first;
	size_t end;
	const struct gt_sequence_work *work;
	size_t *places;
	bool *used;  /* of the work, from first on, */
	size_t next; /* of which all before this one is */
};

static bool place(const struct gt_sequence *sequence, const json_t *root, json_t *step,
                  size_t number, struct group *group)
{
	while (group->next < group->end && group->used[group->next - group->first])
		group->next++;
	for (size_t i = group->next; i < group->end; i++) {
		if (group->used[i - group->first] || !group->work[i].counts ||
		    !is_same(sequence->trace, root, step, &group->work[i]))
			continue;
		group->used[i - group->first] = true;
		group->places[number] = i;
		return true;
	}
	return false;
}

/*
 * Whether it is the work of the steps: that of a launch of a graph began as its branches came to
 * it, and need not have their order.
 */
static bool match(const struct gt_sequence *sequence, const json_t *root, const struct times *times,
                  struct group *group)
{
	bool all = true;

	group->used = gt_allocate_zeroed(group->end - group->first, sizeof(*group->used));
	for (size_t i = group->first; i < group->end && all; i++)
		all = place(sequence, root, times->steps[i].step, i, group);
	free(group->used);
	return all;
}

/* One step, or all of a launch of a graph. */
static size_t end_of_launch(const struct times *times, size_t first)
{
	const int64_t graph = number(times->steps[first].step, "graph");
	size_t end = first + 1;

	while (graph && end < times->count && number(times->steps[end].step, "graph") == graph)
		end++;
	return end;
}

/* Whether the GPU did the same, all with times; places: which work is that of each step. */
static bool fits(const struct gt_sequence *sequence, const struct times *times, const json_t *root,
                 const struct gt_sequence_work *work, size_t *places)
{
	for (size_t i = 0; i < times->count; i = end_of_launch(times, i)) {
		struct group group = {
			.first = i, .next = i, .end = end_of_launch(times, i), .work = work};

		group.places = places;
		if (!match(sequence, root, times, &group))
			return false;
	}
	return true;
}

static void add_times(struct times *times, const struct gt_sequence_work *all, const size_t *places)
{
	int64_t least_ns = INT64_MAX;
	int64_t most_ns = INT64_MIN;

	times->occurrences++;
	for (size_t i = 0; i < times->count; i++) {
		const struct gt_sequence_work *work = &all[places[i]];
		const int64_t zero_ns = all[0].call_ns;

		*gt_array_push(&times->steps[i].start_ns) = work->start_ns - zero_ns;
		*gt_array_push(&times->steps[i].end_ns) = work->end_ns - zero_ns;
		*gt_array_push(&times->steps[i].call_ns) = work->call_ns - zero_ns;
		least_ns = work->start_ns < least_ns ? work->start_ns : least_ns;
		most_ns = work->end_ns > most_ns ? work->end_ns : most_ns;
	}
	*gt_array_push(&times->spans) = most_ns - least_ns;
}

static void add_occurrence(const struct gt_sequence *sequence, struct times *times,
                           const json_t *root, const struct gt_sequence_interval *occurrence)
{
	const size_t first = gt_sequence_first_at(sequence, occurrence->start_ns);
	const size_t end = gt_sequence_first_at(sequence, occurrence->end_ns + 1);
	struct gt_sequence_work *work = gt_allocate((times->count + 1) * sizeof(*work));
	size_t *places = gt_allocate((times->count + 1) * sizeof(*places));

	if (times->count && put_together(sequence, times, first, end, work) &&
	    fits(sequence, times, root, work, places))
		add_times(times, work, places);
	free(work);
	free(places);
}

static void put_median(json_t *step, const char *key, int64_t *values, size_t count)
{
	const int64_t median = gt_spread_of(values, count).median;

	(void)json_object_set_new(step, key, json_integer(median > 0 ? median : 0));
}

static void put_times(const struct gt_sequence *sequence, struct times *times, json_t *root)
{
	const char *missed =
		*gt_trace_text(sequence->trace, sequence->launch->range)
			? "the times of its steps: the recording has no other occurrence of the "
			  "range with the same launches, copies and fills, and the captured one was "
			  "held up"
			: "the times of its steps: the recording has no other launch of a CUDA graph "
			  "with the same launches, copies and fills, and the captured one was held "
			  "up";
	json_t *origin = json_object_get(root, "origin");
	json_t *missing = json_object_get(root, "missing");

	if (times->occurrences == 0) {
		(void)json_array_append_new(missing, json_string(missed));
		return;
	}
	for (size_t i = 0; i < times->count; i++) {
		struct step_times *step = &times->steps[i];

		put_median(step->step, "start_ns", step->start_ns.rows, times->occurrences);
		put_median(step->step, "end_ns", step->end_ns.rows, times->occurrences);
		put_median(step->step, "call_ns", step->call_ns.rows, times->occurrences);
	}
	put_median(origin, "job_ns", times->spans.rows, times->occurrences);
	(void)json_object_set_new(origin, "job_launches",
	                          json_integer((json_int_t)times->occurrences));
}

/* ---- ranges ---- */

/* From the outermost range to the one that the call was made in; false: it was in none. */
static bool write_path(const struct gt_trace *trace, gt_id range, char path[MOST_PATH])
{
	gt_id inside[MOST_DEPTH];
	size_t depth = 0;
	size_t used = 0;

	for (; range < trace->ranges.count && depth < MOST_DEPTH;
	     range = trace->ranges.rows[range].parent)
		inside[depth++] = range;
	for (size_t i = depth; i > 0 && used < MOST_PATH; i--)
		used += (size_t)snprintf(path + used, MOST_PATH - used, "%s%s", used ? "/" : "",
		                         gt_trace_text(trace,
		                                       trace->ranges.rows[inside[i - 1]].text));
	return depth > 0;
}

static void put_range(struct gt_sequence *sequence, json_t *step)
{
	const gt_id row = gt_known_find(&sequence->calls, (uint64_t)number(step, "correlation"));
	char path[MOST_PATH];

	if (row != GT_NONE &&
	    write_path(sequence->trace, sequence->trace->api_calls.rows[row].range, path))
		(void)json_object_set_new(step, "range", json_string(path));
}

/* ---- one bundle ---- */

static bool put(json_t *root, void *context)
{
	struct gt_sequence *sequence = context;
	json_t *steps = json_object_get(root, "steps");
	struct times times;

	if (!json_is_object(json_object_get(root, "origin")) || !json_is_array(steps) ||
	    !json_is_array(json_object_get(root, "missing")) || json_array_size(steps) == 0 ||
	    json_object_get(json_array_get(steps, 0), "call_ns"))
		return false;
	times_init(&times, steps);
	gt_array_each(const struct gt_sequence_interval, occurrence, &sequence->occurrences)
		add_occurrence(sequence, &times, root, occurrence);
	put_times(sequence, &times, root);
	times_release(&times);
	for (size_t i = 0; i < json_array_size(steps); i++)
		put_range(sequence, json_array_get(steps, i));
	return true;
}

static int keep(const char *recording, const struct gt_trace *trace,
                const struct gt_captured_launch *launch, struct gt_error *err)
{
	struct gt_sequence sequence;
	int result;

	gt_sequence_init(&sequence, trace, launch);
	result = gt_bundle_edit(recording, gt_trace_text(trace, launch->bundle), put, &sequence,
	                        err);
	gt_sequence_release(&sequence);
	return result;
}

int gt_sequence_times_write(const char *recording, const struct gt_trace *trace,
                            struct gt_error *err)
{
	int result = 0;

	gt_array_each(const struct gt_captured_launch, launch, &trace->captured_launches)
		if (result == 0 && *gt_trace_text(trace, launch->bundle) &&
		    (*gt_trace_text(trace, launch->range) || *gt_trace_text(trace, launch->node)))
			result = keep(recording, trace, launch, err);
	return result;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ranges/steps/difference.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/ranges/steps/guessed.h"
#include "analysis/time/host_calls.h"
#include "model/index.h"
#include "model/naming/functions.h"
#include "model/ranges/owners.h"
#include "model/work/timed.h"

enum { LEAST = 3 }; /* steps of a process, for the slowest to be compared */

/* ---- which two ---- */

static int by_wall(const void *a, const void *b)
{
	const struct gt_step *left = *(const struct gt_step *const *)a;
	const struct gt_step *right = *(const struct gt_step *const *)b;
	const int64_t left_ns = gt_step_wall(left);
	const int64_t right_ns = gt_step_wall(right);

	if (left_ns != right_ns)
		return left_ns < right_ns ? -1 : 1;
	return (left->number > right->number) - (left->number < right->number);
}

static struct gt_step_pair pair_of(const struct gt_steps *steps, const struct gt_step_group *group)
{
	const struct gt_step **sorted = gt_allocate(group->count * sizeof(*sorted));
	struct gt_step_pair pair;

	for (size_t i = 0; i < group->count; i++)
		sorted[i] = &steps->rows.rows[group->first + i];
	qsort(sorted, group->count, sizeof(*sorted), by_wall);
	pair = (struct gt_step_pair){sorted[group->count - 1], sorted[(group->count - 1) / 2]};
	gt_array_free(sorted);
	return pair;
}

/* ---- their parts ---- */

/* A step of a pair. */
struct side {
	size_t pair;
	bool is_slowest;
};

struct sums {
	struct gt_step_differences *differences;
	const struct gt_steps *steps;
	const struct gt_ranges *ranges;
	struct gt_index *keys; /* of rows */
	uint32_t *side_of; /* by row of ranges: 2 * pair + whether it is the slowest + 1; 0: none */
};

struct key {
	uint32_t pair;
	uint32_t part;
	uint32_t function; /* of gt_functions, or a string */
};

static void add(struct sums *sums, struct side side, struct key key, const char *name, int64_t ns)
{
	const size_t number = gt_index_add(sums->keys, &key);
	struct gt_step_difference *row;

	if (number == sums->differences->rows.count)
		*gt_array_push(&sums->differences->rows) = (struct gt_step_difference){
			.pair = key.pair, .part = key.part, .name = name};
	row = &sums->differences->rows.rows[number];
	*(side.is_slowest ? &row->slowest_count : &row->median_count) += 1;
	*(side.is_slowest ? &row->slowest_ns : &row->median_ns) += ns;
}

/* The step of a pair that a piece of work was asked for in; false: none. */
static bool find_side(const struct sums *sums, struct gt_owner owner, struct side *side)
{
	for (gt_id range = owner.range; range != GT_NONE;
	     range = gt_ranges_around(sums->ranges, range, owner.at_ns)) {
		const uint32_t found = sums->side_of[range];

		if (found) {
			*side = (struct side){(found - 1) / 2, (found - 1) % 2};
			return true;
		}
	}
	return false;
}

/* The same where steps are guessed: by when its process launched it. */
static bool find_guessed_side(const struct sums *sums, const struct gt_kernel *kernel,
                              struct side *side)
{
	const struct gt_trace *trace = sums->ranges->trace;
	const gt_time at_ns = kernel->api_call < trace->api_calls.count
	                              ? trace->api_calls.rows[kernel->api_call].start_ns
	                              : kernel->start_ns;
	const size_t row = gt_steps_guessed_at(
		sums->steps, gt_trace_stream_process(trace, kernel->stream), at_ns);
	const struct gt_step *step = row == SIZE_MAX ? NULL : &sums->steps->rows.rows[row];

	for (size_t i = 0; step && i < sums->differences->pairs.count; i++) {
		const struct gt_step_pair *pair = &sums->differences->pairs.rows[i];

		*side = (struct side){i, step == pair->slowest};
		if (step == pair->slowest || step == pair->median)
			return true;
	}
	return false;
}

static bool find_kernel_side(const struct sums *sums, gt_id kernel, struct side *side)
{
	const struct gt_trace *trace = sums->ranges->trace;
	struct gt_owners owners;

	if (sums->steps->path == GT_NONE)
		return find_guessed_side(sums, &trace->kernels.rows[kernel], side);
	owners = gt_owners_of(trace, GT_ACTIVITY_KERNEL, kernel);
	return find_side(sums, owners.launched, side) || find_side(sums, owners.captured, side);
}

static void add_kernels(struct sums *sums)
{
	const struct gt_trace *trace = sums->ranges->trace;
	struct gt_functions functions;

	gt_functions_init(&functions, trace);
	for (gt_id i = 0; i < trace->kernels.count; i++) {
		const struct gt_kernel *kernel = &trace->kernels.rows[i];
		const size_t function = gt_function_of(&functions, kernel->shape);
		struct side side;

		if (gt_timed(GT_TIMES_FIGURES, kernel->flags, kernel->start_ns, kernel->end_ns) &&
		    find_kernel_side(sums, i, &side))
			add(sums, side,
			    (struct key){(uint32_t)side.pair, GT_STEP_KERNEL, (uint32_t)function},
			    functions.names[function], kernel->end_ns - kernel->start_ns);
	}
	gt_functions_release(&functions);
}

static void add_calls(struct sums *sums, const struct gt_thread_calls *calls, struct side side,
                      const struct gt_step *step)
{
	const struct gt_trace *trace = sums->ranges->trace;
	const struct gt_interval when = {step->start_ns, step->end_ns};
	const gt_id thread = step->thread;
	struct gt_call_reach reach;

	if (thread >= trace->threads.count)
		return;
	reach = gt_thread_calls_reaching(calls, when, thread);
	for (size_t i = reach.first; i < reach.end; i++) {
		const struct gt_api_call *call = &trace->api_calls.rows[calls->rows[i]];

		if (gt_timed(GT_TIMES_FIGURES, call->flags, call->start_ns, call->end_ns) &&
		    call->start_ns >= when.start_ns && call->end_ns <= when.end_ns)
			add(sums, side,
			    (struct key){(uint32_t)side.pair, GT_STEP_CALL, call->function},
			    gt_trace_text(trace, call->function), call->end_ns - call->start_ns);
	}
}

static void add_all_calls(struct sums *sums)
{
	struct gt_thread_calls calls;

	gt_thread_calls_init(&calls, sums->ranges->trace);
	for (size_t i = 0; i < sums->differences->pairs.count; i++) {
		const struct gt_step_pair *pair = &sums->differences->pairs.rows[i];

		add_calls(sums, &calls, (struct side){i, true}, pair->slowest);
		add_calls(sums, &calls, (struct side){i, false}, pair->median);
	}
	gt_thread_calls_release(&calls);
}

/* ---- in order ---- */

static int64_t apart(const struct gt_step_difference *row)
{
	return llabs(row->slowest_ns - row->median_ns);
}

static int by_difference(const void *a, const void *b)
{
	const struct gt_step_difference *left = a;
	const struct gt_step_difference *right = b;

	if (left->pair != right->pair)
		return left->pair < right->pair ? -1 : 1;
	if (apart(left) != apart(right))
		return apart(left) < apart(right) ? 1 : -1;
	if (left->part != right->part)
		return left->part < right->part ? -1 : 1;
	return strcmp(left->name, right->name);
}

static void choose_pairs(struct sums *sums, const struct gt_steps *steps)
{
	gt_array_each(const struct gt_step_group, group, &steps->groups) {
		const uint32_t number = (uint32_t)sums->differences->pairs.count;
		struct gt_step_pair *pair;

		if (group->count < LEAST)
			continue;
		pair = gt_array_push(&sums->differences->pairs);
		*pair = pair_of(steps, group);
		if (steps->path == GT_NONE)
			continue;
		sums->side_of[pair->slowest->range] = 2 * number + 2;
		sums->side_of[pair->median->range] = 2 * number + 1;
	}
}

void gt_step_differences_init(struct gt_step_differences *differences, const struct gt_steps *steps)
{
	struct sums sums = {
		.differences = differences,
		.steps = steps,
		.ranges = &steps->ranges,
		.keys = gt_index_new(sizeof(struct key)),
		.side_of = gt_allocate_zeroed(steps->ranges.trace->ranges.count + 1,
	                                      sizeof(*sums.side_of)),
	};

	*differences = (struct gt_step_differences){0};
	choose_pairs(&sums, steps);
	if (differences->pairs.count > 0) {
		add_kernels(&sums);
		add_all_calls(&sums);
	}
	gt_index_free(sums.keys);
	gt_array_free(sums.side_of);
	if (differences->rows.count > 1)
		qsort(differences->rows.rows, differences->rows.count,
		      sizeof(*differences->rows.rows), by_difference);
}

void gt_step_differences_release(struct gt_step_differences *differences)
{
	gt_array_free(differences->pairs.rows);
	gt_array_free(differences->rows.rows);
	*differences = (struct gt_step_differences){0};
}

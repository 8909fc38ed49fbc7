/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ranges/steps/difference.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/time/host_calls.h"
#include "model/index.h"
#include "model/naming/functions.h"
#include "model/ranges/owners.h"
#include "model/work/timed.h"

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

static void choose(struct gt_step_differences *differences, const struct gt_steps *steps,
                   size_t first, size_t count)
{
	const struct gt_step **sorted = gt_allocate(count * sizeof(*sorted));

	for (size_t i = 0; i < count; i++)
		sorted[i] = &steps->rows.rows[first + i];
	qsort(sorted, count, sizeof(*sorted), by_wall);
	differences->slowest = sorted[count - 1];
	differences->median = sorted[(count - 1) / 2];
	gt_array_free(sorted);
}

/* ---- their parts ---- */

struct key {
	uint32_t part;
	uint32_t function; /* of gt_functions, or a string */
};

static struct gt_step_difference *find_row(struct gt_step_differences *differences,
                                           struct gt_index *keys, struct key key, const char *name)
{
	const size_t number = gt_index_add(keys, &key);

	if (number == differences->rows.count)
		*gt_array_push(&differences->rows) =
			(struct gt_step_difference){.part = key.part, .name = name};
	return &differences->rows.rows[number];
}

static void add(struct gt_step_difference *row, bool is_slowest, int64_t ns)
{
	*(is_slowest ? &row->slowest_count : &row->median_count) += 1;
	*(is_slowest ? &row->slowest_ns : &row->median_ns) += ns;
}

/* Which of the two a piece of work was asked for in; NULL: neither. */
static const struct gt_step *step_of(const struct gt_step_differences *differences,
                                     const struct gt_ranges *ranges, struct gt_owner owner)
{
	for (gt_id range = owner.range; range != GT_NONE;
	     range = gt_ranges_around(ranges, range, owner.at_ns)) {
		if (range == differences->slowest->range)
			return differences->slowest;
		if (range == differences->median->range)
			return differences->median;
	}
	return NULL;
}

static void add_kernels(struct gt_step_differences *differences, const struct gt_ranges *ranges,
                        struct gt_index *keys)
{
	const struct gt_trace *trace = ranges->trace;
	struct gt_functions functions;

	gt_functions_init(&functions, trace);
	for (gt_id i = 0; i < trace->kernels.count; i++) {
		const struct gt_kernel *kernel = &trace->kernels.rows[i];
		const size_t function = gt_function_of(&functions, kernel->shape);
		const struct key key = {GT_STEP_KERNEL, (uint32_t)function};
		struct gt_owners owners;
		const struct gt_step *step;

		if (!gt_timed(GT_TIMES_FIGURES, kernel->flags, kernel->start_ns, kernel->end_ns))
			continue;
		owners = gt_owners_of(trace, GT_ACTIVITY_KERNEL, i);
		step = step_of(differences, ranges, owners.launched);
		if (!step)
			step = step_of(differences, ranges, owners.captured);
		if (step)
			add(find_row(differences, keys, key, functions.names[function]),
			    step == differences->slowest, kernel->end_ns - kernel->start_ns);
	}
	gt_functions_release(&functions);
}

static void add_calls(struct gt_step_differences *differences, const struct gt_trace *trace,
                      const struct gt_thread_calls *calls, struct gt_index *keys,
                      const struct gt_step *step)
{
	const struct gt_interval when = {step->start_ns, step->end_ns};
	const gt_id thread = trace->ranges.rows[step->range].thread;
	struct gt_call_reach reach;

	if (thread >= trace->threads.count)
		return;
	reach = gt_thread_calls_reaching(calls, when, thread);
	for (size_t i = reach.first; i < reach.end; i++) {
		const struct gt_api_call *call = &trace->api_calls.rows[calls->rows[i]];
		const struct key key = {GT_STEP_CALL, call->function};

		if (gt_timed(GT_TIMES_FIGURES, call->flags, call->start_ns, call->end_ns) &&
		    call->start_ns >= when.start_ns && call->end_ns <= when.end_ns)
			add(find_row(differences, keys, key, gt_trace_text(trace, call->function)),
			    step == differences->slowest, call->end_ns - call->start_ns);
	}
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

	if (apart(left) != apart(right))
		return apart(left) < apart(right) ? 1 : -1;
	if (left->part != right->part)
		return left->part < right->part ? -1 : 1;
	return strcmp(left->name, right->name);
}

void gt_step_differences_init(struct gt_step_differences *differences, const struct gt_steps *steps,
                              size_t first, size_t count)
{
	const struct gt_trace *trace = steps->ranges.trace;
	struct gt_index *keys = gt_index_new(sizeof(struct key));
	struct gt_thread_calls calls;

	*differences = (struct gt_step_differences){0};
	choose(differences, steps, first, count);
	add_kernels(differences, &steps->ranges, keys);
	gt_thread_calls_init(&calls, trace);
	add_calls(differences, trace, &calls, keys, differences->slowest);
	add_calls(differences, trace, &calls, keys, differences->median);
	gt_thread_calls_release(&calls);
	gt_index_free(keys);
	if (differences->rows.count > 1)
		qsort(differences->rows.rows, differences->rows.count,
		      sizeof(*differences->rows.rows), by_difference);
}

void gt_step_differences_release(struct gt_step_differences *differences)
{
	gt_array_free(differences->rows.rows);
	*differences = (struct gt_step_differences){0};
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/device_events/kernels.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/array.h"

/*
 * Kernels at one time that are looked at: of more than that it cannot be told. No GPU runs more
 * than 128 grids at once.
 */
enum { MOST_BESIDE = 512, MOST_STEPS = 4 * MOST_BESIDE };

/* Nine of ten launches that are known by time must have the number for it to be trusted. */
enum { TRUSTED_SHARE = 10 };

/* A kernel in the order of its context and start. */
struct candidate {
	gt_id kernel;
	gt_id longer;   /* the next one before it that ended later; GT_NONE: none of its context */
	gt_time end_ns; /* 0: not known */
};

struct finder {
	const struct gt_trace *trace;
	struct candidate *candidates;
	size_t *firsts;    /* by context: its first, one more for the end */
	size_t *timed;     /* by context: its first that has times */
	bool *is_taken;    /* by kernel */
	bool *has_events;  /* by shape: kernels of it wrote some */
	bool numbers_hold; /* CUPTI's numbers of grids are those that kernels read */
};

/* The kernels that fit a launch. */
struct choice {
	gt_id kernel; /* the last one that was found */
	size_t count;
};

/* Which of the candidates count. */
enum wanted {
	ALL,
	WITH_NUMBER, /* of the launch's grid */
	UNNUMBERED,  /* CUPTI told none */
	LEFT,        /* not taken, and of a shape that has events */
};

static gt_id context_of(const struct gt_trace *trace, const struct gt_kernel *kernel)
{
	return kernel->stream < trace->streams.count ? trace->streams.rows[kernel->stream].context
	                                             : GT_NONE;
}

static bool has_times(const struct gt_kernel *kernel)
{
	return kernel->start_ns > 0 && kernel->end_ns >= kernel->start_ns &&
	       !(kernel->flags & GT_UNFINISHED);
}

static void count_kernels(struct finder *finder)
{
	const struct gt_trace *trace = finder->trace;
	const size_t contexts = trace->contexts.count;

	for (size_t i = 0; i <= contexts; i++)
		finder->firsts[i] = 0;
	gt_array_each(const struct gt_kernel, kernel, &trace->kernels) {
		const gt_id context = context_of(trace, kernel);

		if (context < contexts)
			finder->firsts[context + 1]++;
	}
	for (size_t i = 0; i < contexts; i++)
		finder->firsts[i + 1] += finder->firsts[i];
}

/* Each is passed by once: what it leads past, nobody behind it comes to again. */
static gt_id find_longer(const struct finder *finder, size_t place, size_t first)
{
	gt_id before = place > first ? (gt_id)(place - 1) : GT_NONE;

	while (before != GT_NONE &&
	       finder->candidates[before].end_ns <= finder->candidates[place].end_ns)
		before = finder->candidates[before].longer;
	return before;
}

/* Kernels are in the order of their start; those without times come first. */
static void place_kernels(struct finder *finder)
{
	const struct gt_trace *trace = finder->trace;
	size_t *next = gt_allocate((trace->contexts.count + 1) * sizeof(*next));

	for (size_t i = 0; i < trace->contexts.count; i++)
		next[i] = finder->timed[i] = finder->firsts[i];
	for (size_t i = 0; i < trace->kernels.count; i++) {
		const struct gt_kernel *kernel = &trace->kernels.rows[i];
		const gt_id context = context_of(trace, kernel);
		size_t place;

		if (context >= trace->contexts.count)
			continue;
		place = next[context]++;
		finder->candidates[place] = (struct candidate){
			(gt_id)i, GT_NONE, has_times(kernel) ? kernel->end_ns : 0};
		finder->candidates[place].longer =
			find_longer(finder, place, finder->firsts[context]);
		if (kernel->start_ns <= 0)
			finder->timed[context] = next[context];
	}
	gt_array_free(next);
}

static bool has_shape(const struct finder *finder, const struct gt_kernel *kernel,
                      const struct gt_device_launch *launch)
{
	const struct gt_launch_shape *shape;

	if (kernel->shape >= finder->trace->launch_shapes.count)
		return false;
	shape = &finder->trace->launch_shapes.rows[kernel->shape];
	return (uint64_t)shape->block_x * shape->block_y * shape->block_z == launch->threads &&
	       (uint64_t)shape->grid_x * shape->grid_y * shape->grid_z == launch->blocks;
}

static bool is_wanted(const struct finder *finder, gt_id row, const struct gt_device_launch *launch,
                      enum wanted wanted)
{
	const struct gt_kernel *kernel = &finder->trace->kernels.rows[row];

	if (!has_shape(finder, kernel, launch))
		return false;
	switch (wanted) {
	case ALL:
		return true;
	case WITH_NUMBER:
		return kernel->grid_id != 0 && kernel->grid_id == (uint32_t)launch->grid_id;
	case UNNUMBERED:
		return kernel->grid_id == 0;
	case LEFT:
		return !finder->is_taken[row] && finder->has_events[kernel->shape];
	}
	return false;
}

/* How many of a context begin by a time. */
static size_t count_begun(const struct finder *finder, gt_id context, gt_time time_ns)
{
	size_t low = finder->timed[context];
	size_t high = finder->firsts[context + 1];

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (finder->trace->kernels.rows[finder->candidates[middle].kernel].start_ns <=
		    time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Among the kernels that ran while the launch wrote. */
static struct choice look(const struct finder *finder, const struct gt_device_launch *launch,
                          enum wanted wanted)
{
	const gt_time end_ns = launch->end_ns - (gt_time)launch->bound_ns;
	struct choice choice = {GT_NONE, 0};
	const size_t first = finder->timed[launch->context];
	size_t at =
		count_begun(finder, launch->context, launch->start_ns + (gt_time)launch->bound_ns);
	size_t steps = 0;

	while (at > first && at <= finder->firsts[launch->context + 1]) {
		const struct candidate *candidate = &finder->candidates[at - 1];

		if (++steps > MOST_STEPS || choice.count > MOST_BESIDE)
			return (struct choice){GT_NONE, steps};
		if (candidate->end_ns < end_ns) {
			at = candidate->longer == GT_NONE ? 0 : (size_t)candidate->longer + 1;
			continue;
		}
		at--;
		if (is_wanted(finder, candidate->kernel, launch, wanted)) {
			choice.kernel = candidate->kernel;
			choice.count++;
		}
	}
	return choice;
}

/* Among those that had not finished when the recording ended. */
static struct choice look_unfinished(const struct finder *finder,
                                     const struct gt_device_launch *launch, enum wanted wanted)
{
	const size_t first = finder->firsts[launch->context];
	const size_t end = finder->timed[launch->context];
	struct choice choice = {GT_NONE, 0};

	for (size_t i = first; i < end; i++) {
		const gt_id row = finder->candidates[i].kernel;

		if (i - first >= MOST_BESIDE)
			return (struct choice){GT_NONE, MOST_BESIDE};
		if (is_wanted(finder, row, launch, wanted)) {
			choice.kernel = row;
			choice.count++;
		}
	}
	return choice;
}

static void choose(struct finder *finder, struct gt_device_launch *launch, gt_id kernel,
                   bool by_time)
{
	launch->kernel = kernel;
	launch->by_time = by_time;
	finder->is_taken[kernel] = true;
	finder->has_events[finder->trace->kernels.rows[kernel].shape] = true;
}

/* Whether a launch can be told at all. */
static bool is_placed(const struct finder *finder, const struct gt_device_launch *launch)
{
	return launch->start_ns > 0 && launch->context < finder->trace->contexts.count;
}

/* Those that one kernel alone can have written say whether the numbers of grids are the same. */
static void compare_numbers(struct finder *finder, const struct gt_device_launch *launches,
                            size_t count)
{
	size_t same = 0;
	size_t other = 0;

	for (size_t i = 0; i < count; i++) {
		struct choice choice;

		if (!is_placed(finder, &launches[i]))
			continue;
		choice = look(finder, &launches[i], ALL);
		if (choice.count != 1 || finder->trace->kernels.rows[choice.kernel].grid_id == 0)
			continue;
		if (finder->trace->kernels.rows[choice.kernel].grid_id ==
		    (uint32_t)launches[i].grid_id)
			same++;
		else
			other++;
	}
	finder->numbers_hold = same > TRUSTED_SHARE * other;
}

/* Without numbers, or of kernels whose number was not told. */
static void tell_by_time(struct finder *finder, struct gt_device_launch *launch)
{
	const enum wanted wanted = finder->numbers_hold ? UNNUMBERED : ALL;
	struct choice choice = look(finder, launch, wanted);

	if (choice.count == 0)
		choice = look_unfinished(finder, launch, wanted);
	if (choice.count == 1)
		choose(finder, launch, choice.kernel, true);
}

static void tell(struct finder *finder, struct gt_device_launch *launch)
{
	struct choice choice = {GT_NONE, 0};

	if (finder->numbers_hold)
		choice = look(finder, launch, WITH_NUMBER);
	if (finder->numbers_hold && choice.count == 0)
		choice = look_unfinished(finder, launch, WITH_NUMBER);
	if (choice.count == 1)
		choose(finder, launch, choice.kernel, false);
	else
		tell_by_time(finder, launch);
}

/* Takes a kernel that is left when the sure launches have theirs. */
static void tell_left(struct finder *finder, struct gt_device_launch *launch)
{
	const struct choice choice = look(finder, launch, LEFT);
	const bool is_other = choice.count == 1 && finder->numbers_hold &&
	                      finder->trace->kernels.rows[choice.kernel].grid_id != 0;

	if (choice.count == 1 && !is_other)
		choose(finder, launch, choice.kernel, true);
}

void gt_device_find_kernels(const struct gt_trace *trace, struct gt_device_launch *launches,
                            size_t count)
{
	struct finder finder = {.trace = trace};

	for (size_t i = 0; i < count; i++)
		launches[i].kernel = GT_NONE;
	finder.candidates = gt_allocate((trace->kernels.count + 1) * sizeof(*finder.candidates));
	finder.firsts = gt_allocate((trace->contexts.count + 1) * sizeof(*finder.firsts));
	finder.timed = gt_allocate((trace->contexts.count + 1) * sizeof(*finder.timed));
	finder.is_taken = calloc(trace->kernels.count + 1, sizeof(*finder.is_taken));
	finder.has_events = calloc(trace->launch_shapes.count + 1, sizeof(*finder.has_events));
	count_kernels(&finder);
	place_kernels(&finder);
	compare_numbers(&finder, launches, count);
	for (size_t i = 0; i < count; i++)
		if (is_placed(&finder, &launches[i]))
			tell(&finder, &launches[i]);
	for (size_t i = 0; i < count; i++)
		if (is_placed(&finder, &launches[i]) && launches[i].kernel == GT_NONE)
			tell_left(&finder, &launches[i]);
	gt_array_free(finder.candidates);
	gt_array_free(finder.firsts);
	gt_array_free(finder.timed);
	free(finder.is_taken);
	free(finder.has_events);
}

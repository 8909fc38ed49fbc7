/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/graphs/bodies.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"

/* When the activities of a launch that name its call ran. */
struct window {
	gt_time first_ns;
	gt_time last_ns;
	gt_id exec;
	gt_id api_call;
};

/* Whether work lies outside of all windows of an executable graph. */
struct outside {
	bool is_early;
	bool is_late;
};

/* An activity that names a node and may name no call. */
struct work {
	gt_time start_ns;
	gt_id node;
	gt_id *api_call;
};

struct bodies {
	struct gt_trace *trace;
	struct window *windows;
	size_t count;
	gt_id *window_of_call; /* until they are sorted */
	size_t *first_windows; /* by executable graph; one more than there are */
	struct outside *outside;
};

typedef void see_fn(struct bodies *bodies, struct work work);

static void each_work(struct bodies *bodies, see_fn *see)
{
#define SEE(plural)                                                                                \
	for (size_t i = 0; i < bodies->trace->plural.count; i++)                                   \
		if (bodies->trace->plural.rows[i].node < bodies->trace->graph_nodes.count &&       \
		    bodies->trace->plural.rows[i].start_ns > 0)                                    \
			see(bodies, (struct work){bodies->trace->plural.rows[i].start_ns,          \
			                          bodies->trace->plural.rows[i].node,              \
			                          &bodies->trace->plural.rows[i].api_call});
	SEE(kernels)
	SEE(copies)
	SEE(fills)
#undef SEE
}

static gt_id exec_of(const struct bodies *bodies, struct work work)
{
	const gt_id exec = bodies->trace->graph_nodes.rows[work.node].exec;

	return exec < bodies->trace->graph_execs.count ? exec : GT_NONE;
}

static bool has_call(const struct bodies *bodies, struct work work)
{
	return *work.api_call < bodies->trace->api_calls.count;
}

static void widen(struct bodies *bodies, struct work work)
{
	gt_id at;

	if (!has_call(bodies, work))
		return;
	at = bodies->window_of_call[*work.api_call];
	if (at == GT_NONE)
		return;

	struct window *window = &bodies->windows[at];

	if (window->first_ns == 0 || work.start_ns < window->first_ns)
		window->first_ns = work.start_ns;
	if (work.start_ns > window->last_ns)
		window->last_ns = work.start_ns;
}

static int by_exec_and_time(const void *a, const void *b)
{
	const struct window *left = a;
	const struct window *right = b;

	if (left->exec != right->exec)
		return left->exec < right->exec ? -1 : 1;
	return (left->first_ns > right->first_ns) - (left->first_ns < right->first_ns);
}

static void make_windows(struct bodies *bodies)
{
	struct gt_trace *trace = bodies->trace;
	size_t kept = 0;

	gt_array_each(const struct gt_graph_launch, launch, &trace->graph_launches) {
		if (launch->exec >= trace->graph_execs.count ||
		    launch->api_call >= trace->api_calls.count)
			continue;
		bodies->window_of_call[launch->api_call] = (gt_id)bodies->count;
		bodies->windows[bodies->count++] =
			(struct window){.exec = launch->exec, .api_call = launch->api_call};
	}
	each_work(bodies, widen);
	for (size_t i = 0; i < bodies->count; i++)
		if (bodies->windows[i].first_ns > 0)
			bodies->windows[kept++] = bodies->windows[i];
	bodies->count = kept;
	if (kept > 1)
		qsort(bodies->windows, kept, sizeof(*bodies->windows), by_exec_and_time);
	kept = 0;
	for (size_t exec = 0; exec <= trace->graph_execs.count; exec++) {
		while (kept < bodies->count && bodies->windows[kept].exec < exec)
			kept++;
		bodies->first_windows[exec] = kept;
	}
}

static void see_outside(struct bodies *bodies, struct work work)
{
	const gt_id exec = exec_of(bodies, work);

	if (has_call(bodies, work) || exec == GT_NONE ||
	    bodies->first_windows[exec] == bodies->first_windows[exec + 1])
		return;
	if (work.start_ns < bodies->windows[bodies->first_windows[exec]].first_ns)
		bodies->outside[exec].is_early = true;
	if (work.start_ns > bodies->windows[bodies->first_windows[exec + 1] - 1].last_ns)
		bodies->outside[exec].is_late = true;
}

static int first_to_time(const void *row, const void *wanted)
{
	const struct window *window = row;
	const gt_time *time_ns = wanted;

	return (window->first_ns > *time_ns) - (window->first_ns < *time_ns);
}

static int last_to_time(const void *row, const void *wanted)
{
	const struct window *window = row;
	const gt_time *time_ns = wanted;

	return (window->last_ns > *time_ns) - (window->last_ns < *time_ns);
}

/* The first of the windows whose first, or last, activity starts after that time. */
static size_t first_after(const struct bodies *bodies, gt_id exec, gt_time time_ns, bool by_last)
{
	const size_t first = bodies->first_windows[exec];

	return first + gt_search(&bodies->windows[first], bodies->first_windows[exec + 1] - first,
	                         sizeof(*bodies->windows), &time_ns,
	                         by_last ? last_to_time : first_to_time, 1);
}

static void link(struct bodies *bodies, struct work work)
{
	const gt_id exec = exec_of(bodies, work);
	const struct outside *outside;
	size_t at;

	if (has_call(bodies, work) || exec == GT_NONE)
		return;
	outside = &bodies->outside[exec];
	if (outside->is_early && outside->is_late)
		return;
	at = first_after(bodies, exec, work.start_ns, outside->is_early);
	if (!outside->is_early && at-- == bodies->first_windows[exec])
		return;
	if (at < bodies->first_windows[exec + 1])
		*work.api_call = bodies->windows[at].api_call;
}

void gt_graph_bodies_link(struct gt_trace *trace)
{
	const size_t execs = trace->graph_execs.count;
	struct bodies bodies = {
		.trace = trace,
		.windows = gt_allocate(trace->graph_launches.count * sizeof(*bodies.windows)),
		.window_of_call =
			gt_allocate(trace->api_calls.count * sizeof(*bodies.window_of_call)),
		.first_windows = gt_allocate((execs + 1) * sizeof(*bodies.first_windows)),
		.outside = gt_allocate(execs * sizeof(*bodies.outside)),
	};

	memset(bodies.window_of_call, 0xff,
	       trace->api_calls.count * sizeof(*bodies.window_of_call));
	memset(bodies.outside, 0, execs * sizeof(*bodies.outside));
	make_windows(&bodies);
	each_work(&bodies, see_outside);
	each_work(&bodies, link);
	gt_array_free(bodies.windows);
	gt_array_free(bodies.window_of_call);
	gt_array_free(bodies.first_windows);
	gt_array_free(bodies.outside);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/statistics/shares.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "analysis/figures.h"
#include "base/array.h"
#include "model/view/view.h"

struct gt_wall gt_wall_of(const struct gt_view *view)
{
	return (struct gt_wall){
		.start_ns = view->start_ns,
		.end_ns = view->end_ns,
		.parts = view->trace->parts.rows,
		.part_count = view->trace->parts.count,
		.ns = gt_view_lasts_ns(view),
	};
}

struct gt_wall gt_wall_of_window(const struct gt_view *view)
{
	return (struct gt_wall){
		.start_ns = view->start_ns,
		.end_ns = view->end_ns,
		.ns = (uint64_t)(view->end_ns - view->start_ns),
	};
}

void gt_unite(struct gt_united *united, const struct gt_wall *wall, struct gt_interval when)
{
	const struct gt_interval window = {wall->start_ns, wall->end_ns};
	struct gt_inside inside = {wall->parts, wall->part_count};

	if (wall->part_count == 0)
		inside = (struct gt_inside){&window, 1};
	gt_cover_add_inside(&united->cover, &inside, when);
}

struct gt_share gt_share_of(const struct gt_united *united, const struct gt_wall *wall,
                            enum gt_whose whose, gt_id row)
{
	assert(united->cover.covered_ns <= wall->ns);
	return (struct gt_share){whose, row, united->cover.covered_ns, wall->ns};
}

struct gt_share gt_share_of_intervals(const struct gt_wall *wall, struct gt_interval *intervals,
                                      size_t count, enum gt_whose whose, gt_id row)
{
	struct gt_united united = {0};

	count = gt_intervals_merge(intervals, count);
	for (size_t i = 0; i < count; i++)
		gt_unite(&united, wall, intervals[i]);
	return gt_share_of(&united, wall, whose, row);
}

struct gt_share gt_share_of_apart(const struct gt_wall *wall, uint64_t ns, enum gt_whose whose,
                                  gt_id row)
{
	return (struct gt_share){whose, row, ns < wall->ns ? ns : wall->ns, wall->ns};
}

struct gt_share gt_share_part(const struct gt_share *share, double part)
{
	struct gt_share less = *share;

	less.ns = part > 0 ? (uint64_t)((double)share->ns * fmin(part, 1) + 0.5) : 0;
	if (less.ns > share->ns)
		less.ns = share->ns;
	return less;
}

double gt_share_percent(const struct gt_share *share)
{
	return gt_percent((double)share->ns, (double)share->whole_ns);
}

bool gt_share_reaches(const struct gt_share *share, unsigned percent)
{
	return share->whole_ns > 0 && (double)share->ns * 100 >= (double)share->whole_ns * percent;
}

enum { NAME_BYTES = 80 }; /* shown of a name of a thread, a process, a host */

static struct gt_unit_name process_name(const struct gt_trace *trace, gt_id row)
{
	struct gt_unit_name name = {"a process that is not known"};
	const struct gt_process *process;
	const char *host = "";

	if (row >= trace->processes.count)
		return name;
	process = &trace->processes.rows[row];
	if (gt_several_hosts(trace))
		host = gt_trace_text(trace, process->host);
	snprintf(name.text, sizeof(name.text), "process %.*s (%u)%s%.*s", NAME_BYTES,
	         gt_trace_text(trace, process->name ? process->name : process->capture),
	         process->pid, *host ? " on " : "", NAME_BYTES, host);
	return name;
}

static struct gt_unit_name thread_name(const struct gt_trace *trace, gt_id row)
{
	struct gt_unit_name name = {"a thread that is not known"};

	if (row < trace->threads.count)
		snprintf(name.text, sizeof(name.text), "thread %.*s (%u)", NAME_BYTES,
		         gt_trace_text(trace, trace->threads.rows[row].name),
		         trace->threads.rows[row].tid);
	return name;
}

static struct gt_unit_name gpu_name(const struct gt_trace *trace, gt_id row)
{
	struct gt_unit_name name = {"a GPU that is not known"};

	if (row < trace->devices.count)
		snprintf(name.text, sizeof(name.text), "GPU %lld",
		         (long long)gt_device_number(&trace->devices.rows[row]));
	return name;
}

struct gt_unit_name gt_share_unit(const struct gt_share *share, const struct gt_trace *trace)
{
	switch (share->whose) {
	case GT_OF_RECORDING:
		break;
	case GT_OF_PROCESS:
		return process_name(trace, share->row);
	case GT_OF_THREAD:
		return thread_name(trace, share->row);
	case GT_OF_GPU:
		return gpu_name(trace, share->row);
	}
	return (struct gt_unit_name){"the recording"};
}

static size_t rows_of(const struct gt_trace *trace, enum gt_whose whose)
{
	switch (whose) {
	case GT_OF_RECORDING:
		break;
	case GT_OF_PROCESS:
		return trace->processes.count;
	case GT_OF_THREAD:
		return trace->threads.count;
	case GT_OF_GPU:
		return trace->devices.count;
	}
	return 0;
}

void gt_unit_times_init(struct gt_unit_times *times, const struct gt_view *view,
                        enum gt_whose whose)
{
	*times = (struct gt_unit_times){
		.wall = gt_wall_of(view),
		.whose = whose,
		.count = rows_of(view->trace, whose),
	};
	times->units = gt_allocate((times->count + 1) * sizeof(*times->units));
	for (size_t i = 0; i <= times->count; i++)
		times->units[i] = (struct gt_united){0};
}

void gt_unit_times_release(struct gt_unit_times *times)
{
	gt_array_free(times->units);
	*times = (struct gt_unit_times){0};
}

void gt_unit_times_add(struct gt_unit_times *times, gt_id row, struct gt_interval when)
{
	gt_unite(&times->units[row < times->count ? row : times->count], &times->wall, when);
	gt_unite(&times->any, &times->wall, when);
}

struct gt_share gt_unit_times_of(const struct gt_unit_times *times, gt_id row)
{
	const bool known = row < times->count;

	return gt_share_of(&times->units[known ? row : times->count], &times->wall, times->whose,
	                   known ? row : GT_NONE);
}

struct gt_share gt_unit_times_most(const struct gt_unit_times *times)
{
	struct gt_share most = gt_unit_times_of(times, GT_NONE);

	for (size_t i = times->count; i-- > 0;)
		if (times->units[i].cover.covered_ns >= most.ns)
			most = gt_unit_times_of(times, (gt_id)i);
	return most;
}

struct gt_share gt_unit_times_any(const struct gt_unit_times *times)
{
	return gt_share_of(&times->any, &times->wall, GT_OF_RECORDING, GT_NONE);
}

size_t gt_unit_times_used(const struct gt_unit_times *times)
{
	size_t used = 0;

	for (size_t i = 0; i <= times->count; i++)
		used += times->units[i].cover.covered_ns > 0;
	return used;
}

uint64_t gt_unit_times_sum(const struct gt_unit_times *times)
{
	uint64_t sum_ns = 0;

	for (size_t i = 0; i <= times->count; i++)
		sum_ns += times->units[i].cover.covered_ns;
	return sum_ns;
}

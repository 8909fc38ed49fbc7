/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "base/array.h"
#include "exporters/perfetto/lines.h"
#include "exporters/perfetto/writer.h"
#include "model/view/view.h"
#include "model/work/activity.h"

/*
 * Lines that a look at the whole needs: how busy each GPU was, which is the share of the time in
 * which a kernel ran, and how many calls had asked for work that had not begun. Both are averages
 * over stretches of time: exact lines would make the file half as large again.
 */

enum {
	STRETCHES_MIN = 100,
	STRETCHES_MAX = 1000, /* about as many as viewers have columns to draw in */
};

static const char group[] = "Load";

/* How much of each stretch some intervals cover; those that overlap count each. */
struct amounts {
	double *partial_ns; /* by stretch: of intervals that begin or end in it */
	double *whole;      /* by stretch: how many more cover all of it than of the one before */
	size_t at;          /* the stretch that the last one began in: most begin there again */
};

struct gpu_load {
	struct amounts busy;
	struct amounts in_flight;
	gt_time busy_until_ns; /* of the kernels so far */
	uint32_t busy_line;    /* GT_NONE: nothing ran on it */
	uint32_t in_flight_line;
};

struct load {
	struct gt_perfetto *perfetto;
	struct gt_lines lines;
	struct gpu_load *gpus; /* by row of devices */
	gt_time start_ns;
	uint64_t width_ns; /* of a stretch */
	size_t count;      /* of them */
};

static double *new_numbers(size_t count)
{
	double *numbers = gt_allocate_zeroed(count, sizeof(*numbers));

	return numbers;
}

static void add(const struct load *load, struct amounts *amounts, gt_time start_ns, gt_time end_ns)
{
	const uint64_t limit_ns = load->width_ns * load->count;
	uint64_t from_ns = start_ns > load->start_ns ? (uint64_t)(start_ns - load->start_ns) : 0;
	uint64_t to_ns = end_ns > load->start_ns ? (uint64_t)(end_ns - load->start_ns) : 0;
	size_t first;
	size_t last;

	first = amounts->at;
	if (from_ns >= first * load->width_ns && to_ns < (first + 1) * load->width_ns &&
	    from_ns < to_ns) {
		amounts->partial_ns[first] += (double)(to_ns - from_ns);
		return;
	}
	from_ns = from_ns < limit_ns ? from_ns : limit_ns;
	to_ns = to_ns < limit_ns ? to_ns : limit_ns;
	if (to_ns <= from_ns)
		return;
	first = (size_t)(from_ns / load->width_ns);
	last = (size_t)(to_ns / load->width_ns);
	amounts->at = first;
	if (first == last) {
		amounts->partial_ns[first] += (double)(to_ns - from_ns);
		return;
	}
	amounts->partial_ns[first] += (double)((first + 1) * load->width_ns - from_ns);
	amounts->partial_ns[last] += (double)(to_ns - last * load->width_ns);
	amounts->whole[first + 1] += 1;
	amounts->whole[last] -= 1;
}

static void see_kernel(const struct load *load, struct gpu_load *gpu,
                       const struct gt_activity *activity)
{
	const gt_time start_ns =
		activity->start_ns > gpu->busy_until_ns ? activity->start_ns : gpu->busy_until_ns;

	if (activity->end_ns <= start_ns)
		return;
	add(load, &gpu->busy, start_ns, activity->end_ns);
	gpu->busy_until_ns = activity->end_ns;
}

/* A call is in flight until the first work that it asked for begins. */
static void see_activities(struct load *load)
{
	const struct gt_trace *trace = load->perfetto->trace;
	bool *begun = gt_allocate_zeroed(trace->api_calls.count, sizeof(*begun));
	struct gt_activity_walk walk;
	struct gt_activity activity;

	gt_activity_walk_init(&walk, trace, GT_WORK_ALL);
	while (gt_activity_next(&walk, &activity)) {
		struct gpu_load *gpu;

		if (activity.device >= trace->devices.count)
			continue;
		gpu = &load->gpus[activity.device];
		gpu->busy_line = 0;
		if (gt_activity_is_work(activity.type))
			see_kernel(load, gpu, &activity);
		if (activity.api_call >= trace->api_calls.count || begun[activity.api_call])
			continue;
		begun[activity.api_call] = true;
		add(load, &gpu->in_flight, trace->api_calls.rows[activity.api_call].start_ns,
		    activity.start_ns);
	}
	gt_array_free(begun);
}

static void add_lines(struct load *load)
{
	for (gt_id i = 0; i < load->perfetto->trace->devices.count; i++) {
		struct gpu_load *gpu = &load->gpus[i];

		if (gpu->busy_line == GT_NONE)
			continue;
		gpu->busy_line = gt_lines_add(
			&load->lines,
			&(struct gt_line){.device = i,
		                          .group = group,
		                          .name = "GPU busy",
		                          .help = "Share of the time in which a kernel ran",
		                          .unit = GT_MEASURE_PERCENT});
		gpu->in_flight_line = gt_lines_add(
			&load->lines,
			&(struct gt_line){.device = i,
		                          .group = group,
		                          .name = "launches in flight",
		                          .help = "Calls whose work had not begun on the GPU"});
	}
}

/* Whole numbers take fewer bytes; below ten one digit more matters. */
static double shorten(double value)
{
	return value < 10 ? round(value * 10) / 10 : round(value);
}

static void put_gpu(struct load *load, struct gpu_load *gpu, size_t stretch, double *covering)
{
	const double width_ns = (double)load->width_ns;
	const gt_time time_ns = load->start_ns + (gt_time)(stretch * load->width_ns);

	if (gpu->busy_line == GT_NONE)
		return;
	covering[0] += gpu->busy.whole[stretch];
	covering[1] += gpu->in_flight.whole[stretch];
	gt_lines_put(&load->lines, gpu->busy_line, time_ns,
	             shorten(100 * (covering[0] + gpu->busy.partial_ns[stretch] / width_ns)));
	gt_lines_put(&load->lines, gpu->in_flight_line, time_ns,
	             shorten(covering[1] + gpu->in_flight.partial_ns[stretch] / width_ns));
}

/* Before the first work, and behind the last. */
static void put_nothing(struct load *load, gt_time time_ns)
{
	for (size_t i = 0; i < load->perfetto->trace->devices.count; i++) {
		if (load->gpus[i].busy_line == GT_NONE)
			continue;
		gt_lines_put(&load->lines, load->gpus[i].busy_line, time_ns, 0);
		gt_lines_put(&load->lines, load->gpus[i].in_flight_line, time_ns, 0);
	}
}

static void put_lines(struct load *load)
{
	const size_t gpu_count = load->perfetto->trace->devices.count;
	double *covering = new_numbers(2 * gpu_count);

	put_nothing(load, load->perfetto->view->start_ns);
	for (size_t stretch = 0; stretch < load->count; stretch++)
		for (size_t i = 0; i < gpu_count; i++)
			put_gpu(load, &load->gpus[i], stretch, &covering[2 * i]);
	put_nothing(load, load->start_ns + (gt_time)(load->count * load->width_ns));
	gt_array_free(covering);
}

/* From the first call for work to the last end of it: nothing else is there to be seen. */
static struct gt_interval find_used(const struct load *load)
{
	const struct gt_view *view = load->perfetto->view;
	const struct gt_trace *trace = load->perfetto->trace;
	struct gt_interval used = {view->end_ns, view->start_ns};
	struct gt_activity_walk walk;
	struct gt_activity activity;

	gt_activity_walk_init(&walk, trace, GT_WORK_ALL);
	while (gt_activity_next(&walk, &activity)) {
		const gt_time asked_ns = activity.api_call < trace->api_calls.count
		                                 ? trace->api_calls.rows[activity.api_call].start_ns
		                                 : activity.start_ns;

		if (asked_ns < used.start_ns)
			used.start_ns = asked_ns;
		if (activity.start_ns < used.start_ns)
			used.start_ns = activity.start_ns;
		if (activity.end_ns > used.end_ns)
			used.end_ns = activity.end_ns;
	}
	if (used.start_ns < view->start_ns)
		used.start_ns = view->start_ns;
	if (used.end_ns > view->end_ns)
		used.end_ns = view->end_ns;
	return used;
}

static void divide(struct load *load)
{
	const size_t slices = gt_ids_slice_count(&load->perfetto->ids);
	const struct gt_interval used = find_used(load);
	const uint64_t length_ns =
		used.end_ns > used.start_ns ? (uint64_t)(used.end_ns - used.start_ns) : 0;

	load->start_ns = used.start_ns;
	load->count = slices;
	if (load->count < STRETCHES_MIN)
		load->count = STRETCHES_MIN;
	if (load->count > STRETCHES_MAX)
		load->count = STRETCHES_MAX;
	load->width_ns = length_ns / load->count + (length_ns % load->count != 0 || length_ns == 0);
}

void gt_perfetto_write_load(struct gt_perfetto *perfetto)
{
	const size_t gpu_count = perfetto->trace->devices.count;
	const struct gt_view *view = perfetto->view;
	struct load load = {.perfetto = perfetto};

	if (gt_ids_slice_count(&perfetto->ids) == 0 || !gt_ids_time_is_sound(view->start_ns) ||
	    view->end_ns <= view->start_ns)
		return;
	divide(&load);
	load.gpus = gt_allocate(gpu_count * sizeof(*load.gpus));
	for (size_t i = 0; i < gpu_count; i++)
		load.gpus[i] = (struct gpu_load){
			.busy = {new_numbers(load.count + 1), new_numbers(load.count + 1), 0},
			.in_flight = {new_numbers(load.count + 1), new_numbers(load.count + 1), 0},
			.busy_line = GT_NONE,
		};
	see_activities(&load);
	gt_lines_init(&load.lines, perfetto);
	add_lines(&load);
	gt_lines_describe(&load.lines);
	put_lines(&load);
	gt_lines_finish(&load.lines, view->end_ns);
	for (size_t i = 0; i < gpu_count; i++) {
		gt_array_free(load.gpus[i].busy.partial_ns);
		gt_array_free(load.gpus[i].busy.whole);
		gt_array_free(load.gpus[i].in_flight.partial_ns);
		gt_array_free(load.gpus[i].in_flight.whole);
	}
	gt_array_free(load.gpus);
}

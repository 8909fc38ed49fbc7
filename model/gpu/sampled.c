/* SPDX-License-Identifier: Apache-2.0 */
#include "model/gpu/sampled.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "model/work/activity.h"

/* One thing that ran; and of it and all that began before, that which ends last. */
struct piece {
	gt_time start_ns;
	gt_time end_ns;
	gt_id kernel; /* GT_NONE: it is none */
	size_t longest;
};

/* Work that ran on one GPU. */
struct work {
	gt_array(struct piece) pieces; /* in order of their start */
	gt_time *ends_ns;              /* of all of them, sorted */
};

static int by_time(const void *a, const void *b)
{
	const gt_time left = *(const gt_time *)a;
	const gt_time right = *(const gt_time *)b;

	return (left > right) - (left < right);
}

static int by_start(const void *row, const void *wanted)
{
	return by_time(&((const struct piece *)row)->start_ns, wanted);
}

static void add_piece(struct work *work, const struct gt_activity *activity)
{
	const size_t at = work->pieces.count;
	struct piece *piece = gt_array_push(&work->pieces);

	*piece = (struct piece){
		.start_ns = activity->start_ns,
		.end_ns = activity->end_ns,
		.kernel = activity->type == GT_ACTIVITY_KERNEL ? activity->row : GT_NONE,
		.longest = at,
	};
	if (at > 0) {
		const size_t before = work->pieces.rows[at - 1].longest;

		if (work->pieces.rows[before].end_ns > piece->end_ns)
			piece->longest = before;
	}
}

/* Work of every GPU, by row of devices. */
static struct work *gather_work(const struct gt_trace *trace)
{
	struct work *works = gt_allocate(trace->devices.count * sizeof(*works));
	struct gt_activity_walk walk;
	struct gt_activity activity;

	for (size_t i = 0; i < trace->devices.count; i++)
		works[i] = (struct work){0};
	gt_activity_walk_init(&walk, trace, GT_WORK_ALL);
	while (gt_activity_next(&walk, &activity))
		if (activity.device < trace->devices.count && activity.end_ns > activity.start_ns)
			add_piece(&works[activity.device], &activity);
	for (size_t i = 0; i < trace->devices.count; i++) {
		struct work *work = &works[i];

		work->ends_ns = gt_allocate(work->pieces.count * sizeof(*work->ends_ns));
		for (size_t j = 0; j < work->pieces.count; j++)
			work->ends_ns[j] = work->pieces.rows[j].end_ns;
		qsort(work->ends_ns, work->pieces.count, sizeof(*work->ends_ns), by_time);
	}
	return works;
}

static void work_release(struct work *work)
{
	gt_array_release(&work->pieces);
	gt_array_free(work->ends_ns);
}

/* Whose the time is, and the kernel if it is one's. */
static enum gt_sampled_place place_of(const struct work *work, gt_time start_ns, gt_time end_ns,
                                      gt_id *kernel)
{
	const size_t begun = gt_count_before(&work->pieces, &end_ns, by_start);
	const size_t ended = gt_search(work->ends_ns, work->pieces.count, sizeof(*work->ends_ns),
	                               &start_ns, by_time, 1);
	const struct piece *piece;

	if (begun == 0 || begun <= ended || !work->pieces.rows)
		return GT_SAMPLED_IDLE;
	/* Only one of those begun by its end has not ended by its start: the last to end. */
	piece = &work->pieces.rows[work->pieces.rows[begun - 1].longest];
	if (begun - ended > 1 || piece->kernel == GT_NONE || piece->start_ns > start_ns ||
	    piece->end_ns < end_ns)
		return GT_SAMPLED_SHARED;
	*kernel = piece->kernel;
	return GT_SAMPLED_KERNEL;
}

/* A gap has nothing but its length. */
static bool is_gap(const struct gt_sampled *sampled, size_t sample)
{
	const struct gt_series *series = sampled->series;

	for (size_t i = 0; i < series->column_count; i++)
		if (i != sampled->span->place && !isnan(series->columns[i][sample]))
			return false;
	return true;
}

static void place_samples(struct gt_sampled *sampled, const struct work *work)
{
	const struct gt_series *series = sampled->series;

	for (size_t i = 0; i < series->count; i++) {
		const double length_ns = gt_sampled_length(sampled, i);

		sampled->kernels[i] = GT_NONE;
		if (is_gap(sampled, i))
			sampled->places[i] = GT_SAMPLED_GAP;
		else if (length_ns <= 0)
			sampled->places[i] = GT_SAMPLED_SHARED;
		else
			sampled->places[i] =
				(uint8_t)place_of(work, series->times_ns[i],
			                          series->times_ns[i] + (gt_time)length_ns,
			                          &sampled->kernels[i]);
	}
}

/* Whether it is a GPU's column of lengths. */
static bool is_length(const struct gt_trace *trace, const struct gt_counter *counter)
{
	return counter->kind == GT_COUNTER_SPAN && counter->device < trace->devices.count &&
	       counter->series < trace->series.count &&
	       counter->place < trace->series.rows[counter->series].column_count;
}

/* The first column of lengths counts where a damaged recording gives a series several. */
static void find_series(struct gt_sampled_list *list, const struct gt_trace *trace)
{
	gt_array_each(const struct gt_counter, counter, &trace->counters) {
		const struct gt_series *series;

		if (!is_length(trace, counter) || list->of_series[counter->series] != SIZE_MAX)
			continue;
		series = &trace->series.rows[counter->series];
		list->of_series[counter->series] = list->count;
		list->rows[list->count++] = (struct gt_sampled){
			.series = series,
			.span = counter,
			.places = gt_allocate(series->count * sizeof(uint8_t)),
			.kernels = gt_allocate(series->count * sizeof(gt_id)),
		};
	}
}

static void place_all(struct gt_sampled_list *list, const struct gt_trace *trace)
{
	struct work *works = gather_work(trace);

	for (size_t i = 0; i < list->count; i++)
		place_samples(&list->rows[i], &works[list->rows[i].span->device]);
	for (size_t i = 0; i < trace->devices.count; i++)
		work_release(&works[i]);
	gt_array_free(works);
}

void gt_sampled_list_init(struct gt_sampled_list *list, const struct gt_trace *trace)
{
	*list = (struct gt_sampled_list){
		.rows = gt_allocate(trace->series.count * sizeof(*list->rows)),
		.of_series = gt_allocate(trace->series.count * sizeof(*list->of_series)),
		.series_count = trace->series.count,
	};
	for (size_t i = 0; i < trace->series.count; i++)
		list->of_series[i] = SIZE_MAX;
	find_series(list, trace);
	if (list->count > 0)
		place_all(list, trace);
}

/* Work of one GPU that runs at the time of a sample. */
struct sweep {
	const struct gt_sampled_groups *groups;
	gt_id device;
	struct gt_activity_walk walk;
	struct gt_activity next;              /* of the GPU, that has not begun yet */
	bool ended;                           /* there is none */
	gt_array(struct gt_activity) running; /* in order of their start */
};

static void sweep_next(struct sweep *sweep)
{
	do {
		sweep->ended = gt_activity_next(&sweep->walk, &sweep->next) == 0;
	} while (!sweep->ended && (sweep->next.device != sweep->device ||
	                           sweep->next.end_ns <= sweep->next.start_ns));
}

/* Leaves in running what runs at any moment from start to end; samples come in order. */
static void sweep_to(struct sweep *sweep, gt_time start_ns, gt_time end_ns)
{
	size_t kept = 0;

	gt_array_each(const struct gt_activity, activity, &sweep->running)
		if (activity->end_ns > start_ns)
			sweep->running.rows[kept++] = *activity;
	sweep->running.count = kept;
	while (!sweep->ended && sweep->next.start_ns < end_ns) {
		if (sweep->next.end_ns > start_ns)
			*gt_array_push(&sweep->running) = sweep->next;
		sweep_next(sweep);
	}
}

static gt_id group_of(const struct sweep *sweep, const struct gt_activity *activity)
{
	return activity->type == GT_ACTIVITY_KERNEL ? sweep->groups->of_kernel[activity->row]
	                                            : GT_NONE;
}

gt_id gt_sampled_common(const struct gt_sampled_groups *groups, gt_id a, gt_id b)
{
	while (a != b && a != GT_NONE && b != GT_NONE) {
		gt_id *inner = a > b ? &a : &b;

		*inner = groups->outer ? groups->outer[*inner] : GT_NONE;
	}
	return a == b ? a : GT_NONE;
}

static struct gt_sampled_owner owner_at(const struct sweep *sweep, gt_time start_ns, gt_time end_ns)
{
	struct gt_sampled_owner owner = {.group = GT_NONE};
	gt_time until_ns = start_ns;

	gt_array_each(const struct gt_activity, activity, &sweep->running) {
		const gt_id group = group_of(sweep, activity);
		const gt_time from_ns =
			activity->start_ns > until_ns ? activity->start_ns : until_ns;
		const gt_time to_ns = activity->end_ns < end_ns ? activity->end_ns : end_ns;

		owner.group = activity == sweep->running.rows
		                      ? group
		                      : gt_sampled_common(sweep->groups, owner.group, group);
		owner.work_ns +=
			(double)(to_ns -
		                 (activity->start_ns > start_ns ? activity->start_ns : start_ns));
		if (to_ns > from_ns) {
			owner.busy_ns += (double)(to_ns - from_ns);
			until_ns = to_ns;
		}
	}
	if (owner.group == GT_NONE)
		owner.busy_ns = owner.work_ns = 0;
	return owner;
}

struct gt_sampled_owner *gt_sampled_owners(const struct gt_sampled *sampled,
                                           const struct gt_trace *trace,
                                           const struct gt_sampled_groups *groups)
{
	const struct gt_series *series = sampled->series;
	struct gt_sampled_owner *owners = gt_allocate(series->count * sizeof(*owners));
	struct sweep sweep = {.groups = groups, .device = sampled->span->device};

	gt_activity_walk_init(&sweep.walk, trace, GT_WORK_ALL);
	sweep_next(&sweep);
	for (size_t i = 0; i < series->count; i++) {
		const gt_time start_ns = series->times_ns[i];
		const gt_time end_ns = start_ns + (gt_time)gt_sampled_length(sampled, i);

		owners[i] = (struct gt_sampled_owner){.group = GT_NONE};
		if (sampled->places[i] == GT_SAMPLED_GAP || end_ns <= start_ns)
			continue;
		sweep_to(&sweep, start_ns, end_ns);
		owners[i] = owner_at(&sweep, start_ns, end_ns);
	}
	gt_array_release(&sweep.running);
	return owners;
}

void gt_sampled_list_release(struct gt_sampled_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		gt_array_free(list->rows[i].places);
		gt_array_free(list->rows[i].kernels);
	}
	gt_array_free(list->rows);
	gt_array_free(list->of_series);
	*list = (struct gt_sampled_list){0};
}

const struct gt_sampled *gt_sampled_of(const struct gt_sampled_list *list,
                                       const struct gt_counter *counter)
{
	const struct gt_sampled *sampled;

	if (counter->kind == GT_COUNTER_SPAN || !gt_is_sampled(counter) ||
	    counter->series >= list->series_count || list->of_series[counter->series] == SIZE_MAX)
		return NULL;
	sampled = &list->rows[list->of_series[counter->series]];
	return sampled->span->device == counter->device &&
	                       counter->place < sampled->series->column_count
	               ? sampled
	               : NULL;
}

double gt_sampled_length(const struct gt_sampled *sampled, size_t sample)
{
	const double length_ns = sampled->series->columns[sampled->span->place][sample];

	/* A day: what a damaged recording says may be anything. */
	return length_ns > 0 && length_ns < 86400e9 ? length_ns : 0;
}

bool gt_is_sampled(const struct gt_counter *counter)
{
	return counter->kind == GT_COUNTER_SPAN || counter->kind == GT_COUNTER_SUM ||
	       counter->kind == GT_COUNTER_MEAN;
}

const char *gt_sampled_group(const char *name)
{
	static const struct {
		const char *name;
		const char *group;
	} known[] = {
#define COUNTER(name, unit, kind, set, group, metric, help) {#name, group},
#include "format/kinds/pm_counters.def"
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(known[i].name, name) == 0)
			return known[i].group;
	return "Metrics";
}

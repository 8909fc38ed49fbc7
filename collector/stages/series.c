/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"
#include "collector/stage.h"
#include "model/work/intervals.h"

/*
 * Several processes may have sampled the same GPU at the same time: they saw the same, and it is
 * shown once. The process that sampled longest is believed; of the others stays what they saw
 * when it was not there.
 */

/* A series with the counters that name it, which stand one behind the other. */
struct member {
	size_t series;
	size_t first; /* of the counters */
	size_t count; /* of them; 0: they are not to be told from others' */
	gt_time span_ns;
	bool gone;                           /* it is part of another one */
	gt_array(struct gt_interval) covers; /* times of which it has the samples */
};

static gt_time span_of(const struct gt_series *series)
{
	return series->count ? series->times_ns[series->count - 1] - series->times_ns[0] : 0;
}

static void find_counters(const struct gt_trace *trace, struct member *members)
{
	for (size_t i = 0; i < trace->counters.count; i++) {
		struct member *member = &members[trace->counters.rows[i].series];

		if (member->count == 0)
			member->first = i;
		else if (member->first + member->count != i)
			break; /* no capture of ours is like that */
		member->count++;
	}
}

static bool are_alike(const struct gt_trace *trace, const struct member *a, const struct member *b)
{
	if (a->count == 0 || a->count != b->count ||
	    trace->series.rows[a->series].column_count !=
	            trace->series.rows[b->series].column_count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		const struct gt_counter *left = &trace->counters.rows[a->first + i];
		const struct gt_counter *right = &trace->counters.rows[b->first + i];

		if (left->device == GT_NONE || left->device != right->device ||
		    left->pool != right->pool || left->name != right->name ||
		    left->place != right->place || left->kind != right->kind)
			return false;
	}
	return true;
}

static bool is_covered(const struct member *member, gt_time time_ns)
{
	gt_array_each(const struct gt_interval, cover, &member->covers)
		if (time_ns >= cover->start_ns && time_ns <= cover->end_ns)
			return true;
	return false;
}

static void copy_sample(struct gt_series *to, size_t at, const struct gt_series *from,
                        size_t sample)
{
	to->times_ns[at] = from->times_ns[sample];
	for (size_t column = 0; column < to->column_count; column++)
		to->columns[column][at] = from->columns[column][sample];
}

/* Both are sorted by time, and so is what comes out of it: it is filled from its end. */
static void merge(struct gt_series *to, const struct gt_series *from, const size_t *samples,
                  size_t count)
{
	size_t left = to->count;
	size_t at = to->count + count;

	gt_series_reserve(to, count);
	to->count = at;
	while (count > 0) {
		const bool later =
			left > 0 && to->times_ns[left - 1] > from->times_ns[samples[count - 1]];

		at--;
		if (later)
			copy_sample(to, at, to, --left);
		else
			copy_sample(to, at, from, samples[--count]);
	}
}

static void add_cover(struct member *member, const struct gt_series *series)
{
	if (series->count)
		*gt_array_push(&member->covers) = (struct gt_interval){
			series->times_ns[0], series->times_ns[series->count - 1]};
}

static void join(struct gt_trace *trace, struct member *to, struct member *from)
{
	struct gt_series *series = &trace->series.rows[from->series];
	size_t *samples = gt_allocate(series->count * sizeof(*samples));
	size_t count = 0;

	for (size_t i = 0; i < series->count; i++)
		if (!is_covered(to, series->times_ns[i]))
			samples[count++] = i;
	merge(&trace->series.rows[to->series], series, samples, count);
	add_cover(to, series);
	from->gone = true;
	free(samples);
}

static int by_span(const void *a, const void *b)
{
	const struct member *left = a;
	const struct member *right = b;

	if (left->span_ns != right->span_ns)
		return left->span_ns > right->span_ns ? -1 : 1;
	return left->series < right->series ? -1 : 1;
}

static struct member *make_members(const struct gt_trace *trace)
{
	const size_t count = trace->series.count;
	struct member *members = gt_allocate(count * sizeof(*members));

	for (size_t i = 0; i < count; i++)
		members[i] =
			(struct member){.series = i, .span_ns = span_of(&trace->series.rows[i])};
	find_counters(trace, members);
	qsort(members, count, sizeof(*members), by_span);
	for (size_t i = 0; i < count; i++)
		add_cover(&members[i], &trace->series.rows[members[i].series]);
	return members;
}

/* The series that are part of others go, and with them the counters that name them. */
static void remove_gone(struct gt_trace *trace, const struct member *members)
{
	const size_t count = trace->series.count;
	size_t *renamed = gt_allocate(count * sizeof(*renamed));
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		renamed[members[i].series] = members[i].gone ? SIZE_MAX : 0;
	for (size_t i = 0; i < count; i++) {
		if (renamed[i] == SIZE_MAX) {
			gt_series_release(&trace->series.rows[i]);
			continue;
		}
		renamed[i] = kept;
		trace->series.rows[kept++] = trace->series.rows[i];
	}
	trace->series.count = kept;
	kept = 0;
	gt_array_each(struct gt_counter, counter, &trace->counters) {
		if (renamed[counter->series] == SIZE_MAX)
			continue;
		counter->series = (gt_count)renamed[counter->series];
		trace->counters.rows[kept++] = *counter;
	}
	trace->counters.count = kept;
	free(renamed);
}

static int run(struct gt_collection *collection, struct gt_error *err)
{
	struct gt_trace *trace = collection->trace;
	const size_t count = trace->series.count;
	struct member *members = make_members(trace);

	(void)err;
	for (size_t i = 0; i < count; i++) {
		size_t before = 0;

		while (before < i &&
		       (members[before].gone || !are_alike(trace, &members[before], &members[i])))
			before++;
		if (before < i)
			join(trace, &members[before], &members[i]);
	}
	remove_gone(trace, members);
	for (size_t i = 0; i < count; i++)
		gt_array_release(&members[i].covers);
	gt_array_free(members);
	return 0;
}

const struct gt_stage gt_stage_series = {.name = "series", .run = run};

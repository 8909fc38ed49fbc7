/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ranges/figures.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/groups.h"
#include "base/array.h"
#include "base/strings.h"
#include "base/sums.h"
#include "model/naming/operations.h"
#include "model/ranges/projection.h"
#include "model/ranges/quiet.h"
#include "model/whole.h"
#include "model/work/timed.h"

const char *const gt_ranges_words[] = {"path", "name", "domain", NULL};

static const char default_domain[] = "(default)";

enum gt_ranges_by gt_ranges_by(const char *word)
{
	size_t i = 0;

	while (gt_ranges_words[i + 1] && strcmp(gt_ranges_words[i], word) != 0)
		i++;
	return (enum gt_ranges_by)i;
}

static gt_string domain_of(const struct gt_ranges *ranges, gt_id range)
{
	const struct gt_range_path *path = &ranges->paths.rows[ranges->path_of[range]];

	return ranges->names.rows[path->name].domain;
}

/* Numbers the domains that have ranges, in the order in which they come. */
static void group_by_domain(struct gt_range_totals *totals)
{
	const struct gt_trace *trace = totals->ranges.trace;
	const size_t limit = gt_strings_count(trace->strings);
	gt_id *group_of = gt_allocate(limit * sizeof(*group_of));

	memset(group_of, 0xff, limit * sizeof(*group_of));
	totals->domains = gt_allocate((trace->domains.count + 1) * sizeof(*totals->domains));
	for (gt_id i = 0; i < trace->ranges.count; i++) {
		const gt_string name = domain_of(&totals->ranges, i);
		const gt_string domain = name < limit ? name : 0;

		if (group_of[domain] == GT_NONE) {
			totals->domains[totals->count] = domain;
			group_of[domain] = (gt_id)totals->count++;
		}
		totals->group_of[i] = group_of[domain];
	}
	gt_array_free(group_of);
}

static void group_ranges(struct gt_range_totals *totals)
{
	const struct gt_ranges *ranges = &totals->ranges;
	const size_t count = ranges->trace->ranges.count;

	totals->group_of = gt_allocate(count * sizeof(*totals->group_of));
	switch (totals->by) {
	case GT_RANGES_BY_PATH:
		totals->count = ranges->paths.count;
		for (size_t i = 0; i < count; i++)
			totals->group_of[i] = ranges->path_of[i];
		break;
	case GT_RANGES_BY_NAME:
		totals->count = ranges->names.count;
		for (size_t i = 0; i < count; i++)
			totals->group_of[i] = ranges->paths.rows[ranges->path_of[i]].name;
		break;
	case GT_RANGES_BY_DOMAIN:
		group_by_domain(totals);
		break;
	}
}

static bool counts(const struct gt_range *range)
{
	return !(range->flags & GT_AROUND);
}

struct gt_range_spread gt_range_spread_of(int64_t *values, size_t count)
{
	struct gt_range_spread spread = {.spread = gt_spread_of(values, count)};

	if (count > 0)
		spread.p95 = gt_percentile(values, count, 95);
	return spread;
}

static struct gt_range_spread spread_of(const struct gt_groups *values, size_t group)
{
	size_t count;
	int64_t *rows = gt_groups_get(values, group, group, &count);

	return gt_range_spread_of(rows, count);
}

/* Shares of its wall time are of what of it is in the window, which may end before it. */
static void add_quiet(struct gt_range_figures *row, const struct gt_range *range,
                      const struct gt_quiet *quiet, gt_time window_end_ns)
{
	const gt_time end_ns = range->end_ns < window_end_ns ? range->end_ns : window_end_ns;

	if (end_ns <= range->start_ns)
		return;
	row->shown_ns += (uint64_t)(end_ns - range->start_ns);
	row->quiet_ns += gt_quiet_between(quiet, range->start_ns, end_ns);
}

static void add_wall_times(struct gt_range_totals *totals)
{
	const struct gt_trace *trace = totals->ranges.trace;
	struct gt_groups walls;
	struct gt_quiet quiet;

	gt_quiet_init(&quiet, trace);
	gt_groups_init(&walls, totals->count);
	for (size_t i = 0; i < trace->ranges.count; i++) {
		const struct gt_range *range = &trace->ranges.rows[i];
		struct gt_range_figures *row = &totals->rows[totals->group_of[i]];

		if (!counts(range))
			continue;
		row->ranges++;
		if (gt_timed(GT_TIMES_ANY, range->flags, range->start_ns, range->end_ns))
			gt_groups_expect(&walls, totals->group_of[i]);
		else
			row->open++;
	}
	gt_groups_begin(&walls);
	for (size_t i = 0; i < trace->ranges.count; i++) {
		const struct gt_range *range = &trace->ranges.rows[i];

		if (!counts(range) ||
		    !gt_timed(GT_TIMES_ANY, range->flags, range->start_ns, range->end_ns))
			continue;
		gt_groups_add(&walls, totals->group_of[i], range->end_ns - range->start_ns);
		add_quiet(&totals->rows[totals->group_of[i]], range, &quiet, gt_whole_until(trace));
	}
	for (size_t i = 0; i < totals->count; i++)
		totals->rows[i].wall = spread_of(&walls, i);
	gt_groups_release(&walls);
	gt_quiet_release(&quiet);
}

/* GPU time of each range: its busy and its idle time, on all GPUs together. */
static void add_each(struct gt_range_totals *totals)
{
	const struct gt_trace *trace = totals->ranges.trace;
	struct gt_projection each;
	struct gt_groups busy;
	struct gt_groups idle;

	gt_projection_init(&each, &totals->ranges, GT_PROJECT_DEVICES, NULL, 0);
	gt_groups_init(&busy, totals->count);
	gt_groups_init(&idle, totals->count);
	for (size_t i = 0; i < trace->ranges.count; i++)
		if (counts(&trace->ranges.rows[i])) {
			gt_groups_expect(&busy, totals->group_of[i]);
			gt_groups_expect(&idle, totals->group_of[i]);
		}
	gt_groups_begin(&busy);
	gt_groups_begin(&idle);
	for (size_t i = 0; i < trace->ranges.count; i++) {
		struct gt_range_figures *row = &totals->rows[totals->group_of[i]];
		const struct gt_range *range = &trace->ranges.rows[i];
		uint64_t busy_ns = 0;
		uint64_t idle_ns = 0;

		if (!counts(range))
			continue;
		if (gt_timed(GT_TIMES_ANY, range->flags, range->start_ns, range->end_ns))
			row->busy_ns += each.within[i].covered_ns;
		for (gt_id at = each.first[i]; at != GT_NONE; at = each.rows.rows[at].next) {
			const struct gt_projected *part = &each.rows.rows[at];

			row->kernels_each += part->kernels;
			busy_ns += part->cover.covered_ns;
			idle_ns += part->idle_ns;
			row->span_ns += gt_cover_span(&part->span);
			row->span_busy_ns += part->span.covered_ns;
		}
		gt_groups_add(&busy, totals->group_of[i], (int64_t)busy_ns);
		gt_groups_add(&idle, totals->group_of[i], (int64_t)idle_ns);
	}
	for (size_t i = 0; i < totals->count; i++) {
		totals->rows[i].gpu = spread_of(&busy, i);
		totals->rows[i].idle = spread_of(&idle, i);
	}
	gt_groups_release(&busy);
	gt_groups_release(&idle);
	gt_projection_release(&each);
}

static void add_together(struct gt_range_totals *totals)
{
	struct gt_projection all;

	gt_projection_init(&all, &totals->ranges, GT_PROJECT_DEVICES, totals->group_of,
	                   totals->count);
	gt_array_each(const struct gt_projected, part, &all.rows) {
		struct gt_range_figures *row = &totals->rows[part->group];

		row->gpu_ns += part->cover.covered_ns;
		row->by_time_ns += part->cover.covered_ns - part->sure.covered_ns;
		row->kernels += part->kernels;
		row->captured += part->captured;
		row->copies += part->copies;
		gt_sum_add(&row->copied_bytes, part->copied_bytes);
		row->fills += part->fills;
	}
	gt_projection_release(&all);
}

/* A group and what it is put in order by. */
struct place {
	gt_id group;
	gt_id outer; /* GT_NONE: none */
	int64_t wall_ns;
	uint64_t gpu_ns;
};

/* Those in one path together, what took longest first. */
static int by_outer_and_time(const void *a, const void *b)
{
	const struct place *left = a;
	const struct place *right = b;

	if (left->outer != right->outer)
		return left->outer < right->outer ? -1 : 1;
	if (left->wall_ns != right->wall_ns)
		return left->wall_ns < right->wall_ns ? 1 : -1;
	if (left->gpu_ns != right->gpu_ns)
		return left->gpu_ns < right->gpu_ns ? 1 : -1;
	return (left->group > right->group) - (left->group < right->group);
}

static struct place *make_places(const struct gt_range_totals *totals)
{
	const bool tree = totals->by == GT_RANGES_BY_PATH;
	struct place *places = gt_allocate(totals->count * sizeof(*places));

	for (gt_id i = 0; i < totals->count; i++)
		places[i] = (struct place){
			.group = i,
			.outer = tree ? totals->ranges.paths.rows[i].outer : GT_NONE,
			.wall_ns = totals->rows[i].wall.spread.total,
			.gpu_ns = totals->rows[i].gpu_ns,
		};
	if (totals->count > 1)
		qsort(places, totals->count, sizeof(*places), by_outer_and_time);
	return places;
}

/* Inner groups come right behind the one they are in, however deep. */
static void put_in_order(struct gt_range_totals *totals)
{
	const size_t count = totals->count;
	struct place *places = make_places(totals);
	gt_id *first = gt_allocate((count + 1) * sizeof(*first)); /* by group, then of none */
	gt_array(gt_id) left = {0}; /* places that are not in the order yet, the next one last */
	size_t used = 0;

	totals->order = gt_allocate(count * sizeof(*totals->order));
	memset(first, 0xff, (count + 1) * sizeof(*first));
	for (size_t i = count; i-- > 0;)
		first[places[i].outer == GT_NONE ? count : places[i].outer] = (gt_id)i;
	if (first[count] != GT_NONE)
		*gt_array_push(&left) = first[count];
	while (left.count > 0) {
		const gt_id at = left.rows[--left.count];
		const gt_id group = places[at].group;

		totals->order[used++] = group;
		if (at + 1 < count && places[at + 1].outer == places[at].outer)
			*gt_array_push(&left) = at + 1;
		if (totals->by == GT_RANGES_BY_PATH && first[group] != GT_NONE)
			*gt_array_push(&left) = first[group];
	}
	gt_array_free(left.rows);
	gt_array_free(first);
	gt_array_free(places);
}

void gt_range_totals_init(struct gt_range_totals *totals, const struct gt_view *view,
                          enum gt_ranges_by by, enum gt_fold fold)
{
	const struct gt_trace *trace = view->trace;

	*totals = (struct gt_range_totals){.by = by};
	gt_range_folds_init(&totals->folds, trace, fold);
	gt_ranges_init_folded(&totals->ranges, trace, &totals->folds);
	group_ranges(totals);
	if (trace->ranges.count == 0)
		return;
	totals->rows = gt_allocate(totals->count * sizeof(*totals->rows));
	for (size_t i = 0; i < totals->count; i++)
		totals->rows[i] = (struct gt_range_figures){0};
	add_wall_times(totals);
	add_each(totals);
	add_together(totals);
	put_in_order(totals);
}

void gt_range_totals_release(struct gt_range_totals *totals)
{
	gt_ranges_release(&totals->ranges);
	gt_range_folds_release(&totals->folds);
	gt_array_free(totals->group_of);
	gt_array_free(totals->domains);
	gt_array_free(totals->rows);
	gt_array_free(totals->order);
	*totals = (struct gt_range_totals){0};
}

enum { BRIEF_BYTES = 60 };

void gt_range_brief_text(const struct gt_ranges *ranges, gt_id path, char text[GT_RANGE_PATH_BYTES])
{
	const struct gt_range_name *name = &ranges->names.rows[ranges->paths.rows[path].name];
	const struct gt_operation operation =
		gt_operation_of(gt_trace_text(ranges->trace, name->domain),
	                        gt_trace_text(ranges->trace, name->text));
	const char *direction = gt_direction_name(GT_DIRECTION_BACKWARD);
	size_t length;

	if (operation.kind != GT_OPERATION_NONE) {
		const bool is_backward = operation.kind == GT_OPERATION_MODULE &&
		                         operation.direction == GT_DIRECTION_BACKWARD;

		snprintf(text, GT_RANGE_PATH_BYTES, "%s%s%s", operation.name,
		         is_backward ? " " : "", is_backward ? direction : "");
		return;
	}
	length = gt_range_path_text(ranges, path, text);
	if (length > BRIEF_BYTES)
		memmove(text, text + length - BRIEF_BYTES, BRIEF_BYTES + 1);
}

void gt_range_totals_text(const struct gt_range_totals *totals, gt_id group,
                          char text[GT_RANGE_PATH_BYTES])
{
	const struct gt_ranges *ranges = &totals->ranges;
	size_t length;

	switch (totals->by) {
	case GT_RANGES_BY_PATH:
		gt_range_path_text(ranges, group, text);
		break;
	case GT_RANGES_BY_NAME:
		gt_range_name_text(ranges->trace, ranges->names.rows[group], text);
		break;
	case GT_RANGES_BY_DOMAIN:
		length = strlen(gt_trace_text(ranges->trace, totals->domains[group]));
		if (length >= GT_RANGE_PATH_BYTES)
			length = GT_RANGE_PATH_BYTES - 1;
		memcpy(text, gt_trace_text(ranges->trace, totals->domains[group]), length);
		text[length] = '\0';
		if (length == 0)
			memcpy(text, default_domain, sizeof(default_domain));
		break;
	}
}

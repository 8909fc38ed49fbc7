/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/energy/shares.h"
#include "analysis/energy/step_energy.h"
#include "analysis/range_threads.h"
#include "analysis/reports/energy/tables.h"
#include "analysis/result.h"
#include "base/array.h"
#include "model/ranges/folds.h"
#include "model/ranges/owners.h"
#include "model/ranges/ranges.h"

static const struct gt_heading headings[] = {
	{"range", GT_UNIT_TEXT, "Path of NVTX ranges; figures are of all work that belongs to them",
         GT_WORTH_NAME},
	{"ranges", GT_UNIT_COUNT, "How many of them began", GT_WORTH_LITTLE},
	GT_ENERGY_FIGURES,
	{"each_joules", GT_UNIT_JOULES,
         "joules / ranges, where all of their work was sampled and none of it shared"},
	{"units", GT_UNIT_REAL, "Sum of the numbers that they have as payload, where all have one",
         GT_WORTH_LITTLE},
	{"per_unit_joules", GT_UNIT_JOULES, "joules / units, where each_joules is known"},
};

struct ranges {
	struct gt_range_folds folds;
	struct gt_ranges ranges;
	gt_id *seen;  /* by path: 1 + the work that was seen there last */
	gt_id number; /* of the work */
	gt_array(gt_id) found;
};

enum { MOST_AROUND = 1 << 10 }; /* ranges around one call: nothing real nests as deep */

static void find_paths(struct ranges *ranges, struct gt_owner owner)
{
	const struct gt_ranges *all = &ranges->ranges;
	gt_id range = owner.range;

	for (size_t i = 0; range != GT_NONE && i < MOST_AROUND; i++) {
		const gt_id path = all->path_of[range];

		if (!(all->trace->ranges.rows[range].flags & GT_AROUND) &&
		    ranges->seen[path] != ranges->number) {
			ranges->seen[path] = ranges->number;
			*gt_array_push(&ranges->found) = path;
		}
		range = gt_ranges_around(all, range, owner.at_ns);
	}
}

static size_t groups_of(void *context, const struct gt_activity *activity, const gt_id **groups)
{
	struct ranges *ranges = context;
	const struct gt_owners owners =
		gt_owners_of(ranges->ranges.trace, activity->type, activity->row);

	ranges->number++;
	ranges->found.count = 0;
	find_paths(ranges, owners.launched);
	find_paths(ranges, owners.captured);
	*groups = ranges->found.rows;
	return ranges->found.count;
}

/* One path. */
struct row {
	gt_id path;
	uint64_t ranges;
	double units; /* NAN: one of them has none */
	struct gt_energy_share share;
};

static int by_joules(const void *a, const void *b)
{
	const struct row *left = a;
	const struct row *right = b;
	const int order = gt_energy_compare(&left->share, &right->share);

	if (order != 0)
		return order;
	return (left->path > right->path) - (left->path < right->path);
}

static struct row *make_rows(const struct ranges *ranges, const struct gt_energy_share *shares)
{
	const size_t count = ranges->ranges.paths.count;
	const struct gt_trace *trace = ranges->ranges.trace;
	struct row *rows = gt_allocate(count * sizeof(*rows));

	for (gt_id i = 0; i < count; i++)
		rows[i] = (struct row){.path = i, .share = shares[i]};
	for (size_t i = 0; i < trace->ranges.count; i++) {
		const struct gt_range *range = &trace->ranges.rows[i];
		struct row *row = &rows[ranges->ranges.path_of[i]];

		if (range->flags & GT_AROUND)
			continue;
		row->ranges++;
		row->units += gt_units_of_range(range);
	}
	if (count > 1)
		qsort(rows, count, sizeof(*rows), by_joules);
	return rows;
}

static void add_row(struct gt_result *result, const struct ranges *ranges, const struct row *row)
{
	const struct gt_energy_share *share = &row->share;
	const bool all = share->alone_ns == share->ran_ns;
	char path[GT_RANGE_PATH_BYTES];

	gt_range_path_text(&ranges->ranges, row->path, path);
	gt_result_add_format(result, "%s", path);
	gt_result_add_count(result, (int64_t)row->ranges);
	gt_add_energy_share(result, share);
	gt_result_add_real(result, all ? share->joules / (double)row->ranges : NAN);
	gt_result_add_real(result, row->units);
	gt_result_add_real(result, all && row->units > 0 ? share->joules / row->units : NAN);
}

void gt_add_energy_ranges(struct gt_result *result, const struct gt_boards *boards)
{
	const struct gt_trace *trace = boards->trace;
	struct ranges ranges = {.number = 0};
	struct gt_energy_groups groups = {.context = &ranges, .of = groups_of};
	struct gt_energy_share *shares;
	struct row *rows;

	gt_range_folds_init(&ranges.folds, trace, GT_FOLD_AUTO);
	gt_ranges_init_folded(&ranges.ranges, trace, &ranges.folds);
	groups.count = ranges.ranges.paths.count;
	ranges.seen = gt_allocate_zeroed(groups.count + 1, sizeof(*ranges.seen));
	shares = gt_energy_shares(boards, &groups);
	rows = make_rows(&ranges, shares);
	gt_result_begin(result, "ranges", headings, GT_COUNT_OF(headings));
	gt_result_order(result, "joules");
	for (size_t i = 0; i < groups.count; i++)
		if (rows[i].share.ran_ns > 0)
			add_row(result, &ranges, &rows[i]);
	gt_array_free(rows);
	gt_array_free(shares);
	gt_array_release(&ranges.found);
	gt_array_free(ranges.seen);
	gt_ranges_release(&ranges.ranges);
	gt_range_folds_release(&ranges.folds);
}

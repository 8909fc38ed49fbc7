/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "analysis/compare/profile.h"
#include "analysis/compare/program_path.h"
#include "analysis/compare/rows.h"
#include "analysis/ranges/figures.h"
#include "base/strings.h"

static void add_row(struct gt_profile *profile, const struct gt_range_totals *totals, gt_id group)
{
	const struct gt_spread *wall = &totals->rows[group].wall.spread;
	struct gt_profile_row row = {
		.table = GT_COMPARED_ranges,
		.all = {(double)totals->rows[group].ranges, (double)wall->total,
	                wall->count > 0 && wall->total > 0 ? log(wall->mean) : NAN},
	};
	char path[GT_RANGE_PATH_BYTES];

	gt_program_path_text(&totals->ranges, group, path);
	row.keys[0] = gt_strings_add(profile->strings, path);
	*gt_array_push(&profile->rows) = row;
}

/* Groups by path are the paths. */
void gt_profile_add_ranges(struct gt_profile *profile, const struct gt_view *view)
{
	struct gt_range_totals totals;

	gt_range_totals_init(&totals, view, GT_RANGES_BY_PATH, GT_FOLD_AUTO);
	for (gt_id i = 0; i < totals.count; i++)
		if (totals.rows[i].ranges > 0 && gt_is_program_path(&totals.ranges, i))
			add_row(profile, &totals, i);
	gt_range_totals_release(&totals);
}

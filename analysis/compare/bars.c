/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/compare/bars.h"

#include <math.h>

#include "analysis/compare/comparison.h"
#include "analysis/result.h"
#include "base/array.h"
#include "base/units.h"

enum { KERNELS_SHOWN = 7 };

struct bars {
	struct gt_strips *strips;
	double ends_us[GT_SIDES]; /* of what is drawn so far */
};

static void add_part(struct bars *bars, const char *label, const char *figures,
                     const double us[GT_SIDES])
{
	const size_t kind = bars->strips->kinds.count;

	*gt_array_push(&bars->strips->kinds) = (struct gt_strip_kind){label, figures};
	for (size_t side = 0; side < GT_SIDES; side++) {
		const double from_us = bars->ends_us[side];

		bars->ends_us[side] += us[side];
		if (us[side] > 0)
			*gt_array_push(&bars->strips->parts) =
				(struct gt_strip_part){side, kind, from_us, bars->ends_us[side]};
	}
}

static const char *figures_of(struct gt_result *result, const double us[GT_SIDES])
{
	return gt_result_keep(result, "%s -> %s", gt_figure_ns(llround(us[GT_SIDE_A] * 1e3)).text,
	                      gt_figure_ns(llround(us[GT_SIDE_B] * 1e3)).text);
}

/* Rows of kernels come first, what is news and changed most before the others. */
static void add_kernels(struct bars *bars, const struct gt_comparison *comparison,
                        struct gt_result *result)
{
	double others_us[GT_SIDES] = {0, 0};
	size_t shown = 0;

	gt_array_each(const struct gt_compared_row, row, &comparison->rows) {
		const double us[GT_SIDES] = {gt_compared_total(row, GT_SIDE_A) / 1e3,
		                             gt_compared_total(row, GT_SIDE_B) / 1e3};

		if (row->table != GT_COMPARED_kernels)
			continue;
		if (shown++ < KERNELS_SHOWN)
			add_part(bars, row->keys[GT_KERNEL_KEY_NAME], figures_of(result, us), us);
		else
			for (size_t side = 0; side < GT_SIDES; side++)
				others_us[side] += us[side];
	}
	if (shown > KERNELS_SHOWN)
		add_part(bars, "other kernels", figures_of(result, others_us), others_us);
}

void gt_comparison_add_bars(const struct gt_comparison *comparison, struct gt_result *result)
{
	struct bars bars = {NULL, {0, 0}};

	if (comparison->rows.count == 0 || comparison->rows.rows[0].table != GT_COMPARED_kernels)
		return;
	bars.strips = gt_result_add_strips(result);
	bars.strips->title = comparison->by_step ? "GPU time of a step, by kernel"
	                                         : "GPU time of the run, by kernel";
	bars.strips->x_label = "microseconds";
	*gt_array_push(&bars.strips->rows) = "A";
	*gt_array_push(&bars.strips->rows) = "B";
	add_kernels(&bars, comparison, result);
	bars.strips->to_x = fmax(fmax(bars.ends_us[GT_SIDE_A], bars.ends_us[GT_SIDE_B]), 1e-3);
}

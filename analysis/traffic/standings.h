/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_TRAFFIC_STANDINGS_H
#define GT_ANALYSIS_TRAFFIC_STANDINGS_H

#include "analysis/result.h"
#include "analysis/traffic/kernel_places.h"
#include "analysis/traffic/roofs.h"
#include "analysis/traffic/traffic.h"
#include "base/array.h"
#include "model/trace.h"
#include "model/view/view.h"

/*
 * Where groups of kernels stand under their roofs: operations and bytes of an execution, and the
 * ceiling that binds.
 */

/* Where one group of kernels stands. */
struct gt_standing {
	gt_id place;
	const struct gt_traffic *traffic;
	struct gt_traffic_bytes bytes;
	struct gt_traffic_work work;
	double flops; /* of one execution; NAN: not known, as below */
	double flops_per_second;
	struct gt_roof roof; /* the one that binds, where all are known */
	double roof_share;   /* how near it comes, 1: it is there */
	const char *missing; /* what is, NULL: nothing; the result's or constant */
};

struct gt_standings {
	struct gt_traffic_facts facts;
	struct gt_kernel_places places;
	struct gt_traffic *traffics;
	gt_array(struct gt_standing) list;
	double total_ns;
};

/*
 * Those with most time first. result: keeps texts of the standings. The view must outlive them.
 */
void gt_standings_init(struct gt_standings *standings, const struct gt_view *view,
                       enum gt_group_by by, struct gt_result *result);
void gt_standings_release(struct gt_standings *standings);

/* The name of the group. */
const char *gt_standing_label(const struct gt_standings *standings,
                              const struct gt_standing *standing);

/* Operations per byte; NAN: not known. */
double gt_standing_intensity(const struct gt_standing *standing);

#endif

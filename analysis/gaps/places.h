/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_GAPS_PLACES_H
#define GT_ANALYSIS_GAPS_PLACES_H

#include <stdint.h>

#include "base/strings.h"
#include "model/ranges/folds.h"
#include "model/ranges/owners.h"
#include "model/ranges/ranges.h"
#include "model/trace.h"

struct gt_result;

/* Where in the program the host waited: paths of ranges, and operations of a framework. */
struct gt_wait_places {
	const struct gt_trace *trace;
	struct gt_range_folds folds;
	struct gt_ranges ranges;
	struct gt_strings *ops;
	uint32_t *op_of_name; /* by row of ranges.names: its operation, 0: it is none */
};

/* The trace must outlive it. */
void gt_wait_places_init(struct gt_wait_places *places, const struct gt_trace *trace);
void gt_wait_places_release(struct gt_wait_places *places);

/* The innermost operation around a call: one of ops, 0 where there is none. */
uint32_t gt_wait_places_op(const struct gt_wait_places *places, const struct gt_owner *owner);

/* Cells: a path, GT_NONE for an unknown one, and an operation, 0 for an unknown one. */
void gt_wait_places_add_path(const struct gt_wait_places *places, struct gt_result *result,
                             gt_id path);
void gt_wait_places_add_op(const struct gt_wait_places *places, struct gt_result *result,
                           uint32_t op);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_GPU_CEILINGS_H
#define GT_MODEL_GPU_CEILINGS_H

/* The most that a GPU can do: what its data sheet says beside what was measured. */

#include <stdbool.h>

#include "model/trace.h"

struct gt_calibrations;

enum gt_ceiling_name {
#define CEILING(name, unit, group, help) GT_CEILING_##name,
#include "model/gpu/ceilings.def"
	GT_CEILINGS,
};

/* Where a ceiling is from; of several measured ones the smaller number holds. Not in any file. */
enum gt_ceiling_source {
	GT_CEILING_HERE,       /* measured on this GPU, by gputrace calibrate */
	GT_CEILING_SAME_MODEL, /* measured on another GPU of the model, shipped with gputrace */
	GT_CEILING_DATA_SHEET, /* computed of what the driver says of the GPU, or its maker's word */
};

/* Both ceilings of one name; NULL where there is none. They point into the trace. */
struct gt_ceiling_pair {
	const struct gt_ceiling *measured;
	const struct gt_ceiling *theoretical;
};

extern const char *const gt_ceiling_names[GT_CEILINGS];

/* Ceilings of a GPU, not of its links to others. */
struct gt_ceiling_pair gt_ceilings_of(const struct gt_trace *trace, gt_id device,
                                      enum gt_ceiling_name name);

/*
 * Adds the rows of a GPU of the trace: what was measured of it, here; what was measured of another
 * GPU of its model, shipped; and what follows from its clocks and widths.
 */
void gt_ceilings_add(struct gt_trace *trace, gt_id device, const struct gt_calibrations *here,
                     const struct gt_calibrations *shipped);

/* "measured here", "measured on the same model", "data sheet". */
const char *gt_ceiling_source_name(unsigned source);

#endif

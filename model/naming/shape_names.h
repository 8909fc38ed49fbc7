/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_NAMING_SHAPE_NAMES_H
#define GT_MODEL_NAMING_SHAPE_NAMES_H

#include "model/trace.h"

/* Names of launch shapes, as a trace has them: everybody who shows a kernel asks gt_shape_name. */

/* The string column of a launch shape that gt_shape_text reads; 0 when it has no name. */
gt_string gt_shape_string(const struct gt_trace *trace, const struct gt_launch_shape *shape,
                          enum gt_name_form form);

/*
 * A name of a launch shape in that form, or the next longer one that it has: "" when it has none.
 * The text lives as long as the trace.
 */
const char *gt_shape_text(const struct gt_trace *trace, const struct gt_launch_shape *shape,
                          enum gt_name_form form);

/* The same for a row of launch_shapes, GT_NONE too, as the trace shows names (gt_trace.names). */
const char *gt_shape_name(const struct gt_trace *trace, gt_id shape);

#endif

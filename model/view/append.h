/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_VIEW_APPEND_H
#define GT_MODEL_VIEW_APPEND_H

#include "model/trace.h"

/*
 * Puts all rows of another trace behind those of this one, with its times later by so many ns: two
 * recordings become one. Rows of tables by time are then in order again, and get other numbers;
 * strings are shared. Nothing is united: a GPU that both know is there twice. Neither may have been
 * cut by a filter. from stays as it is, and may go. Takes time in proportion to the rows of both.
 */
void gt_trace_append(struct gt_trace *to, const struct gt_trace *from, gt_time later_ns);

#endif

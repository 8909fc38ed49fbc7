/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_WORK_PAUSES_H
#define GT_MODEL_WORK_PAUSES_H

#include <stdbool.h>
#include <stddef.h>

#include "model/trace.h"

/* Times in which recording was paused, of all processes in order of their begin. */

/*
 * Whether it stands for the time before what was kept, of which records were dropped, as was asked:
 * recording went on in it.
 */
bool gt_pause_is_dropped(const struct gt_pause *pause);

/* How many began before a moment. */
size_t gt_pauses_before(const struct gt_trace *trace, gt_time moment_ns);

/* The first of a process that begins at a moment or later; NULL: there is none. */
const struct gt_pause *gt_pause_next(const struct gt_trace *trace, gt_id process,
                                     gt_time moment_ns);

#endif

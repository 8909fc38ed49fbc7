/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_RANGES_STEPS_GUESSED_H
#define GT_ANALYSIS_RANGES_STEPS_GUESSED_H

#include <stddef.h>

#include "analysis/ranges/steps/steps.h"

/* Steps by the period of launches (period.h), for analysis/ranges/steps/steps.c. */

/* Adds those that begin in the window, of processes that are shown. */
void gt_steps_add_guessed(struct gt_steps *steps, const struct gt_view *view);

/*
 * Adds their work: a piece of it counts to the step in which its process launched it, or where no
 * call is known, in which it began.
 */
void gt_steps_add_guessed_work(struct gt_steps *steps);

/* The guessed step of a process in which a moment lies, a row of steps; SIZE_MAX: none. */
size_t gt_steps_guessed_at(const struct gt_steps *steps, gt_id process, gt_time at_ns);

#endif

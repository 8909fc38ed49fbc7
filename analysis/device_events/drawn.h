/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_DEVICE_EVENTS_DRAWN_H
#define GT_ANALYSIS_DEVICE_EVENTS_DRAWN_H

#include <stddef.h>
#include <stdint.h>

struct gt_device_phases;
struct gt_result;

/* How the launch is drawn in text. */
struct gt_device_drawn {
	size_t columns;
	size_t rows; /* at most: then several multiprocessors share one */
};

/*
 * Adds the tables that draw one launch over its multiprocessors, a chart of the same, and what is
 * to be seen there as sentences. launch: number of a launch of phases, its count for none, which
 * adds the tables without rows.
 */
void gt_add_device_launch(struct gt_result *result, const struct gt_device_phases *phases,
                          size_t launch, const struct gt_device_drawn *as);

#endif

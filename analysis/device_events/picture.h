/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_DEVICE_EVENTS_PICTURE_H
#define GT_ANALYSIS_DEVICE_EVENTS_PICTURE_H

#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "model/trace.h"

struct gt_device_phases;

/*
 * One launch on its multiprocessors over time: rows of cells, each of which says in which range its
 * writers spent most of that time. The innermost of nested ranges counts.
 */

/* A range, by the time that was spent in it alone; those with most come first. */
struct gt_device_phase {
	uint32_t name; /* of gt_device_phases; UINT32_MAX: all that have no letter of their own */
	char letter;
	uint64_t own_ns;
};

/* One multiprocessor, or several whose numbers follow one another. */
struct gt_device_strip {
	gt_count first_sm;
	gt_count last_sm;
	size_t sms;
	size_t blocks;    /* that told anything */
	gt_time start_ns; /* of the first and the last thing told */
	gt_time end_ns;
};

struct gt_device_picture {
	gt_time start_ns; /* of the kernel or, where that is not known, of what was told */
	gt_time end_ns;
	size_t columns;
	size_t folded; /* multiprocessors in a row, at most */
	gt_array(struct gt_device_phase) phases;
	gt_array(struct gt_device_strip) strips;
	uint8_t *cells; /* strip after strip: phase + 1, 0: in none */
};

enum { GT_DEVICE_COLUMNS_MOST = 1000 };

/* launch: of the writers of phases. columns: 1 to GT_DEVICE_COLUMNS_MOST; rows: at least 1. */
void gt_device_picture_init(struct gt_device_picture *picture,
                            const struct gt_device_phases *phases, size_t launch, size_t columns,
                            size_t rows);
void gt_device_picture_release(struct gt_device_picture *picture);

#endif

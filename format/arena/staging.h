/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_ARENA_STAGING_H
#define GT_FORMAT_ARENA_STAGING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/file/series.h"

/*
 * Samples on their way from a thread's slot into chunks: taken in as they come, whatever series
 * they are of, given out series by series. Works in the memory it is given.
 */
struct gt_staging;

size_t gt_staging_memory(void);
struct gt_staging *gt_staging_init(void *memory);

/* False when there is no room: take out what there is, then add again. */
bool gt_staging_add(struct gt_staging *staging, const struct gt_sample *sample);

/*
 * Takes out the samples of one series, in the order in which they came, at most what a chunk
 * holds: 1, or 0 when nothing is left. Valid until the next call.
 */
int gt_staging_next(struct gt_staging *staging, struct gt_samples *samples);

#endif

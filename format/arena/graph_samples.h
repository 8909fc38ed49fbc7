/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_ARENA_GRAPH_SAMPLES_H
#define GT_FORMAT_ARENA_GRAPH_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#include "format/records.h"

/*
 * Launches of CUDA graphs that are recorded node by node, where only some are. The thread that
 * launches says so here, in the arena, before the launch; who drains CUPTI's records later, or
 * salvages them, asks. A mark lasts until as many others could take its place.
 */

#define GT_SAMPLED_LAUNCHES 4096 /* marks, a power of two */

struct gt_graph_samples {
	uint32_t wanted; /* 0: every launch is recorded node by node */
	uint32_t padding;
	_Atomic uint32_t marks[GT_SAMPLED_LAUNCHES]; /* correlation ids */
};

/* Any thread. */
void gt_graph_samples_mark(struct gt_graph_samples *samples, uint32_t correlation);

/* Whether a launch is recorded node by node. Any thread. */
bool gt_graph_samples_has(const struct gt_graph_samples *samples, uint32_t correlation);

/*
 * Launches whose kernels, copies and fills are put together to one record each. A launch whose
 * activities come in several buffers, or between those of more than GT_GRAPH_FOLDS others, becomes
 * several records, which belong together by their correlation id.
 */
#define GT_GRAPH_FOLDS 64

struct gt_graph_folds {
	uint32_t count;
	uint32_t last; /* that was found */
	struct gt_record_graph_trace rows[GT_GRAPH_FOLDS];
};

/*
 * Takes an activity of a launch that is not recorded node by node. kind is that of the record:
 * GT_RECORD_kernel, copy or fill; all others, and what has not ended or names no launch, are not
 * taken: false. Where all rows are in use the caller has to empty them first: see
 * gt_graph_folds_full.
 */
bool gt_graph_folds_take(struct gt_graph_folds *folds, const struct gt_graph_samples *samples,
                         uint32_t kind, const void *record);

static inline bool gt_graph_folds_full(const struct gt_graph_folds *folds)
{
	return folds->count == GT_GRAPH_FOLDS;
}

#endif

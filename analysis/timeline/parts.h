/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_TIMELINE_PARTS_H
#define GT_ANALYSIS_TIMELINE_PARTS_H

#include "analysis/timeline/timeline.h"

/* Makers of a timeline, each of its own tracks; for analysis/timeline/timeline.c alone. */

/* A track without pieces; its number. */
size_t gt_timeline_add_track(struct gt_timeline *timeline, enum gt_timeline_kind kind, gt_id device,
                             gt_id row);

/* Pieces of a track come in order of their start. Those that no time of the view has are left out. */
void gt_timeline_put(struct gt_timeline *timeline, size_t track,
                     const struct gt_timeline_piece *piece);

/* The same for a piece that stands for itself. */
void gt_timeline_put_one(struct gt_timeline *timeline, size_t track, struct gt_interval when,
                         uint32_t name);

/* "GPU 0", with several hosts "host GPU 0"; and what follows it. */
void gt_timeline_label_gpu(const struct gt_timeline *timeline, gt_id device, const char *what,
                           char label[GT_TIMELINE_LABEL]);

/* " (app 4711)" behind a label where several processes were recorded, else nothing. */
void gt_timeline_label_process(const struct gt_timeline *timeline, gt_id process,
                               char label[GT_TIMELINE_LABEL]);

/* Rows that may have a track each. */
struct gt_timeline_rows {
	enum gt_timeline_kind kind;
	const uint64_t *weights; /* by row; 0: it has nothing to draw */
	size_t count;
	size_t most; /* tracks */
	/* Names a track, and says which GPU it is of. */
	void (*label)(struct gt_timeline *timeline, struct gt_timeline_track *track);
};

/*
 * Tracks for the heaviest of the rows, in the order of their weights. By row: its track, SIZE_MAX:
 * it has none. left_out gets how many weigh something and have none. The caller frees the array.
 */
size_t *gt_timeline_add_heaviest(struct gt_timeline *timeline, const struct gt_timeline_rows *rows,
                                 uint64_t *left_out);

void gt_timeline_add_gpus(struct gt_timeline *timeline);
void gt_timeline_add_streams(struct gt_timeline *timeline);
void gt_timeline_add_ranges(struct gt_timeline *timeline);
void gt_timeline_add_memory(struct gt_timeline *timeline);

#endif

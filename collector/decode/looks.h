/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_DECODE_LOOKS_H
#define GT_COLLECTOR_DECODE_LOOKS_H

#include "model/trace.h"

struct gt_capture;
struct gt_content;
struct gt_error;

/*
 * Files of a recording that grows, for looks at it one after the other (gt_collect_look). Each file
 * is read on from where the look before it ended. Kept of it are the chunks that describe others,
 * the latest of ranges and waits, and of work, calls and samples those that a look wants and the
 * latest, but no more than is read in a second or so.
 */
struct gt_looks;

/* Records of each process: of work, calls and samples at most, and at least; of ranges and waits. */
enum { GT_LOOK_MOST = 2000000, GT_LOOK_LEAST = 200000, GT_LOOK_LATE = 400000 };

struct gt_looks *gt_looks_new(void);
void gt_looks_free(struct gt_looks *looks);

/*
 * For stage decode: the part of the file of a capture that is kept, with all work, calls and samples
 * that ended at since_ns or later, as far as the capture is not marked with what is left out.
 */
int gt_looks_load(struct gt_looks *looks, struct gt_capture *capture, gt_time since_ns,
                  struct gt_content *content, struct gt_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SNAPSHOT_BUNDLE_COPIES_H
#define GT_INJECTION_SNAPSHOT_BUNDLE_COPIES_H

#include <stdint.h>

/*
 * A copy or a fill as the next step: whose memory its two ends are, and the bytes that it brings
 * from the host.
 */

struct gt_error;
struct gt_launch_capture;

/*
 * Pinned memory is memory of the bundle where a launch before reaches it, and is written then; what
 * is read of it is what the host has put there, which no step says. 1: the copy is none of the
 * GPU's memory.
 */
int gt_capture_add_copy(struct gt_launch_capture *capture, struct gt_error *err);
int gt_capture_add_fill(struct gt_launch_capture *capture, struct gt_error *err);

/* In all that a copy brings, where that is little. */
void gt_capture_look_for_handles(struct gt_launch_capture *capture, const uint8_t *bytes,
                                 uint64_t size);

#endif

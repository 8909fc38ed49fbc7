/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SNAPSHOT_BUNDLE_STEPS_H
#define GT_INJECTION_SNAPSHOT_BUNDLE_STEPS_H

#include <stdbool.h>

/*
 * The steps of a bundle, from the first to the last: each is kept before the GPU does it, and all
 * that they reach once more after the last.
 */

struct gt_error;
struct gt_freed;
struct gt_launch_capture;

/*
 * Before a step that is work of the GPU's, of which the first opens the bundle, and after the last
 * one: waits for the GPU, copies what it has, writes. Fails in a sentence on why it is not
 * captured; nothing of the bundle is left then.
 */
int gt_capture_before(struct gt_launch_capture *capture, struct gt_error *err);
int gt_capture_after(struct gt_launch_capture *capture, struct gt_error *err);

/*
 * Before memory is freed that steps use (gt_capture_uses): what is left in it is its contents after
 * the last step. Fails in a sentence, and drops nothing.
 */
bool gt_capture_uses(const struct gt_launch_capture *capture, const struct gt_freed *freed);
int gt_capture_free(struct gt_launch_capture *capture, struct gt_error *err);

/* Nothing of the bundle is left, and nothing is held. */
void gt_capture_drop(struct gt_launch_capture *capture);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SNAPSHOT_BUNDLE_LAUNCHES_H
#define GT_INJECTION_SNAPSHOT_BUNDLE_LAUNCHES_H

/*
 * A launch as the next step: the code of its kernel, the variables of its module, and memory that
 * its parameters lead to.
 */

struct gt_error;
struct gt_launch_capture;

int gt_capture_add_launch(struct gt_launch_capture *capture, struct gt_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SNAPSHOT_BUNDLE_HOST_STEPS_H
#define GT_INJECTION_SNAPSHOT_BUNDLE_HOST_STEPS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The host's writes into managed and pinned memory between two calls, which become copies among the
 * steps.
 */

struct gt_error;
struct gt_launch_capture;

/*
 * Before a step, and before the end: the GPU has nothing to do. All streams wait for what is
 * copied, as whatever the program asks for next comes after what it wrote.
 */
int gt_capture_keep_host_writes(struct gt_launch_capture *capture, uint32_t stream,
                                struct gt_error *err);

/*
 * When the call of the last step has returned: waits for the GPU and takes what it wrote into
 * memory that the host can write, so that what is other at the next step is the host's. Only where
 * there is such memory (gt_capture_has_host_memory). Fails in a sentence, and drops nothing.
 */
bool gt_capture_has_host_memory(const struct gt_launch_capture *capture);
int gt_capture_settle(struct gt_launch_capture *capture, struct gt_error *err);

/* Before the steps of a graph: what the host wrote, on the stream of capture->step. As above. */
int gt_capture_written(struct gt_launch_capture *capture, struct gt_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_DEVICE_EVENTS_COPYING_H
#define GT_INJECTION_DEVICE_EVENTS_COPYING_H

#include <stdbool.h>

struct gt_device_ring;
struct gt_error;

/* Copying out of a ring what kernels wrote, and its records. */

/*
 * Takes what has been written since the last time and records it. last: also what is in chunks that
 * were opened a moment ago, and of a ring that overwrites, which is read then alone. 0, -EAGAIN:
 * the GPU did not come to it, or another negative errno value.
 */
int gt_device_ring_copy(struct gt_device_ring *ring, bool last, struct gt_error *err);

#endif

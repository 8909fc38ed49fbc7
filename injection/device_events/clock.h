/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_DEVICE_EVENTS_CLOCK_H
#define GT_INJECTION_DEVICE_EVENTS_CLOCK_H

#include <stdint.h>

struct gt_device_ring;
struct gt_error;

/* Kernels of our own that tell how the clock of kernels stands to CUPTI's. */

/* With the context current, when its ring is made: ring->time_kernel, where there can be one. */
void gt_device_ring_load_time_kernel(struct gt_device_ring *ring);

/*
 * Records what kernels for the clock have found, and launches so many if none is under way. 0, or a
 * negative errno value.
 */
int gt_device_ring_time(struct gt_device_ring *ring, uint32_t count, struct gt_error *err);

/* The same once more, at the end: waits a moment for it. */
void gt_device_ring_end_times(struct gt_device_ring *ring);

#endif

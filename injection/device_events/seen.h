/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_DEVICE_EVENTS_SEEN_H
#define GT_INJECTION_DEVICE_EVENTS_SEEN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Functions that have been looked at in a context, so that a launch of one costs one look into a
 * table. From any thread, without a lock; it forgets all when it is full, or is told to, and what
 * it has forgotten is only looked at once more.
 */
#define GT_DEVICE_SEEN 8192 /* places, a power of two */

struct gt_device_functions {
	_Atomic uint64_t keys[GT_DEVICE_SEEN]; /* 0: free */
	_Atomic uint32_t count;
};

bool gt_device_functions_has(const struct gt_device_functions *functions, const void *function,
                             const void *context);
void gt_device_functions_add(struct gt_device_functions *functions, const void *function,
                             const void *context);
void gt_device_functions_forget(struct gt_device_functions *functions);

#endif

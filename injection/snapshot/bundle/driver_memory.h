/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SNAPSHOT_BUNDLE_DRIVER_MEMORY_H
#define GT_INJECTION_SNAPSHOT_BUNDLE_DRIVER_MEMORY_H

#include <stdint.h>

#include "injection/snapshot/memory/reach.h"

/*
 * Memory that an address lies in, as the driver tells of it: where it begins, of which kind it is,
 * and whether a bundle may have it.
 */

struct gt_error;

/* A gt_reach_ask, of which a struct gt_launch_capture is the context. */
enum gt_reach_answer gt_capture_ask_driver(void *context, uint64_t address,
                                           struct gt_reached *found, struct gt_error *err);

/* For textures of memory: a gt_capture_memory_of with the same context. */
int gt_capture_texture_memory(void *context, uint64_t address, uint64_t bytes, uint32_t *number,
                              uint64_t *offset, struct gt_error *err);

#endif

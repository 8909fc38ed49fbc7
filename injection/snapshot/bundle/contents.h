/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SNAPSHOT_BUNDLE_CONTENTS_H
#define GT_INJECTION_SNAPSHOT_BUNDLE_CONTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Contents of memory and of arrays, which go into blobs of the bundle by way of capture->staging;
 * what is there before a step is searched for pointers.
 */

struct gt_error;
struct gt_launch_capture;
struct gt_reached;

/* A piece of memory, into staging. */
int gt_capture_read_piece(struct gt_launch_capture *capture, const struct gt_reached *memory,
                          uint64_t offset, size_t size, struct gt_error *err);

/* The contents of one memory into a blob; before the launch also looks for pointers in them. */
int gt_capture_keep_memory(struct gt_launch_capture *capture, uint32_t number, bool before,
                           struct gt_error *err);

/* Fails where a step used memory in place of other memory that was freed. */
int gt_capture_check_reused(const struct gt_launch_capture *capture, struct gt_error *err);

/* Keeps memory that no step before reached. Memory found in its contents stands behind it. */
int gt_capture_keep_new(struct gt_launch_capture *capture, struct gt_error *err);

/* All that is not freed, as the last step left it. */
int gt_capture_keep_after(struct gt_launch_capture *capture, struct gt_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SNAPSHOT_MEMORY_ARRAYS_H
#define GT_INJECTION_SNAPSHOT_MEMORY_ARRAYS_H

#include <stdbool.h>
#include <stdint.h>

#include <cuda.h>

#include "injection/snapshot/memory/objects.h"

/*
 * The arrays that texture and surface objects are of: their shapes, as the driver tells them, and
 * their contents, piece by piece.
 */

/* Its number; what it is a level of may be known. Fails in a sentence. */
int gt_captured_array_find(struct gt_capture_objects *objects, CUarray handle, uint32_t *level,
                           struct gt_error *err);
int gt_captured_mipmap_find(struct gt_capture_objects *objects, CUmipmappedArray handle,
                            struct gt_error *err);

/* Whether it is the handle of one of the arrays, or of what one is a part of. */
bool gt_capture_objects_has(const struct gt_capture_objects *objects, uint64_t handle);

/* Rows of an array's level, from one on, into memory where they stand one after another. */
struct gt_array_piece {
	uint32_t level;
	uint64_t row;
	uint64_t slice;
	uint64_t rows;
	uint64_t slices; /* 1, or rows are all of a slice */
};

/* The next piece of an array of size bytes at most, after *piece, of zeros before the first. */
bool gt_array_next_piece(const struct gt_array_shape *shape, uint64_t size,
                         struct gt_array_piece *piece);
uint64_t gt_array_piece_bytes(const struct gt_array_shape *shape,
                              const struct gt_array_piece *piece);

int gt_captured_array_read(const struct gt_capture_objects *objects, uint32_t number,
                           const struct gt_array_piece *piece, void *bytes, struct gt_error *err);

/* Entries of the list of memory. */
void gt_capture_write_arrays(const struct gt_capture_objects *objects,
                             struct gt_bundle_writer *writer);

#endif

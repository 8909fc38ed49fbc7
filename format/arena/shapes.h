/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_ARENA_SHAPES_H
#define GT_FORMAT_ARENA_SHAPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_record_shape;

/*
 * The launch shapes that were written already, each with its id. When there are too many all are
 * forgotten: a shape may then get a second id, which the collector puts together again. Works in
 * the memory it is given; not thread-safe.
 */
struct gt_shapes;

size_t gt_shapes_memory(void);
struct gt_shapes *gt_shapes_init(void *memory);

void gt_shapes_forget(struct gt_shapes *shapes);

/*
 * Fills in the shape's id: the one it has, or the next of *count, which then grows. True when the
 * shape is new and has to be written.
 */
bool gt_shapes_add(struct gt_shapes *shapes, struct gt_record_shape *shape,
                   _Atomic uint32_t *count);

#endif

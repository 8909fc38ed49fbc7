/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_MEMORY_OBJECTS_H
#define GT_REPLAY_MEMORY_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "format/bundle/array_shape.h"
#include "model/bundle/bundle.h"
#include "replay/gpu/gpu.h"
#include "replay/memory/layout.h"

struct gt_error;

/*
 * Arrays of a bundle, and the texture and surface objects that are of arrays and of memory, on a
 * GPU. Handles are numbers that the driver gives out: as far as it goes they are those of the
 * program, so that a number in parameters that only looks like one stays right. For one thread.
 */

struct gt_made_array {
	CUarray levels[GT_ARRAY_MOST_LEVELS]; /* NULL from the first on: it is none */
	CUarray array;                        /* NULL: it has none, or is a mipmapped one */
	CUmipmappedArray mipmap;
};

/* Where a handle stands. */
struct gt_handle_place {
	const struct gt_bundle_handle *handle;
	uint32_t memory; /* GT_BUNDLE_NONE: the parameters of the handle's step */
	uint64_t offset;
};

/* 0 of a handle in memory, else the number of the step that has it. */
static inline uint32_t gt_handle_step(const struct gt_handle_place *place)
{
	return place->memory == GT_BUNDLE_NONE ? place->handle->step : 0;
}

struct gt_objects {
	const struct gt_bundle *bundle;
	gt_array(struct gt_handle_place) first; /* all, as they stand before the first step */
	gt_array(struct gt_handle_place) later; /* those in memory, also where copies bring them */
	struct gt_gpu *gpu;
	struct gt_made_array *arrays; /* by memory */
	struct gt_made_array *kept;   /* by memory: what they are reset to */
	uint64_t *values;             /* by object: handles here; 0: not made */
};

/* The arrays. After a failure it is closed. */
int gt_objects_open(struct gt_objects *objects, const struct gt_bundle *bundle, struct gt_gpu *gpu,
                    struct gt_error *err);

/* The objects, once it is known where memory is. */
int gt_objects_make(struct gt_objects *objects, const struct gt_layout *layout,
                    struct gt_error *err);

/* All of an array into memory of the host, or out of it; waits for that. */
int gt_objects_get(const struct gt_objects *objects, size_t memory, void *bytes,
                   struct gt_error *err);
int gt_objects_put(const struct gt_objects *objects, size_t memory, const void *bytes,
                   struct gt_error *err);

/*
 * Keeps what is in an array, in one like it; and makes it so again, in the GPU's stream. Negative:
 * there is no memory for another one.
 */
int gt_objects_keep(struct gt_objects *objects, size_t memory, struct gt_error *err);
int gt_objects_reset(const struct gt_objects *objects, size_t memory, struct gt_error *err);

/*
 * Puts the handles of here into contents before the first step of a memory, or into the parameters
 * of a step with memory GT_BUNDLE_NONE. -EBADMSG: there are others. And into contents after the
 * last step, where one of the program's is still there.
 */
int gt_objects_apply(const struct gt_objects *objects, uint32_t memory, uint32_t step, void *bytes,
                     struct gt_error *err);
void gt_objects_apply_after(const struct gt_objects *objects, uint32_t memory, void *bytes);

/* Makes the handles of here those of the program, in contents of any time. */
void gt_objects_undo(const struct gt_objects *objects, uint32_t memory, void *bytes);

/* A sentence on handles that are other numbers than in the program; "" where none is. */
void gt_objects_say(const struct gt_objects *objects, char *text, size_t size);

void gt_objects_close(struct gt_objects *objects);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SNAPSHOT_MEMORY_OBJECTS_H
#define GT_INJECTION_SNAPSHOT_MEMORY_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include <cuda.h>

#include "format/bundle/array_shape.h"
#include "format/bundle/bundle.h"
#include "format/bundle/objects.h"
#include "injection/driver/capture_driver.h"
#include "injection/snapshot/launch/function.h"
#include "injection/snapshot/memory/foreign.h"

struct gt_bundle_writer;
struct gt_error;

/*
 * Texture and surface objects that the parameters of launches name, and the arrays that they are
 * of. A handle is a small number as others are: what is equal to the handle of an object that the
 * program has is taken for it. Memory of fixed size; for the thread that captures.
 */

enum {
	GT_CAPTURE_ARRAYS = 1024,
	GT_CAPTURE_OBJECTS = 4096,
	GT_CAPTURE_HANDLES = 65536,
	GT_CAPTURE_IN_MEMORY = 32768,  /* of them, that are not in parameters */
	GT_CAPTURE_SCANNED = 64 << 10, /* bytes of memory in which handles are looked for */
};

/* The memory of reach that so many bytes at an address lie in, which is found if it has to be. */
typedef int gt_capture_memory_of(void *context, uint64_t address, uint64_t bytes, uint32_t *number,
                                 uint64_t *offset, struct gt_error *err);

struct gt_captured_array {
	CUarray levels[GT_ARRAY_MOST_LEVELS]; /* of an array itself */
	CUmipmappedArray mipmap;              /* NULL: it is none */
	struct gt_array_shape shape;
	char before[GT_BUNDLE_HASH_BYTES];
	char after[GT_BUNDLE_HASH_BYTES];
};

struct gt_capture_objects {
	const struct gt_capture_driver *driver;
	const struct gt_foreign *foreign;
	CUcontext context;
	gt_capture_memory_of *memory_of;
	void *capture; /* that it gets */
	uint32_t array_count;
	uint32_t object_count;
	uint32_t handle_count;
	uint32_t in_memory; /* of them */
	uint32_t left_out;  /* values inside of parameters and memory: refused says why of one */
	char refused[200];
	struct gt_captured_array arrays[GT_CAPTURE_ARRAYS];
	/* memory: of arrays the number among them, else that of reach */
	struct gt_bundle_object objects[GT_CAPTURE_OBJECTS];
	struct gt_bundle_handle handles[GT_CAPTURE_HANDLES];
};

/* Nothing is in it but how to ask. */
void gt_capture_objects_begin(struct gt_capture_objects *objects);

/*
 * Finds the handles in the parameters of a step, and what they are of. Fails in a sentence where a
 * parameter of its own is the handle of what cannot be captured; inside of another one it is left
 * out.
 */
int gt_capture_objects_add(struct gt_capture_objects *objects, uint32_t step,
                           const struct gt_captured_function *function, struct gt_error *err);

/*
 * The same of all that is in a memory of reach before the launch, or that a step brings along, as
 * in tables of handles and variables that are one. first: where they begin.
 */
void gt_capture_objects_scan(struct gt_capture_objects *objects,
                             const struct gt_bundle_handle *first, const uint8_t *bytes,
                             size_t size);

/*
 * The lists of objects and handles. places: of memory of reach in the list of memory, of which
 * there are so many before the arrays.
 */
void gt_capture_write_objects(const struct gt_capture_objects *objects, const uint32_t *places,
                              uint32_t memory_count, struct gt_bundle_writer *writer);

/* Sentences on what may be wrong with them. */
void gt_capture_write_object_doubts(const struct gt_capture_objects *objects,
                                    struct gt_bundle_writer *writer);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_BUNDLE_BUNDLE_H
#define GT_FORMAT_BUNDLE_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The parts of a bundle's folder, and the words that stand in its bundle.json: for those who write
 * one and for those who read it. model/bundle/bundle.h says what a bundle is.
 */

#define GT_BUNDLE_VERSION       1 /* of bundle.json */
#define GT_BUNDLE_MANIFEST      "bundle.json"
#define GT_BUNDLE_PART          "bundle.json.part" /* what becomes it */
#define GT_BUNDLE_BLOBS         "blobs"
#define GT_BUNDLE_RESULTS       "results"
#define GT_BUNDLE_MOST_MANIFEST (64u << 20) /* bytes of bundle.json */

enum {
	GT_BUNDLE_HASH_BYTES = 33,         /* 32 digits and a zero */
	GT_BUNDLE_MOST_PARAMETERS = 32764, /* bytes of a kernel's parameters, in CUDA 13 */
};

/* Kinds of memory of an allocation: word in bundle.json, what it is. */
#define GT_BUNDLE_MEMORY_KINDS(KIND)                                                               \
	KIND(device, "cudaMalloc and its like")                                                    \
	KIND(pool, "stream-ordered, cudaMallocAsync")                                              \
	KIND(managed, "cudaMallocManaged")                                                         \
	KIND(mapped, "virtual memory, cuMemMap")                                                   \
	KIND(host, "of the host, pinned, that the GPU sees")                                       \
	KIND(variable, "a __device__ or __constant__ variable of a module")                        \
	KIND(array, "a CUDA array, or a mipmapped one, of textures and surfaces")

enum gt_bundle_memory_kind {
#define KIND(name, help) GT_BUNDLE_MEMORY_##name,
	GT_BUNDLE_MEMORY_KINDS(KIND)
#undef KIND
};

/* Kinds of steps: word in bundle.json, what it is. */
#define GT_BUNDLE_STEP_KINDS(KIND)                                                                 \
	KIND(launch, "a kernel")                                                                   \
	KIND(copy, "between memory of the bundle, or to or from the host")                         \
	KIND(fill, "a memset")                                                                     \
	KIND(record, "of an event")                                                                \
	KIND(wait, "of a stream, for an event")                                                    \
	KIND(host_wait, "of the program, for a stream, an event or the device")

enum gt_bundle_step_kind {
#define KIND(name, help) GT_BUNDLE_STEP_##name,
	GT_BUNDLE_STEP_KINDS(KIND)
#undef KIND
};

/* Objects through which a kernel reads arrays and memory: word in bundle.json, what it is. */
#define GT_BUNDLE_OBJECT_KINDS(KIND)                                                               \
	KIND(texture, "a texture object, which is read")                                           \
	KIND(surface, "a surface object, which is read and written")

enum gt_bundle_object_kind {
#define KIND(name, help) GT_BUNDLE_OBJECT_##name,
	GT_BUNDLE_OBJECT_KINDS(KIND)
#undef KIND
};

/* Resources of an object: word in bundle.json, what it is. */
#define GT_BUNDLE_RESOURCES(KIND)                                                                  \
	KIND(array, "an array, or one level of a mipmapped array")                                 \
	KIND(mipmap, "all levels of a mipmapped array")                                            \
	KIND(linear, "elements on end in memory")                                                  \
	KIND(pitch, "rows of elements in memory")

enum gt_bundle_resource {
#define KIND(name, help) GT_BUNDLE_RESOURCE_##name,
	GT_BUNDLE_RESOURCES(KIND)
#undef KIND
};

/*
 * The name of contents: XXH3 with 128 bits, in its canonical order, as digits of 0-9 and a-f; at
 * once, or of pieces.
 */
struct gt_blob_hasher {
	_Alignas(64) uint8_t state[640];
};

void gt_blob_hash(const void *bytes, size_t size, char hash[GT_BUNDLE_HASH_BYTES]);
void gt_blob_hasher_begin(struct gt_blob_hasher *hasher);
void gt_blob_hasher_add(struct gt_blob_hasher *hasher, const void *bytes, size_t size);
void gt_blob_hasher_end(const struct gt_blob_hasher *hasher, char hash[GT_BUNDLE_HASH_BYTES]);

/* Whether a text is such a name: nothing else is ever used as the name of a file. */
bool gt_blob_is_hash(const char *text);

#endif

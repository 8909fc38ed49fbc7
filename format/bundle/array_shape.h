/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_BUNDLE_ARRAY_SHAPE_H
#define GT_FORMAT_BUNDLE_ARRAY_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The shape of a CUDA array, and of a mipmapped one: how large its levels are, and its elements.
 * Formats and flags are the driver's numbers. The kept bytes of one are its levels one after
 * another, each row after row without anything between.
 */

enum gt_array_flag {
	GT_ARRAY_LAYERED = 1,  /* depth is a number of layers */
	GT_ARRAY_SURFACES = 2, /* kernels may write it */
	GT_ARRAY_CUBEMAP = 4,  /* depth is a number of faces */
	GT_ARRAY_GATHER = 8,
	GT_ARRAY_DEPTH_TEXTURE = 16,
	GT_ARRAY_COLOR = 32,
	GT_ARRAY_FLAGS = 63, /* all that a bundle may have */
};

enum { GT_ARRAY_MOST_LEVELS = 19 };

struct gt_array_shape {
	uint64_t width;    /* in elements */
	uint64_t height;   /* 0: it has one dimension */
	uint64_t depth;    /* or layers, or faces; 0: two dimensions at most, in one layer */
	uint32_t format;   /* CUarray_format */
	uint32_t channels; /* of an element: 1, 2 or 4 */
	uint32_t flags;    /* enum gt_array_flag */
	uint32_t levels;   /* of a mipmapped array; 0: it is none */
};

/* The kind of a format's numbers. */
enum gt_array_number {
	GT_ARRAY_OTHER, /* none that is captured: of many channels in one, compressed, planes */
	GT_ARRAY_UNSIGNED,
	GT_ARRAY_SIGNED,
	GT_ARRAY_FLOAT,
};

/* The numbers of a channel; bytes is 0 where the format is none that is captured. */
enum gt_array_number gt_array_number(uint32_t format, uint32_t *bytes);

/* Bytes of an element; 0: none that is captured. */
uint32_t gt_array_element_bytes(uint32_t format, uint32_t channels);

/*
 * How many levels a mipmapped array of such a shape has at most: until all lengths are 1, among
 * which cuMipmappedArrayCreate also counts the number of layers.
 */
uint32_t gt_array_most_levels(const struct gt_array_shape *shape);

/* Whether a GPU may have such an array. */
bool gt_array_is_sound(const struct gt_array_shape *shape);

/* One level of a shape that is sound: nothing of it is 0. */
struct gt_array_level {
	uint64_t offset; /* in what is kept of the array, bytes */
	uint64_t row_bytes;
	uint64_t rows;   /* of a slice */
	uint64_t slices; /* or layers */
};

struct gt_array_level gt_array_level(const struct gt_array_shape *shape, uint32_t level);
uint64_t gt_array_level_bytes(const struct gt_array_level *level);

/* How many levels it has: 1 of an array that is no mipmapped one. */
uint32_t gt_array_levels(const struct gt_array_shape *shape);

/* Bytes of all levels. */
uint64_t gt_array_bytes(const struct gt_array_shape *shape);

#endif

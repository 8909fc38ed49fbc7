/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_BUNDLE_OBJECTS_H
#define GT_FORMAT_BUNDLE_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "format/bundle/bundle.h"

struct gt_array_shape;
struct gt_bundle_writer;

/*
 * Texture and surface objects of a bundle, as bundle.json has them. Numbers that name something are
 * the driver's; real numbers are the bits of their 32 bits of IEEE 754, so that none gets lost.
 */

/* CUDA_TEXTURE_DESC. */
struct gt_bundle_sampler {
	uint32_t address_modes[3];
	uint32_t filter;
	uint32_t flags;
	uint32_t anisotropy;
	uint32_t mip_filter;
	uint32_t mip_bias;    /* real */
	uint32_t least_level; /* real */
	uint32_t most_level;  /* real */
	uint32_t border[4];   /* real */
};

/* How an object looks at an array in another way than it was made. */
struct gt_bundle_view {
	uint64_t format; /* CUresourceViewFormat */
	uint64_t width;
	uint64_t height;
	uint64_t depth;
	uint32_t first_level;
	uint32_t last_level;
	uint32_t first_layer;
	uint32_t last_layer;
};

struct gt_bundle_object {
	enum gt_bundle_object_kind kind;
	uint64_t value; /* its handle in the program */
	enum gt_bundle_resource resource;
	uint32_t memory; /* that it is of: an array, or what linear and pitch lie in */
	uint32_t level;  /* of array: of a memory that has levels */
	/* linear and pitch: where it begins in the memory, and what is there */
	uint64_t offset;
	uint32_t format;
	uint32_t channels;
	uint64_t bytes; /* linear */
	uint64_t width; /* pitch, in elements */
	uint64_t height;
	uint64_t pitch;                   /* bytes */
	struct gt_bundle_sampler sampler; /* of a texture */
	bool has_view;
	struct gt_bundle_view view;
};

/* Entries of bundle.json: the member array of memory that is one, and one of the list objects. */
void gt_bundle_write_shape(struct gt_bundle_writer *writer, const struct gt_array_shape *shape);
void gt_bundle_write_object(struct gt_bundle_writer *writer, const struct gt_bundle_object *object);

/* One of the list handles: 8 bytes that are equal to the handle of an object. */
struct gt_bundle_handle {
	uint32_t memory; /* in whose contents before; UINT32_MAX: in a step's parameters */
	uint32_t step;   /* of parameters */
	uint64_t offset; /* there */
	uint32_t object;
	bool declared; /* it is a parameter of its own, of the size of a handle */
};

void gt_bundle_write_handle(struct gt_bundle_writer *writer, const struct gt_bundle_handle *handle);

#endif

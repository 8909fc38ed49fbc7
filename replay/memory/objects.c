/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/memory/objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/search.h"
#include "model/bundle/bundle.h"

/* Objects that are made until one has the number that is wanted: above it, and of all in all. */
enum { MOST_ABOVE = 64, MOST_FILLERS = 8192 };

static int check(const struct gt_objects *objects, CUresult code, struct gt_error *err,
                 const char *what)
{
	return gt_cuda_check(objects->gpu->cuda, code, err, what);
}

static const struct gt_array_shape *shape_of(const struct gt_objects *objects, size_t memory)
{
	return &objects->bundle->memory.rows[memory].array;
}

/* ---- arrays ---- */

static int find_levels(const struct gt_objects *objects, struct gt_made_array *made, size_t memory,
                       struct gt_error *err)
{
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < gt_array_levels(shape_of(objects, memory)); i++)
		result = check(objects,
		               objects->gpu->cuda->mipmap_level(&made->levels[i], made->mipmap, i),
		               err, "a level of a mipmapped array cannot be had");
	return result;
}

static int make_array(const struct gt_objects *objects, struct gt_made_array *made, size_t memory,
                      struct gt_error *err)
{
	const struct gt_cuda *cuda = objects->gpu->cuda;
	const struct gt_array_shape *shape = shape_of(objects, memory);
	const CUDA_ARRAY3D_DESCRIPTOR wanted = {
		.Width = shape->width,
		.Height = shape->height,
		.Depth = shape->depth,
		.Format = (CUarray_format)shape->format,
		.NumChannels = shape->channels,
		.Flags = shape->flags,
	};
	int result;

	if (shape->levels) {
		result = check(objects, cuda->mipmap_create(&made->mipmap, &wanted, shape->levels),
		               err, "a mipmapped array cannot be made");
		return result < 0 ? result : find_levels(objects, made, memory, err);
	}
	result = check(objects, cuda->array_create(&made->array, &wanted), err,
	               "an array cannot be made");
	made->levels[0] = made->array;
	return result;
}

static void drop_array(const struct gt_objects *objects, struct gt_made_array *made)
{
	if (made->array)
		(void)objects->gpu->cuda->array_destroy(made->array);
	if (made->mipmap)
		(void)objects->gpu->cuda->mipmap_destroy(made->mipmap);
	*made = (struct gt_made_array){0};
}

int gt_objects_open(struct gt_objects *objects, const struct gt_bundle *bundle, struct gt_gpu *gpu,
                    struct gt_error *err)
{
	int result = 0;

	*objects = (struct gt_objects){.bundle = bundle, .gpu = gpu};
	objects->arrays = gt_allocate_zeroed(bundle->memory.count, sizeof(*objects->arrays));
	objects->kept = gt_allocate_zeroed(bundle->memory.count, sizeof(*objects->kept));
	objects->values = gt_allocate_zeroed(bundle->objects.count, sizeof(*objects->values));
	for (size_t i = 0; result == 0 && i < bundle->memory.count; i++)
		if (bundle->memory.rows[i].kind == GT_BUNDLE_MEMORY_array)
			result = make_array(objects, &objects->arrays[i], i, err);
	if (result < 0)
		gt_objects_close(objects);
	return result;
}

/* ---- contents ---- */

/* A copy, of which one side may be bytes of the host: then the array of it is NULL. */
struct transfer {
	const struct gt_made_array *to;
	uint8_t *to_bytes;
	const struct gt_made_array *from;
	const uint8_t *from_bytes;
};

static int copy_level(const struct gt_objects *objects, const struct transfer *transfer,
                      uint32_t number, const struct gt_array_level *level, struct gt_error *err)
{
	CUDA_MEMCPY3D copy = {
		.srcMemoryType = transfer->from ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST,
		.srcPitch = level->row_bytes,
		.srcHeight = level->rows,
		.dstMemoryType = transfer->to ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST,
		.dstPitch = level->row_bytes,
		.dstHeight = level->rows,
		.WidthInBytes = level->row_bytes,
		.Height = level->rows,
		.Depth = level->slices,
	};

	if (transfer->from)
		copy.srcArray = transfer->from->levels[number];
	else
		copy.srcHost = transfer->from_bytes + level->offset;
	if (transfer->to)
		copy.dstArray = transfer->to->levels[number];
	else
		copy.dstHost = transfer->to_bytes + level->offset;
	return check(objects, objects->gpu->cuda->copy_3d(&copy, objects->gpu->stream), err,
	             "an array cannot be copied");
}

static int copy_all(const struct gt_objects *objects, size_t memory,
                    const struct transfer *transfer, struct gt_error *err)
{
	const struct gt_array_shape *shape = shape_of(objects, memory);
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < gt_array_levels(shape); i++) {
		const struct gt_array_level level = gt_array_level(shape, i);

		result = copy_level(objects, transfer, i, &level, err);
	}
	return result;
}

int gt_objects_get(const struct gt_objects *objects, size_t memory, void *bytes,
                   struct gt_error *err)
{
	const struct transfer transfer = {.to_bytes = bytes, .from = &objects->arrays[memory]};
	const int result = copy_all(objects, memory, &transfer, err);

	return result < 0 ? result : gt_gpu_wait(objects->gpu, err);
}

int gt_objects_put(const struct gt_objects *objects, size_t memory, const void *bytes,
                   struct gt_error *err)
{
	const struct transfer transfer = {.to = &objects->arrays[memory], .from_bytes = bytes};
	const int result = copy_all(objects, memory, &transfer, err);

	return result < 0 ? result : gt_gpu_wait(objects->gpu, err);
}

int gt_objects_keep(struct gt_objects *objects, size_t memory, struct gt_error *err)
{
	struct gt_made_array *kept = &objects->kept[memory];
	const struct transfer transfer = {.to = kept, .from = &objects->arrays[memory]};
	int result = make_array(objects, kept, memory, err);

	if (result == 0)
		result = copy_all(objects, memory, &transfer, err);
	if (result == 0)
		result = gt_gpu_wait(objects->gpu, err);
	if (result < 0)
		drop_array(objects, kept);
	return result;
}

int gt_objects_reset(const struct gt_objects *objects, size_t memory, struct gt_error *err)
{
	const struct transfer transfer = {.to = &objects->arrays[memory],
	                                  .from = &objects->kept[memory]};

	return copy_all(objects, memory, &transfer, err);
}

/* ---- objects ---- */

static CUDA_RESOURCE_DESC resource_of(const struct gt_objects *objects,
                                      const struct gt_bundle_object *object,
                                      const struct gt_layout *layout)
{
	const struct gt_made_array *array = &objects->arrays[object->memory];
	const CUdeviceptr address = layout->places.rows[object->memory].address + object->offset;
	CUDA_RESOURCE_DESC resource;

	memset(&resource, 0, sizeof(resource));
	switch (object->resource) {
	case GT_BUNDLE_RESOURCE_array:
		resource.resType = CU_RESOURCE_TYPE_ARRAY;
		resource.res.array.hArray = array->levels[object->level];
		break;
	case GT_BUNDLE_RESOURCE_mipmap:
		resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
		resource.res.mipmap.hMipmappedArray = array->mipmap;
		break;
	case GT_BUNDLE_RESOURCE_linear:
		resource.resType = CU_RESOURCE_TYPE_LINEAR;
		resource.res.linear.devPtr = address;
		resource.res.linear.format = (CUarray_format)object->format;
		resource.res.linear.numChannels = object->channels;
		resource.res.linear.sizeInBytes = object->bytes;
		break;
	case GT_BUNDLE_RESOURCE_pitch:
		resource.resType = CU_RESOURCE_TYPE_PITCH2D;
		resource.res.pitch2D.devPtr = address;
		resource.res.pitch2D.format = (CUarray_format)object->format;
		resource.res.pitch2D.numChannels = object->channels;
		resource.res.pitch2D.width = object->width;
		resource.res.pitch2D.height = object->height;
		resource.res.pitch2D.pitchInBytes = object->pitch;
		break;
	}
	return resource;
}

static float real_of(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static CUDA_TEXTURE_DESC texture_of(const struct gt_bundle_sampler *sampler)
{
	CUDA_TEXTURE_DESC texture;

	memset(&texture, 0, sizeof(texture));
	for (size_t i = 0; i < 3; i++)
		texture.addressMode[i] = (CUaddress_mode)sampler->address_modes[i];
	texture.filterMode = (CUfilter_mode)sampler->filter;
	texture.flags = sampler->flags;
	texture.maxAnisotropy = sampler->anisotropy;
	texture.mipmapFilterMode = (CUfilter_mode)sampler->mip_filter;
	texture.mipmapLevelBias = real_of(sampler->mip_bias);
	texture.minMipmapLevelClamp = real_of(sampler->least_level);
	texture.maxMipmapLevelClamp = real_of(sampler->most_level);
	for (size_t i = 0; i < 4; i++)
		texture.borderColor[i] = real_of(sampler->border[i]);
	return texture;
}

static CUDA_RESOURCE_VIEW_DESC view_of(const struct gt_bundle_view *view)
{
	CUDA_RESOURCE_VIEW_DESC made;

	memset(&made, 0, sizeof(made));
	made.format = (CUresourceViewFormat)view->format;
	made.width = view->width;
	made.height = view->height;
	made.depth = view->depth;
	made.firstMipmapLevel = view->first_level;
	made.lastMipmapLevel = view->last_level;
	made.firstLayer = view->first_layer;
	made.lastLayer = view->last_layer;
	return made;
}

/* By what they stand in, then by offset; in the order of the list where that is the same. */
static int by_place(const void *a, const void *b)
{
	const struct gt_handle_place *one = a;
	const struct gt_handle_place *other = b;

	if (one->memory != other->memory)
		return one->memory < other->memory ? -1 : 1;
	if (gt_handle_step(one) != gt_handle_step(other))
		return gt_handle_step(one) < gt_handle_step(other) ? -1 : 1;
	if (one->offset != other->offset)
		return one->offset < other->offset ? -1 : 1;
	return (one->handle > other->handle) - (one->handle < other->handle);
}

/* At a place of memory the one that the last step brought is the first, if there are several. */
static int by_memory(const void *a, const void *b)
{
	const struct gt_handle_place *one = a;
	const struct gt_handle_place *other = b;
	/* Without a step it was there before the first one: 0. */
	const uint32_t begun = one->handle->step + 1;
	const uint32_t other_begun = other->handle->step + 1;

	if (one->memory != other->memory)
		return one->memory < other->memory ? -1 : 1;
	if (one->offset != other->offset)
		return one->offset < other->offset ? -1 : 1;
	if (begun != other_begun)
		return begun > other_begun ? -1 : 1;
	return (one->handle > other->handle) - (one->handle < other->handle);
}

static void find_places(struct gt_objects *objects)
{
	const struct gt_bundle *bundle = objects->bundle;

	gt_array_each(const struct gt_bundle_handle, handle, &bundle->handles) {
		struct gt_handle_place place = {handle, handle->memory, handle->offset};

		*gt_array_push(&objects->first) = place;
		if (gt_bundle_handle_place(bundle, handle, &place.memory, &place.offset))
			*gt_array_push(&objects->later) = place;
	}
	if (objects->first.count)
		qsort(objects->first.rows, objects->first.count, sizeof(*objects->first.rows),
		      by_place);
	if (objects->later.count)
		qsort(objects->later.rows, objects->later.count, sizeof(*objects->later.rows),
		      by_memory);
}

/* An object that only takes a number. */
struct filler {
	enum gt_bundle_object_kind kind;
	uint64_t value;
};

struct making {
	struct gt_objects *objects;
	const struct gt_layout *layout;
	gt_array(struct filler) fillers;
	size_t tried; /* fillers that were ever */
};

static int create(const struct making *making, const struct gt_bundle_object *object,
                  uint64_t *value, struct gt_error *err)
{
	const struct gt_objects *objects = making->objects;
	const struct gt_cuda *cuda = objects->gpu->cuda;
	const CUDA_RESOURCE_DESC resource = resource_of(objects, object, making->layout);
	const CUDA_TEXTURE_DESC texture = texture_of(&object->sampler);
	const CUDA_RESOURCE_VIEW_DESC view = view_of(&object->view);
	unsigned long long made = 0;
	int result;

	if (object->kind == GT_BUNDLE_OBJECT_surface)
		result = check(objects, cuda->surface_create(&made, &resource), err,
		               "a surface object cannot be made");
	else
		result = check(objects,
		               cuda->texture_create(&made, &resource, &texture,
		                                    object->has_view ? &view : NULL),
		               err, "a texture object cannot be made");
	*value = made;
	return result;
}

static void destroy(const struct gt_objects *objects, enum gt_bundle_object_kind kind,
                    uint64_t value)
{
	if (kind == GT_BUNDLE_OBJECT_surface)
		(void)objects->gpu->cuda->surface_destroy(value);
	else
		(void)objects->gpu->cuda->texture_destroy(value);
}

/*
 * Makes room for the number, where it was taken up for nothing: by one of either kind, or by one of
 * each, as drivers may count them apart.
 */
static void drop_fillers(struct making *making, uint64_t value)
{
	size_t kept = 0;

	gt_array_each(const struct filler, filler, &making->fillers) {
		if (filler->value == value)
			destroy(making->objects, filler->kind, value);
		else
			making->fillers.rows[kept++] = *filler;
	}
	making->fillers.count = kept;
}

static void drop_all_fillers(struct making *making)
{
	gt_array_each(const struct filler, filler, &making->fillers)
		destroy(making->objects, filler->kind, filler->value);
	making->fillers.count = 0;
}

/*
 * Drivers give out the lowest number that is free, as a rule: until it is the one. Where no more
 * can be made the last one that was made is it, or one in the place of those that take numbers.
 */
static int make_one(struct making *making, size_t number, struct gt_error *err)
{
	const struct gt_bundle_object *object = &making->objects->bundle->objects.rows[number];
	uint64_t *value = &making->objects->values[number];
	unsigned above = 0;
	bool made = false;
	int result;

	drop_fillers(making, object->value);
	/* Why the first one cannot be made is of interest. */
	while ((result = create(making, object, value, made ? NULL : err)) == 0) {
		above += *value > object->value;
		if (*value == object->value || above > MOST_ABOVE || making->tried >= MOST_FILLERS)
			return 0;
		*gt_array_push(&making->fillers) = (struct filler){object->kind, *value};
		making->tried++;
		made = true;
	}
	*value = 0;
	if (made) {
		*value = making->fillers.rows[--making->fillers.count].value;
		return 0;
	}
	if (making->fillers.count == 0)
		return result;
	drop_all_fillers(making);
	return create(making, object, value, err);
}

static int by_value(const void *a, const void *b)
{
	const struct gt_bundle_object *one = *(const struct gt_bundle_object *const *)a;
	const struct gt_bundle_object *other = *(const struct gt_bundle_object *const *)b;

	return (one->value > other->value) - (one->value < other->value);
}

int gt_objects_make(struct gt_objects *objects, const struct gt_layout *layout,
                    struct gt_error *err)
{
	const struct gt_bundle *bundle = objects->bundle;
	struct making making = {.objects = objects, .layout = layout};
	const struct gt_bundle_object **order =
		gt_allocate_zeroed(bundle->objects.count, sizeof(const struct gt_bundle_object *));
	int result = 0;

	find_places(objects);
	for (size_t i = 0; i < bundle->objects.count; i++)
		order[i] = &bundle->objects.rows[i];
	qsort(order, bundle->objects.count, sizeof(*order), by_value);
	for (size_t i = 0; result == 0 && i < bundle->objects.count; i++)
		result = make_one(&making, (size_t)(order[i] - bundle->objects.rows), err);
	drop_all_fillers(&making);
	gt_array_release(&making.fillers);
	free(order);
	return result;
}

void gt_objects_close(struct gt_objects *objects)
{
	/* Nothing of an abandoned GPU is given back. */
	const bool there = objects->bundle && objects->gpu->context;

	for (size_t i = 0; there && i < objects->bundle->objects.count; i++)
		if (objects->values[i])
			destroy(objects, objects->bundle->objects.rows[i].kind, objects->values[i]);
	for (size_t i = 0; there && i < objects->bundle->memory.count; i++) {
		drop_array(objects, &objects->arrays[i]);
		drop_array(objects, &objects->kept[i]);
	}
	free(objects->arrays);
	free(objects->kept);
	free(objects->values);
	gt_array_release(&objects->first);
	gt_array_release(&objects->later);
	*objects = (struct gt_objects){0};
}

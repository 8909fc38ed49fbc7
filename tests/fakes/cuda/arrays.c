/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/cuda/arrays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Arrays, which are row after row in memory of the host, and objects, which are numbers from 1. What
 * is wrong with what the driver is told is CUDA_ERROR_INVALID_VALUE, as far as cuda.h says what it
 * wants; a handle of an array that was destroyed ends the process, as it may with the real one.
 */

struct CUarray_st {
	CUDA_ARRAY3D_DESCRIPTOR shape;
	char *bytes; /* NULL: it was destroyed */
	CUarray next;
};

struct CUmipmappedArray_st {
	unsigned count; /* 0: it was destroyed */
	struct CUarray_st levels[16];
	CUmipmappedArray next;
};

enum { MOST_OBJECTS = 4096, ALIGNMENT = 512, PITCH_ALIGNMENT = 32 };

/* All that ever were: no handle comes twice. */
static CUarray arrays;           /* fake_cuda.lock */
static CUmipmappedArray mipmaps; /* fake_cuda.lock */

struct object {
	enum { FREE, TEXTURE, SURFACE } kind;
	CUDA_RESOURCE_DESC resource;
	CUDA_TEXTURE_DESC texture;
	CUDA_RESOURCE_VIEW_DESC view;
	int has_view;
};

static struct object objects[MOST_OBJECTS]; /* fake_cuda.lock */

/* ---- arrays ---- */

static size_t element_bytes(CUarray_format format, unsigned channels)
{
	switch (format) {
	case CU_AD_FORMAT_UNSIGNED_INT8:
	case CU_AD_FORMAT_SIGNED_INT8:
	case CU_AD_FORMAT_UNORM_INT8X4:
		return channels;
	case CU_AD_FORMAT_UNSIGNED_INT16:
	case CU_AD_FORMAT_SIGNED_INT16:
	case CU_AD_FORMAT_HALF:
		return 2U * channels;
	default:
		return 4U * channels;
	}
}

static size_t at_least_one(size_t length)
{
	return length ? length : 1;
}

static size_t row_bytes(const CUDA_ARRAY3D_DESCRIPTOR *shape)
{
	return shape->Width * element_bytes(shape->Format, shape->NumChannels);
}

static size_t bytes_of(const CUDA_ARRAY3D_DESCRIPTOR *shape)
{
	return row_bytes(shape) * at_least_one(shape->Height) * at_least_one(shape->Depth);
}

static _Noreturn void die(const char *what)
{
	(void)fprintf(stderr, "fake libcuda: a handle of %s that was destroyed\n", what);
	abort();
}

static void check_array(CUarray array)
{
	if (!array->bytes)
		die("an array");
}

static void check_mipmap(CUmipmappedArray mipmap)
{
	if (mipmap->count == 0)
		die("a mipmapped array");
}

static CUarray new_array(void)
{
	CUarray array = calloc(1, sizeof(*array));

	(void)pthread_mutex_lock(&fake_cuda.lock);
	array->next = arrays;
	arrays = array;
	(void)pthread_mutex_unlock(&fake_cuda.lock);
	return array;
}

static CUmipmappedArray new_mipmap(void)
{
	CUmipmappedArray mipmap = calloc(1, sizeof(*mipmap));

	(void)pthread_mutex_lock(&fake_cuda.lock);
	mipmap->next = mipmaps;
	mipmaps = mipmap;
	(void)pthread_mutex_unlock(&fake_cuda.lock);
	return mipmap;
}

static int has_layers(const CUDA_ARRAY3D_DESCRIPTOR *shape)
{
	return (shape->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
}

/* Whether cuArray3DCreate takes these extents. */
static int is_sound(const CUDA_ARRAY3D_DESCRIPTOR *shape)
{
	const unsigned channels = shape->NumChannels;

	if (shape->Width == 0 || (channels != 1 && channels != 2 && channels != 4))
		return 0;
	if (has_layers(shape) ? shape->Depth == 0 : shape->Depth > 0 && shape->Height == 0)
		return 0;
	if (!(shape->Flags & CUDA_ARRAY3D_CUBEMAP))
		return 1;
	return shape->Width == shape->Height &&
	       (shape->Flags & CUDA_ARRAY3D_LAYERED ? shape->Depth % 6 == 0 : shape->Depth == 6);
}

static CUresult make_array(CUarray array, const CUDA_ARRAY3D_DESCRIPTOR *shape)
{
	if (!is_sound(shape))
		return CUDA_ERROR_INVALID_VALUE;
	array->shape = *shape;
	array->bytes = calloc(1, bytes_of(shape));
	return array->bytes ? fake_usable() : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuArrayCreate_v2(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *descriptor)
{
	const CUDA_ARRAY3D_DESCRIPTOR shape = {.Width = descriptor->Width,
	                                       .Height = descriptor->Height,
	                                       .Format = descriptor->Format,
	                                       .NumChannels = descriptor->NumChannels};

	API_BEGIN(cuArrayCreate_v2, array, descriptor);
	*array = new_array();
	API_END(make_array(*array, &shape));
}

CUresult cuArray3DCreate_v2(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
	API_BEGIN(cuArray3DCreate_v2, array, descriptor);
	*array = new_array();
	API_END(make_array(*array, descriptor));
}

static void drop_bytes(CUarray array)
{
	free(array->bytes);
	array->bytes = NULL;
}

CUresult cuArrayDestroy(CUarray array)
{
	API_BEGIN(cuArrayDestroy, array);
	check_array(array);
	fake_wait_for_context();
	drop_bytes(array);
	API_END(fake_usable());
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *descriptor, CUarray array)
{
	API_BEGIN(cuArray3DGetDescriptor_v2, descriptor, array);
	check_array(array);
	*descriptor = array->shape;
	API_END(fake_usable());
}

static size_t halved(size_t length, unsigned level)
{
	return length ? at_least_one(length >> level) : 0;
}

static CUDA_ARRAY3D_DESCRIPTOR level_of(const CUDA_ARRAY3D_DESCRIPTOR *first, unsigned level)
{
	CUDA_ARRAY3D_DESCRIPTOR shape = *first;

	shape.Width = halved(shape.Width, level);
	shape.Height = halved(shape.Height, level);
	if (!has_layers(&shape))
		shape.Depth = halved(shape.Depth, level);
	return shape;
}

/* No more levels than until all extents are 1. */
static unsigned clamped(const CUDA_ARRAY3D_DESCRIPTOR *shape, unsigned levels)
{
	size_t longest = shape->Width > shape->Height ? shape->Width : shape->Height;
	unsigned most = 0;

	if (!has_layers(shape) && shape->Depth > longest)
		longest = shape->Depth;
	for (; longest > 0 && most < 16; longest >>= 1)
		most++;
	if (levels == 0)
		return 1;
	return levels < most ? levels : most;
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray *mipmap, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                                unsigned levels)
{
	const unsigned count = clamped(descriptor, levels);
	CUresult result = fake_usable();

	API_BEGIN(cuMipmappedArrayCreate, mipmap, descriptor, levels);
	if (result == CUDA_SUCCESS)
		*mipmap = new_mipmap();
	for (unsigned i = 0; i < count && result == CUDA_SUCCESS; i++) {
		const CUDA_ARRAY3D_DESCRIPTOR shape = level_of(descriptor, i);

		result = make_array(&(*mipmap)->levels[i], &shape);
		(*mipmap)->count = i + 1;
	}
	API_END(result);
}

CUresult cuMipmappedArrayGetLevel(CUarray *array, CUmipmappedArray mipmap, unsigned level)
{
	API_BEGIN(cuMipmappedArrayGetLevel, array, mipmap, level);
	check_mipmap(mipmap);
	if (level >= mipmap->count)
		API_END(CUDA_ERROR_INVALID_VALUE);
	*array = &mipmap->levels[level];
	API_END(fake_usable());
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray mipmap)
{
	API_BEGIN(cuMipmappedArrayDestroy, mipmap);
	check_mipmap(mipmap);
	fake_wait_for_context();
	for (unsigned i = 0; i < mipmap->count; i++)
		drop_bytes(&mipmap->levels[i]);
	mipmap->count = 0;
	API_END(fake_usable());
}

/* As imported memory would be: nothing tells it from others. */
CUresult cuExternalMemoryGetMappedMipmappedArray(
	CUmipmappedArray *mipmap, CUexternalMemory memory,
	const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *description)
{
	API_BEGIN(cuExternalMemoryGetMappedMipmappedArray, mipmap, memory, description);
	*mipmap = new_mipmap();
	(*mipmap)->count = 1;
	API_END(make_array(&(*mipmap)->levels[0], &description->arrayDesc));
}

/* ---- copies ---- */

/* Where a row of one side is; NULL: it is not there. */
static char *source_row(const CUDA_MEMCPY3D *box, size_t row, size_t slice)
{
	const CUarray array = box->srcArray;
	const size_t height = box->srcHeight ? box->srcHeight : box->Height;

	row += box->srcY;
	slice += box->srcZ;
	if (box->srcMemoryType != CU_MEMORYTYPE_ARRAY)
		return (char *)(uintptr_t)fake_side_of(box->srcMemoryType, box->srcHost,
		                                       box->srcDevice) +
		       (slice * height + row) * box->srcPitch + box->srcXInBytes;
	if (row >= at_least_one(array->shape.Height) || slice >= at_least_one(array->shape.Depth) ||
	    box->srcXInBytes + box->WidthInBytes > row_bytes(&array->shape))
		return NULL;
	return array->bytes +
	       (slice * at_least_one(array->shape.Height) + row) * row_bytes(&array->shape) +
	       box->srcXInBytes;
}

static char *target_row(const CUDA_MEMCPY3D *box, size_t row, size_t slice)
{
	const CUDA_MEMCPY3D turned = {
		.srcXInBytes = box->dstXInBytes,
		.srcY = box->dstY,
		.srcZ = box->dstZ,
		.srcMemoryType = box->dstMemoryType,
		.srcHost = box->dstHost,
		.srcDevice = box->dstDevice,
		.srcArray = box->dstArray,
		.srcPitch = box->dstPitch,
		.srcHeight = box->dstHeight,
		.WidthInBytes = box->WidthInBytes,
		.Height = box->Height,
	};

	return source_row(&turned, row, slice);
}

/* Whole elements of an array are copied; rows and slices of memory do not overlap. */
static int fits(CUmemorytype type, CUarray array, size_t x, size_t width, size_t pitch)
{
	size_t element;

	if (type != CU_MEMORYTYPE_ARRAY)
		return pitch == 0 || pitch >= x + width;
	check_array(array);
	element = element_bytes(array->shape.Format, array->shape.NumChannels);
	return x % element == 0 && width % element == 0;
}

static int has_slices(CUmemorytype type, size_t y, size_t rows, size_t slice_rows)
{
	return type == CU_MEMORYTYPE_ARRAY || slice_rows == 0 || slice_rows >= y + rows;
}

static int can_be_copied(const CUDA_MEMCPY3D *box)
{
	return box->WidthInBytes > 0 && box->Height > 0 && box->Depth > 0 &&
	       fits(box->srcMemoryType, box->srcArray, box->srcXInBytes, box->WidthInBytes,
	            box->srcPitch) &&
	       fits(box->dstMemoryType, box->dstArray, box->dstXInBytes, box->WidthInBytes,
	            box->dstPitch) &&
	       has_slices(box->srcMemoryType, box->srcY, box->Height, box->srcHeight) &&
	       has_slices(box->dstMemoryType, box->dstY, box->Height, box->dstHeight);
}

CUresult fake_copy_arrays(const CUDA_MEMCPY3D *box)
{
	CUresult result = can_be_copied(box) ? fake_usable() : CUDA_ERROR_INVALID_VALUE;

	for (size_t slice = 0; slice < box->Depth && result == CUDA_SUCCESS; slice++) {
		for (size_t row = 0; row < box->Height && result == CUDA_SUCCESS; row++) {
			const char *from = source_row(box, row, slice);
			char *to = target_row(box, row, slice);

			if (from && to)
				memmove(to, from, box->WidthInBytes);
			else
				result = CUDA_ERROR_INVALID_VALUE;
		}
	}
	return result;
}

CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *box)
{
	API_BEGIN(cuMemcpy3D_v2, box);
	fake_wait_for_context();
	API_END(fake_copy_arrays(box));
}

/* ---- objects ---- */

/* The lowest number that is free. */
static CUresult add_object(const struct object *object, unsigned long long *handle)
{
	CUresult result = CUDA_ERROR_OUT_OF_MEMORY;

	if (fake_usable() != CUDA_SUCCESS)
		return fake_usable();
	if (object->resource.resType > CU_RESOURCE_TYPE_PITCH2D)
		return CUDA_ERROR_INVALID_VALUE;
	(void)pthread_mutex_lock(&fake_cuda.lock);
	for (size_t i = 1; i < MOST_OBJECTS; i++) {
		if (objects[i].kind != FREE)
			continue;
		objects[i] = *object;
		*handle = i;
		result = CUDA_SUCCESS;
		break;
	}
	(void)pthread_mutex_unlock(&fake_cuda.lock);
	return result;
}

static const struct object *find_object(unsigned long long handle, int kind)
{
	return handle < MOST_OBJECTS && (int)objects[handle].kind == kind ? &objects[handle] : NULL;
}

static CUresult drop_object(unsigned long long handle, int kind)
{
	if (!find_object(handle, kind))
		return CUDA_ERROR_INVALID_HANDLE;
	objects[handle].kind = FREE;
	return fake_usable();
}

/* Whether cuTexObjectCreate takes them. */
static int can_be_texture(const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *description,
                          const CUDA_RESOURCE_VIEW_DESC *view)
{
	if (resource->flags != 0)
		return 0;
	switch (resource->resType) {
	case CU_RESOURCE_TYPE_ARRAY:
		check_array(resource->res.array.hArray);
		return 1;
	case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
		check_mipmap(resource->res.mipmap.hMipmappedArray);
		return (description->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
	case CU_RESOURCE_TYPE_LINEAR:
		return !view && resource->res.linear.devPtr % ALIGNMENT == 0;
	case CU_RESOURCE_TYPE_PITCH2D:
		return !view && resource->res.pitch2D.devPtr % ALIGNMENT == 0 &&
		       resource->res.pitch2D.pitchInBytes % PITCH_ALIGNMENT == 0;
	}
	return 0;
}

CUresult cuTexObjectCreate(CUtexObject *texture, const CUDA_RESOURCE_DESC *resource,
                           const CUDA_TEXTURE_DESC *description,
                           const CUDA_RESOURCE_VIEW_DESC *view)
{
	struct object object = {.kind = TEXTURE, .resource = *resource, .texture = *description};

	API_BEGIN(cuTexObjectCreate, texture, resource, description, view);
	object.has_view = view != NULL;
	if (view)
		object.view = *view;
	API_END(can_be_texture(resource, description, view) ? add_object(&object, texture)
	                                                    : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuTexObjectDestroy(CUtexObject texture)
{
	API_BEGIN(cuTexObjectDestroy, texture);
	API_END(drop_object(texture, TEXTURE));
}

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *resource, CUtexObject texture)
{
	const struct object *object = find_object(texture, TEXTURE);

	API_BEGIN(cuTexObjectGetResourceDesc, resource, texture);
	if (!object)
		API_END(CUDA_ERROR_INVALID_HANDLE);
	*resource = object->resource;
	API_END(fake_usable());
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *description, CUtexObject texture)
{
	const struct object *object = find_object(texture, TEXTURE);

	API_BEGIN(cuTexObjectGetTextureDesc, description, texture);
	if (!object)
		API_END(CUDA_ERROR_INVALID_HANDLE);
	*description = object->texture;
	memset(description->borderColor, 0, sizeof(description->borderColor)); /* as the driver */
	API_END(fake_usable());
}

CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *view, CUtexObject texture)
{
	const struct object *object = find_object(texture, TEXTURE);

	API_BEGIN(cuTexObjectGetResourceViewDesc, view, texture);
	if (!object)
		API_END(CUDA_ERROR_INVALID_HANDLE);
	*view = object->view; /* zeros where it has none */
	API_END(fake_usable());
}

CUresult cuSurfObjectCreate(CUsurfObject *surface, const CUDA_RESOURCE_DESC *resource)
{
	const struct object object = {.kind = SURFACE, .resource = *resource};

	API_BEGIN(cuSurfObjectCreate, surface, resource);
	if (resource->resType != CU_RESOURCE_TYPE_ARRAY || resource->flags != 0)
		API_END(CUDA_ERROR_INVALID_VALUE);
	check_array(resource->res.array.hArray);
	if (!(resource->res.array.hArray->shape.Flags & CUDA_ARRAY3D_SURFACE_LDST))
		API_END(CUDA_ERROR_INVALID_VALUE);
	API_END(add_object(&object, surface));
}

CUresult cuSurfObjectDestroy(CUsurfObject surface)
{
	API_BEGIN(cuSurfObjectDestroy, surface);
	API_END(drop_object(surface, SURFACE));
}

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *resource, CUsurfObject surface)
{
	const struct object *object = find_object(surface, SURFACE);

	API_BEGIN(cuSurfObjectGetResourceDesc, resource, surface);
	if (!object)
		API_END(CUDA_ERROR_INVALID_HANDLE);
	*resource = object->resource;
	API_END(fake_usable());
}

/* As modules had them before objects; no kernel here reads through one. */
CUresult cuModuleGetTexRef(CUtexref *reference, CUmodule module, const char *name)
{
	static char references[1];

	API_BEGIN(cuModuleGetTexRef, reference, module, name);
	*reference = (CUtexref)(void *)references;
	API_END(fake_usable());
}

/* ---- what kernels see of them ---- */

static void *in_array(CUarray array, size_t x, size_t y)
{
	const CUDA_ARRAY3D_DESCRIPTOR *shape = &array->shape;

	check_array(array);
	if (x >= shape->Width || y >= at_least_one(shape->Height))
		return NULL;
	return array->bytes + y * row_bytes(shape) +
	       x * element_bytes(shape->Format, shape->NumChannels);
}

static void *in_memory(CUdeviceptr address, size_t offset, size_t bytes)
{
	char *at = (char *)(uintptr_t)address + offset;

	return fake_kind_of(at, bytes) == CUPTI_ACTIVITY_MEMORY_KIND_DEVICE ? at : NULL;
}

static void *element_of(const CUDA_RESOURCE_DESC *resource, size_t x, size_t y)
{
	size_t bytes;

	switch (resource->resType) {
	case CU_RESOURCE_TYPE_ARRAY:
		return in_array(resource->res.array.hArray, x, y);
	case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
		check_mipmap(resource->res.mipmap.hMipmappedArray);
		return in_array(&resource->res.mipmap.hMipmappedArray->levels[0], x, y);
	case CU_RESOURCE_TYPE_LINEAR:
		bytes = element_bytes(resource->res.linear.format,
		                      resource->res.linear.numChannels);
		return in_memory(resource->res.linear.devPtr, x * bytes, bytes);
	case CU_RESOURCE_TYPE_PITCH2D:
		bytes = element_bytes(resource->res.pitch2D.format,
		                      resource->res.pitch2D.numChannels);
		return in_memory(resource->res.pitch2D.devPtr,
		                 y * resource->res.pitch2D.pitchInBytes + x * bytes, bytes);
	}
	return NULL;
}

const void *fake_texel(unsigned long long texture, size_t x, size_t y)
{
	const struct object *object = find_object(texture, TEXTURE);

	void *element = object ? element_of(&object->resource, x, y) : NULL;

	/* An element of one channel is the first colour. */
	if (object && !element && object->texture.addressMode[0] == CU_TR_ADDRESS_MODE_BORDER)
		return object->texture.borderColor;
	return element;
}

void *fake_surface_element(unsigned long long surface, size_t x, size_t y)
{
	const struct object *object = find_object(surface, SURFACE);

	return object ? element_of(&object->resource, x, y) : NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/cuda_arrays.h"

#include <stdlib.h>
#include <string.h>

/* Arrays, which are row after row in memory of the host, and objects, which are numbers from 1. */

struct CUarray_st {
	CUDA_ARRAY3D_DESCRIPTOR shape;
	char *bytes; /* of a level, which is the mipmap's, too */
};

struct CUmipmappedArray_st {
	unsigned count;
	struct CUarray_st levels[16];
};

enum { MOST_OBJECTS = 4096 };

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

static CUresult make_array(CUarray array, const CUDA_ARRAY3D_DESCRIPTOR *shape)
{
	if (shape->Width == 0)
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
	*array = calloc(1, sizeof(**array));
	API_END(make_array(*array, &shape));
}

CUresult cuArray3DCreate_v2(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
	API_BEGIN(cuArray3DCreate_v2, array, descriptor);
	*array = calloc(1, sizeof(**array));
	API_END(make_array(*array, descriptor));
}

CUresult cuArrayDestroy(CUarray array)
{
	API_BEGIN(cuArrayDestroy, array);
	fake_wait_for_context();
	free(array->bytes);
	free(array);
	API_END(fake_usable());
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *descriptor, CUarray array)
{
	API_BEGIN(cuArray3DGetDescriptor_v2, descriptor, array);
	*descriptor = array->shape;
	API_END(fake_usable());
}

static size_t halved(size_t length, unsigned level)
{
	return length ? at_least_one(length >> level) : 0;
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray *mipmap, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                                unsigned levels)
{
	CUresult result = levels > 0 && levels <= 16 ? fake_usable() : CUDA_ERROR_INVALID_VALUE;

	API_BEGIN(cuMipmappedArrayCreate, mipmap, descriptor, levels);
	if (result == CUDA_SUCCESS)
		*mipmap = calloc(1, sizeof(**mipmap));
	for (unsigned i = 0; i < levels && result == CUDA_SUCCESS; i++) {
		CUDA_ARRAY3D_DESCRIPTOR shape = *descriptor;

		shape.Width = halved(shape.Width, i);
		shape.Height = halved(shape.Height, i);
		if (!(shape.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)))
			shape.Depth = halved(shape.Depth, i);
		result = make_array(&(*mipmap)->levels[i], &shape);
		(*mipmap)->count = i + 1;
	}
	API_END(result);
}

CUresult cuMipmappedArrayGetLevel(CUarray *array, CUmipmappedArray mipmap, unsigned level)
{
	API_BEGIN(cuMipmappedArrayGetLevel, array, mipmap, level);
	if (level >= mipmap->count)
		API_END(CUDA_ERROR_INVALID_VALUE);
	*array = &mipmap->levels[level];
	API_END(fake_usable());
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray mipmap)
{
	API_BEGIN(cuMipmappedArrayDestroy, mipmap);
	fake_wait_for_context();
	for (unsigned i = 0; i < mipmap->count; i++)
		free(mipmap->levels[i].bytes);
	free(mipmap);
	API_END(fake_usable());
}

/* As imported memory would be: nothing tells it from others. */
CUresult cuExternalMemoryGetMappedMipmappedArray(
	CUmipmappedArray *mipmap, CUexternalMemory memory,
	const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *description)
{
	API_BEGIN(cuExternalMemoryGetMappedMipmappedArray, mipmap, memory, description);
	*mipmap = calloc(1, sizeof(**mipmap));
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
		return (char *)(box->srcMemoryType == CU_MEMORYTYPE_HOST
		                        ? (uintptr_t)box->srcHost
		                        : (uintptr_t)box->srcDevice) +
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

CUresult fake_copy_arrays(const CUDA_MEMCPY3D *box)
{
	CUresult result = fake_usable();

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

CUresult cuTexObjectCreate(CUtexObject *texture, const CUDA_RESOURCE_DESC *resource,
                           const CUDA_TEXTURE_DESC *description,
                           const CUDA_RESOURCE_VIEW_DESC *view)
{
	struct object object = {.kind = TEXTURE, .resource = *resource, .texture = *description};

	API_BEGIN(cuTexObjectCreate, texture, resource, description, view);
	object.has_view = view != NULL;
	if (view)
		object.view = *view;
	API_END(add_object(&object, texture));
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
	API_END(fake_usable());
}

CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *view, CUtexObject texture)
{
	const struct object *object = find_object(texture, TEXTURE);

	API_BEGIN(cuTexObjectGetResourceViewDesc, view, texture);
	if (!object || !object->has_view)
		API_END(CUDA_ERROR_INVALID_VALUE);
	*view = object->view;
	API_END(fake_usable());
}

CUresult cuSurfObjectCreate(CUsurfObject *surface, const CUDA_RESOURCE_DESC *resource)
{
	const struct object object = {.kind = SURFACE, .resource = *resource};

	API_BEGIN(cuSurfObjectCreate, surface, resource);
	if (resource->resType != CU_RESOURCE_TYPE_ARRAY ||
	    !(resource->res.array.hArray->shape.Flags & CUDA_ARRAY3D_SURFACE_LDST))
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

/* ---- what kernels see of them ---- */

static void *in_array(CUarray array, size_t x, size_t y)
{
	const CUDA_ARRAY3D_DESCRIPTOR *shape = &array->shape;

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

	return object ? element_of(&object->resource, x, y) : NULL;
}

void *fake_surface_element(unsigned long long surface, size_t x, size_t y)
{
	const struct object *object = find_object(surface, SURFACE);

	return object ? element_of(&object->resource, x, y) : NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/memory/objects.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "format/bundle/writer.h"
#include "injection/snapshot/memory/arrays.h"

void gt_capture_objects_begin(struct gt_capture_objects *objects)
{
	objects->array_count = 0;
	objects->object_count = 0;
	objects->handle_count = 0;
	objects->in_memory = 0;
	objects->left_out = 0;
	objects->refused[0] = '\0';
}

/* ---- objects ---- */

static int describe_linear(struct gt_capture_objects *objects, const CUDA_RESOURCE_DESC *resource,
                           struct gt_bundle_object *object, struct gt_error *err)
{
	object->resource = GT_BUNDLE_RESOURCE_linear;
	object->format = resource->res.linear.format;
	object->channels = resource->res.linear.numChannels;
	object->bytes = resource->res.linear.sizeInBytes;
	return objects->memory_of(objects->capture, resource->res.linear.devPtr, object->bytes,
	                          &object->memory, &object->offset, err);
}

static int describe_pitch(struct gt_capture_objects *objects, const CUDA_RESOURCE_DESC *resource,
                          struct gt_bundle_object *object, struct gt_error *err)
{
	const uint64_t element = gt_array_element_bytes(resource->res.pitch2D.format,
	                                                resource->res.pitch2D.numChannels);

	object->resource = GT_BUNDLE_RESOURCE_pitch;
	object->format = resource->res.pitch2D.format;
	object->channels = resource->res.pitch2D.numChannels;
	object->width = resource->res.pitch2D.width;
	object->height = resource->res.pitch2D.height;
	object->pitch = resource->res.pitch2D.pitchInBytes;
	if (object->width == 0 || object->height == 0 || object->width > INT32_MAX ||
	    object->height > INT32_MAX || object->pitch > INT32_MAX ||
	    object->width * element > object->pitch)
		return gt_fail(err, ENOTSUP, "its rows are not in memory as rows are");
	return objects->memory_of(objects->capture, resource->res.pitch2D.devPtr,
	                          object->pitch * (object->height - 1) + object->width * element,
	                          &object->memory, &object->offset, err);
}

static int describe_array(struct gt_capture_objects *objects, const CUDA_RESOURCE_DESC *resource,
                          struct gt_bundle_object *object, struct gt_error *err)
{
	const bool mipmap = resource->resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
	const int number =
		mipmap ? gt_captured_mipmap_find(objects, resource->res.mipmap.hMipmappedArray, err)
		       : gt_captured_array_find(objects, resource->res.array.hArray, &object->level,
	                                        err);

	if (number < 0)
		return number;
	object->resource = mipmap ? GT_BUNDLE_RESOURCE_mipmap : GT_BUNDLE_RESOURCE_array;
	object->memory = (uint32_t)number;
	/* It was made for surfaces, whatever the driver says of a level. */
	if (object->kind == GT_BUNDLE_OBJECT_surface)
		objects->arrays[number].shape.flags |= GT_ARRAY_SURFACES;
	return 0;
}

static int describe(struct gt_capture_objects *objects, const CUDA_RESOURCE_DESC *resource,
                    struct gt_bundle_object *object, struct gt_error *err)
{
	int result;

	switch (resource->resType) {
	case CU_RESOURCE_TYPE_ARRAY:
	case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
		return describe_array(objects, resource, object, err);
	case CU_RESOURCE_TYPE_LINEAR:
		result = describe_linear(objects, resource, object, err);
		break;
	case CU_RESOURCE_TYPE_PITCH2D:
		result = describe_pitch(objects, resource, object, err);
		break;
	default: /* a later driver's */
		return gt_fail(err, ENOTSUP, "it is of a kind of resource that is not known, %d",
		               (int)resource->resType);
	}
	if (result == 0 && (object->bytes == 0) == (object->width == 0))
		return gt_fail(err, ENOTSUP, "it has no elements");
	if (result == 0 && gt_array_element_bytes(object->format, object->channels) == 0)
		return gt_fail(err, ENOTSUP, "it has %u channels of the format 0x%x",
		               object->channels, object->format);
	return result;
}

static uint32_t bits_of(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static int read_sampler(const struct gt_capture_objects *objects, CUtexObject texture,
                        struct gt_bundle_sampler *sampler, struct gt_error *err)
{
	CUDA_TEXTURE_DESC told = {0};
	const int result = gt_capture_driver_check(objects->driver,
	                                           objects->driver->texture_texture(&told, texture),
	                                           "how it reads is not known", err);

	for (size_t i = 0; i < 3; i++)
		sampler->address_modes[i] = told.addressMode[i];
	sampler->filter = told.filterMode;
	sampler->flags = told.flags;
	sampler->anisotropy = told.maxAnisotropy;
	sampler->mip_filter = told.mipmapFilterMode;
	sampler->mip_bias = bits_of(told.mipmapLevelBias);
	sampler->least_level = bits_of(told.minMipmapLevelClamp);
	sampler->most_level = bits_of(told.maxMipmapLevelClamp);
	gt_foreign_border(objects->foreign, texture, objects->context, sampler->border);
	return result;
}

static bool is_of_array(const struct gt_bundle_object *object)
{
	return object->resource == GT_BUNDLE_RESOURCE_array ||
	       object->resource == GT_BUNDLE_RESOURCE_mipmap;
}

/* Only arrays can have a view. Where the program gave none the driver tells zeros. */
static void read_view(const struct gt_capture_objects *objects, CUtexObject texture,
                      struct gt_bundle_object *object)
{
	CUDA_RESOURCE_VIEW_DESC told = {0};

	if (objects->driver->texture_view(&told, texture) != CUDA_SUCCESS || told.width == 0)
		return;
	object->has_view = true;
	object->view = (struct gt_bundle_view){
		.format = told.format,
		.width = told.width,
		.height = told.height,
		.depth = told.depth,
		.first_level = told.firstMipmapLevel,
		.last_level = told.lastMipmapLevel,
		.first_layer = told.firstLayer,
		.last_layer = told.lastLayer,
	};
}

static bool is_same(const struct gt_bundle_object *one, const struct gt_bundle_object *other)
{
	return one->kind == other->kind && one->value == other->value &&
	       one->resource == other->resource && one->memory == other->memory &&
	       one->level == other->level && one->offset == other->offset &&
	       one->format == other->format && one->channels == other->channels &&
	       one->bytes == other->bytes && one->width == other->width &&
	       one->height == other->height && one->pitch == other->pitch &&
	       one->has_view == other->has_view &&
	       memcmp(&one->sampler, &other->sampler, sizeof(one->sampler)) == 0 &&
	       memcmp(&one->view, &other->view, sizeof(one->view)) == 0;
}

/* A handle may be of another object by now than in a step before. */
static int number_object(struct gt_capture_objects *objects, const struct gt_bundle_object *object,
                         struct gt_error *err)
{
	for (uint32_t i = 0; i < objects->object_count; i++)
		if (is_same(&objects->objects[i], object))
			return (int)i;
	if (objects->object_count == GT_CAPTURE_OBJECTS)
		return gt_fail(err, E2BIG, "it uses more than %d textures and surfaces",
		               GT_CAPTURE_OBJECTS);
	objects->objects[objects->object_count] = *object;
	return (int)objects->object_count++;
}

/* ---- handles ---- */

/* Where an object is named. */
struct place {
	uint32_t parameter; /* UINT32_MAX: in memory */
	struct gt_bundle_handle handle;
	bool mipmaps; /* those alone are looked at, else all others */
};

/* Numbers in memory, which may be none at all, leave room for those in parameters. */
static int push_handle(struct gt_capture_objects *objects, const struct place *place,
                       uint32_t object, struct gt_error *err)
{
	const bool in_memory = place->parameter == UINT32_MAX;
	struct gt_bundle_handle *handle = &objects->handles[objects->handle_count];

	if (objects->handle_count == GT_CAPTURE_HANDLES ||
	    (in_memory && objects->in_memory == GT_CAPTURE_IN_MEMORY))
		return gt_fail(err, E2BIG, "it uses textures and surfaces more than %d times",
		               in_memory ? GT_CAPTURE_IN_MEMORY : GT_CAPTURE_HANDLES);
	*handle = place->handle;
	handle->object = object;
	objects->handle_count++;
	objects->in_memory += in_memory;
	return 0;
}

static int add_object(struct gt_capture_objects *objects, enum gt_bundle_object_kind kind,
                      const struct place *place, uint64_t value, struct gt_error *err)
{
	const struct gt_capture_driver *driver = objects->driver;
	const bool texture = kind == GT_BUNDLE_OBJECT_texture;
	struct gt_bundle_object object = {.kind = kind, .value = value};
	CUDA_RESOURCE_DESC resource;
	int result;

	memset(&resource, 0, sizeof(resource));
	if ((texture ? driver->texture_resource(&resource, value)
	             : driver->surface_resource(&resource, value)) != CUDA_SUCCESS)
		return place->mipmaps
		               ? 0
		               : gt_fail(err, ENOENT, "the driver does not know it any more");
	if ((resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY) != place->mipmaps)
		return 0;
	result = describe(objects, &resource, &object, err);
	if (result == 0 && texture)
		result = read_sampler(objects, value, &object.sampler, err);
	if (result < 0)
		return result;
	if (texture && is_of_array(&object))
		read_view(objects, value, &object);
	result = number_object(objects, &object, err);
	return result < 0 ? result : push_handle(objects, place, (uint32_t)result, err);
}

/* No kernel can use an object that ended before: as a rule the number is no handle of it. */
static int refuse(struct gt_capture_objects *objects, const struct place *place, const char *word,
                  const struct gt_error *why, struct gt_error *err)
{
	char where[32] = "in memory";

	if (place->handle.declared && why->code != ENOENT)
		return gt_fail(err, ENOTSUP, "its parameter %u is a %s object, by its value: %s",
		               place->parameter, word, why->text);
	if (place->parameter != UINT32_MAX)
		(void)snprintf(where, sizeof(where), "in parameter %u", place->parameter);
	if (objects->left_out++ == 0)
		(void)snprintf(objects->refused, sizeof(objects->refused), "%s a %s object: %.150s",
		               where, word, why->text);
	return 0;
}

static int add_value(struct gt_capture_objects *objects, const struct place *place, uint64_t value,
                     struct gt_error *err)
{
	static const struct {
		enum gt_foreign_kind foreign;
		enum gt_bundle_object_kind kind;
		const char *word;
	} kinds[] = {{GT_FOREIGN_TEXTURE, GT_BUNDLE_OBJECT_texture, "texture"},
	             {GT_FOREIGN_SURFACE, GT_BUNDLE_OBJECT_surface, "surface"}};
	int result = 0;

	for (size_t i = 0; i < 2 && result == 0; i++) {
		struct gt_error why = {0};

		if (gt_foreign_has(objects->foreign, kinds[i].foreign, value, objects->context) &&
		    add_object(objects, kinds[i].kind, place, value, &why) < 0)
			result = refuse(objects, place, kinds[i].word, &why, err);
	}
	return result;
}

static int add_all(struct gt_capture_objects *objects, uint32_t step,
                   const struct gt_captured_function *function, bool mipmaps, struct gt_error *err)
{
	struct place place = {.handle = {.memory = UINT32_MAX, .step = step}, .mipmaps = mipmaps};
	int result = 0;

	for (uint32_t i = 0; i < function->parameter_count; i++) {
		const struct gt_captured_parameter *parameter = &function->parameters[i];
		const uint32_t end = parameter->offset + parameter->size;
		uint64_t value;

		place.parameter = i;
		place.handle.declared = parameter->size == sizeof(value);
		for (uint32_t at = (parameter->offset + 7) / 8 * 8;
		     result == 0 && at + sizeof(value) <= end; at += sizeof(value)) {
			memcpy(&value, function->block + at, sizeof(value));
			place.handle.offset = at;
			result = value ? add_value(objects, &place, value, err) : 0;
		}
	}
	return result;
}

/* Mipmapped arrays first, as others may be of their levels. */
int gt_capture_objects_add(struct gt_capture_objects *objects, uint32_t step,
                           const struct gt_captured_function *function, struct gt_error *err)
{
	const int result = add_all(objects, step, function, true, err);

	return result < 0 ? result : add_all(objects, step, function, false, err);
}

/* The least and the largest handle that the program has; false: it has none. */
static bool find_bounds(const struct gt_foreign *foreign, uint64_t *lowest, uint64_t *highest)
{
	static const enum gt_foreign_kind kinds[] = {GT_FOREIGN_TEXTURE, GT_FOREIGN_SURFACE};

	*lowest = UINT64_MAX;
	*highest = 0;
	for (size_t i = 0; i < 2; i++) {
		uint32_t at = 0;
		uint64_t value;

		while ((value = gt_foreign_next(foreign, kinds[i], &at))) {
			*lowest = value < *lowest ? value : *lowest;
			*highest = value > *highest ? value : *highest;
		}
	}
	return *highest > 0;
}

void gt_capture_objects_scan(struct gt_capture_objects *objects,
                             const struct gt_bundle_handle *first, const uint8_t *bytes,
                             size_t size)
{
	struct place place = {.parameter = UINT32_MAX, .handle = *first, .mipmaps = true};
	uint64_t lowest;
	uint64_t highest;

	if (!find_bounds(objects->foreign, &lowest, &highest))
		return;
	for (int pass = 0; pass < 2; pass++, place.mipmaps = false) {
		for (size_t at = 0; at + sizeof(uint64_t) <= size; at += sizeof(uint64_t)) {
			uint64_t value;

			memcpy(&value, bytes + at, sizeof(value));
			place.handle.offset = at;
			if (value >= lowest && value <= highest)
				(void)add_value(objects, &place, value, NULL);
		}
	}
}

/* ---- what is written of them ---- */

void gt_capture_write_objects(const struct gt_capture_objects *objects, const uint32_t *places,
                              uint32_t memory_count, struct gt_bundle_writer *writer)
{
	gt_bundle_begin_list(writer, "objects");
	for (uint32_t i = 0; i < objects->object_count; i++) {
		struct gt_bundle_object object = objects->objects[i];

		if (is_of_array(&object))
			object.memory += memory_count;
		else
			object.memory = places[object.memory];
		gt_bundle_write_object(writer, &object);
	}
	gt_bundle_end_list(writer);
	gt_bundle_begin_list(writer, "handles");
	for (uint32_t i = 0; i < objects->handle_count; i++) {
		struct gt_bundle_handle handle = objects->handles[i];

		if (handle.memory != UINT32_MAX)
			handle.memory = places[handle.memory];
		gt_bundle_write_handle(writer, &handle);
	}
	gt_bundle_end_list(writer);
}

void gt_capture_write_object_doubts(const struct gt_capture_objects *objects,
                                    struct gt_bundle_writer *writer)
{
	uint64_t first;
	uint64_t last;
	uint32_t at = 0;
	char text[400];

	if (objects->handle_count > 0) {
		(void)snprintf(text, sizeof(text),
		               "%u numbers in parameters and memory are equal to the handle of a "
		               "texture or surface and were taken for it",
		               objects->handle_count);
		gt_bundle_text(writer, NULL, text);
	}
	if (objects->left_out > 0) {
		(void)snprintf(
			text, sizeof(text),
			"%u numbers in parameters and memory are equal to the handle of a texture "
			"or surface that is not here: %s",
			objects->left_out, objects->refused);
		gt_bundle_text(writer, NULL, text);
	}
	if (find_bounds(objects->foreign, &first, &last))
		gt_bundle_text(writer, NULL,
		               "the program has textures or surfaces: handles of them in memory of "
		               "more than 64 KiB are not looked for");
	if (gt_foreign_next(objects->foreign, GT_FOREIGN_REFERENCE, &at))
		gt_bundle_text(writer, NULL,
		               "the program has texture or surface references: what they are of is "
		               "not here");
}

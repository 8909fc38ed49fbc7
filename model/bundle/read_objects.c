/* SPDX-License-Identifier: Apache-2.0 */
#include "model/bundle/reader.h"

static const char *const object_kinds[] = {
#define KIND(name, help) #name,
	GT_BUNDLE_OBJECT_KINDS(KIND)
#undef KIND
		NULL,
};

static const char *const resources[] = {
#define KIND(name, help) #name,
	GT_BUNDLE_RESOURCES(KIND)
#undef KIND
		NULL,
};

#define OBJECT(name, kind, low, high) GT_JSON_NUMBER(struct gt_bundle_object, name, kind, low, high)

static const struct gt_json_field object_fields[] = {
	GT_JSON_KIND(struct gt_bundle_object, kind, object_kinds),
	GT_JSON_KIND(struct gt_bundle_object, resource, resources),
	GT_JSON_OTHER(struct gt_bundle_object, value, ADDRESS),
	GT_JSON_NEEDED(struct gt_bundle_object, memory, U32, 0, GT_BUNDLE_MOST_COUNT),
	OBJECT(level, U32, 0, GT_ARRAY_MOST_LEVELS),
	OBJECT(offset, U64, 0, GT_BUNDLE_MOST_BYTES),
	OBJECT(format, U32, 0, UINT32_MAX),
	OBJECT(channels, U32, 1, 4),
	OBJECT(bytes, U64, 1, GT_BUNDLE_MOST_BYTES),
	OBJECT(width, U64, 1, INT32_MAX),
	OBJECT(height, U64, 1, INT32_MAX),
	OBJECT(pitch, U64, 1, INT32_MAX),
};

#define SAMPLER(name, kind, high) GT_JSON_NUMBER(struct gt_bundle_sampler, name, kind, 0, high)

static const struct gt_json_field sampler_fields[] = {
	SAMPLER(address_modes, TRIPLE, INT32_MAX), SAMPLER(filter, U32, INT32_MAX),
	SAMPLER(flags, U32, UINT32_MAX),           SAMPLER(anisotropy, U32, UINT32_MAX),
	SAMPLER(mip_filter, U32, INT32_MAX),       SAMPLER(mip_bias, U32, UINT32_MAX),
	SAMPLER(least_level, U32, UINT32_MAX),     SAMPLER(most_level, U32, UINT32_MAX),
};

#define VIEW(name, kind) GT_JSON_NUMBER(struct gt_bundle_view, name, kind, 0, INT32_MAX)

static const struct gt_json_field view_fields[] = {
	VIEW(format, U64),      VIEW(width, U64),       VIEW(height, U64),
	VIEW(depth, U64),       VIEW(first_level, U32), VIEW(last_level, U32),
	VIEW(first_layer, U32), VIEW(last_layer, U32),
};

static void read_border(struct gt_bundle_reader *reader, const json_t *list,
                        struct gt_bundle_sampler *sampler)
{
	if (!list)
		return;
	if (!json_is_array(list) || json_array_size(list) != 4) {
		gt_bundle_refuse(reader, "border is not a list of four numbers");
		return;
	}
	for (size_t i = 0; i < 4; i++) {
		const json_t *value = json_array_get(list, i);

		if (!json_is_integer(value) || json_integer_value(value) < 0 ||
		    json_integer_value(value) > UINT32_MAX)
			gt_bundle_refuse(reader, "border is not a list of four numbers");
		else
			sampler->border[i] = (uint32_t)json_integer_value(value);
	}
}

static void check_array_of(struct gt_bundle_reader *reader, const struct gt_bundle_object *object)
{
	const struct gt_bundle_memory *memory = &reader->bundle->memory.rows[object->memory];

	if (memory->kind != GT_BUNDLE_MEMORY_array)
		gt_bundle_refuse(reader, "memory %u is no array", object->memory);
	else if (object->resource == GT_BUNDLE_RESOURCE_mipmap && memory->array.levels == 0)
		gt_bundle_refuse(reader, "memory %u has no levels", object->memory);
	else if (object->level >= gt_array_levels(&memory->array))
		gt_bundle_refuse(reader, "memory %u has no level %u", object->memory,
		                 object->level);
}

/* Checks the part of its memory that a linear or pitch object takes. */
static void check_elements_of(struct gt_bundle_reader *reader,
                              const struct gt_bundle_object *object)
{
	const struct gt_bundle_memory *memory = &reader->bundle->memory.rows[object->memory];
	const uint64_t element = gt_array_element_bytes(object->format, object->channels);
	const bool rows = object->resource == GT_BUNDLE_RESOURCE_pitch;
	const uint64_t row = rows ? object->width * element : object->bytes;
	const uint64_t left = memory->size - object->offset;

	if (memory->kind == GT_BUNDLE_MEMORY_array)
		gt_bundle_refuse(reader, "memory %u is an array", object->memory);
	else if (element == 0)
		gt_bundle_refuse(reader, "it has elements of no known format");
	else if (row == 0 || (rows && (object->height == 0 || object->pitch < row)))
		gt_bundle_refuse(reader, "it has no elements, or rows that overlap");
	else if (object->offset > memory->size || row > left ||
	         (rows && (left - row) / object->pitch < object->height - 1))
		gt_bundle_refuse(reader, "it ends behind its memory");
}

void gt_bundle_add_object(struct gt_bundle_reader *reader, const json_t *entry)
{
	struct gt_bundle_object *object = gt_array_push(&reader->bundle->objects);
	const json_t *view = json_object_get(entry, "view");

	*object = (struct gt_bundle_object){0};
	GT_BUNDLE_FIELDS(reader, entry, object_fields, object);
	GT_BUNDLE_FIELDS(reader, entry, sampler_fields, &object->sampler);
	read_border(reader, json_object_get(entry, "border"), &object->sampler);
	if (view && !json_is_object(view))
		gt_bundle_refuse(reader, "view is not an object");
	object->has_view = view != NULL;
	GT_BUNDLE_FIELDS(reader, view, view_fields, &object->view);
	if (reader->reading.result < 0)
		return;
	if (object->value == 0)
		gt_bundle_refuse(reader, "it has no handle");
	else if (object->memory >= reader->bundle->memory.count)
		gt_bundle_refuse(reader, "there is no memory %u", object->memory);
	else if (object->resource == GT_BUNDLE_RESOURCE_array ||
	         object->resource == GT_BUNDLE_RESOURCE_mipmap)
		check_array_of(reader, object);
	else
		check_elements_of(reader, object);
	if (object->kind == GT_BUNDLE_OBJECT_surface &&
	    object->resource != GT_BUNDLE_RESOURCE_array)
		gt_bundle_refuse(reader, "a surface is of an array");
}

static const struct gt_json_field handle_fields[] = {
	GT_JSON_NUMBER(struct gt_bundle_handle, memory, U32, 0, GT_BUNDLE_MOST_COUNT),
	GT_JSON_NUMBER(struct gt_bundle_handle, step, U32, 0, GT_BUNDLE_MOST_COUNT),
	GT_JSON_NEEDED(struct gt_bundle_handle, offset, U64, 0, GT_BUNDLE_MOST_BYTES),
	GT_JSON_NEEDED(struct gt_bundle_handle, object, U32, 0, GT_BUNDLE_MOST_COUNT),
	GT_JSON_OTHER(struct gt_bundle_handle, declared, FLAG),
};

static uint64_t bytes_around_handle(struct gt_bundle_reader *reader,
                                    const struct gt_bundle_handle *handle)
{
	struct gt_bundle *bundle = reader->bundle;

	if (handle->memory != GT_BUNDLE_NONE) {
		if (handle->memory >= bundle->memory.count ||
		    gt_bundle_is_array(bundle, handle->memory)) {
			gt_bundle_refuse(reader, "there is no memory %u with handles",
			                 handle->memory);
			return 0;
		}
		bundle->memory.rows[handle->memory].handles = true;
	}
	return gt_bundle_bytes_around(reader, handle->memory, handle->step);
}

void gt_bundle_add_handle(struct gt_bundle_reader *reader, const json_t *entry)
{
	struct gt_bundle_handle *handle = gt_array_push(&reader->bundle->handles);
	uint64_t bytes;

	*handle = (struct gt_bundle_handle){.memory = GT_BUNDLE_NONE, .step = GT_BUNDLE_NONE};
	GT_BUNDLE_FIELDS(reader, entry, handle_fields, handle);
	bytes = bytes_around_handle(reader, handle);
	if (bytes < sizeof(uint64_t) || handle->offset > bytes - sizeof(uint64_t))
		gt_bundle_refuse(reader, "it ends behind what it stands in");
	if (handle->object >= reader->bundle->objects.count)
		gt_bundle_refuse(reader, "there is no object %u", handle->object);
}

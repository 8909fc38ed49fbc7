/* SPDX-License-Identifier: Apache-2.0 */
#include "format/bundle/objects.h"

#include <stddef.h>

#include "format/bundle/array_shape.h"
#include "format/bundle/writer.h"

static const char *const object_words[] = {
#define KIND(name, help) [GT_BUNDLE_OBJECT_##name] = #name,
	GT_BUNDLE_OBJECT_KINDS(KIND)
#undef KIND
};

static const char *const resource_words[] = {
#define KIND(name, help) [GT_BUNDLE_RESOURCE_##name] = #name,
	GT_BUNDLE_RESOURCES(KIND)
#undef KIND
};

static void write_size(struct gt_bundle_writer *writer, const char *key, uint64_t value)
{
	gt_bundle_number(writer, key, (int64_t)value);
}

void gt_bundle_write_shape(struct gt_bundle_writer *writer, const struct gt_array_shape *shape)
{
	gt_bundle_begin_object(writer, "array");
	write_size(writer, "width", shape->width);
	write_size(writer, "height", shape->height);
	write_size(writer, "depth", shape->depth);
	gt_bundle_number(writer, "format", shape->format);
	gt_bundle_number(writer, "channels", shape->channels);
	gt_bundle_number(writer, "flags", shape->flags);
	gt_bundle_number(writer, "levels", shape->levels);
	gt_bundle_end_object(writer);
}

static void write_resource(struct gt_bundle_writer *writer, const struct gt_bundle_object *object)
{
	gt_bundle_text(writer, "resource", resource_words[object->resource]);
	gt_bundle_number(writer, "memory", object->memory);
	if (object->resource == GT_BUNDLE_RESOURCE_array)
		gt_bundle_number(writer, "level", object->level);
	if (object->resource != GT_BUNDLE_RESOURCE_linear &&
	    object->resource != GT_BUNDLE_RESOURCE_pitch)
		return;
	write_size(writer, "offset", object->offset);
	gt_bundle_number(writer, "format", object->format);
	gt_bundle_number(writer, "channels", object->channels);
	if (object->resource == GT_BUNDLE_RESOURCE_linear) {
		write_size(writer, "bytes", object->bytes);
		return;
	}
	write_size(writer, "width", object->width);
	write_size(writer, "height", object->height);
	write_size(writer, "pitch", object->pitch);
}

static void write_sampler(struct gt_bundle_writer *writer, const struct gt_bundle_sampler *sampler)
{
	gt_bundle_triple(writer, "address_modes", sampler->address_modes);
	gt_bundle_number(writer, "filter", sampler->filter);
	gt_bundle_number(writer, "flags", sampler->flags);
	gt_bundle_number(writer, "anisotropy", sampler->anisotropy);
	gt_bundle_number(writer, "mip_filter", sampler->mip_filter);
	gt_bundle_number(writer, "mip_bias", sampler->mip_bias);
	gt_bundle_number(writer, "least_level", sampler->least_level);
	gt_bundle_number(writer, "most_level", sampler->most_level);
	gt_bundle_begin_list(writer, "border");
	for (size_t i = 0; i < 4; i++)
		gt_bundle_number(writer, NULL, sampler->border[i]);
	gt_bundle_end_list(writer);
}

static void write_view(struct gt_bundle_writer *writer, const struct gt_bundle_view *view)
{
	gt_bundle_begin_object(writer, "view");
	write_size(writer, "format", view->format);
	write_size(writer, "width", view->width);
	write_size(writer, "height", view->height);
	write_size(writer, "depth", view->depth);
	gt_bundle_number(writer, "first_level", view->first_level);
	gt_bundle_number(writer, "last_level", view->last_level);
	gt_bundle_number(writer, "first_layer", view->first_layer);
	gt_bundle_number(writer, "last_layer", view->last_layer);
	gt_bundle_end_object(writer);
}

void gt_bundle_write_object(struct gt_bundle_writer *writer, const struct gt_bundle_object *object)
{
	gt_bundle_begin_object(writer, NULL);
	gt_bundle_text(writer, "kind", object_words[object->kind]);
	gt_bundle_address(writer, "value", object->value);
	write_resource(writer, object);
	if (object->kind == GT_BUNDLE_OBJECT_texture)
		write_sampler(writer, &object->sampler);
	if (object->has_view)
		write_view(writer, &object->view);
	gt_bundle_end_object(writer);
}

void gt_bundle_write_handle(struct gt_bundle_writer *writer, const struct gt_bundle_handle *handle)
{
	gt_bundle_begin_object(writer, NULL);
	if (handle->memory == UINT32_MAX)
		gt_bundle_number(writer, "step", handle->step);
	else
		gt_bundle_number(writer, "memory", handle->memory);
	write_size(writer, "offset", handle->offset);
	gt_bundle_number(writer, "object", handle->object);
	gt_bundle_flag(writer, "declared", handle->declared);
	gt_bundle_end_object(writer);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/memory/arrays.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "format/bundle/writer.h"

/* The array that has it as a level, or that it is; negative: none. */
static int find_level(const struct gt_capture_objects *objects, CUarray array, uint32_t *level)
{
	for (uint32_t i = 0; i < objects->array_count; i++) {
		const struct gt_captured_array *known = &objects->arrays[i];

		for (*level = 0; *level < gt_array_levels(&known->shape); ++*level)
			if (known->levels[*level] == array)
				return (int)i;
	}
	return -1;
}

static int read_shape(const struct gt_capture_objects *objects, CUarray array,
                      struct gt_array_shape *shape, struct gt_error *err)
{
	CUDA_ARRAY3D_DESCRIPTOR told = {0};
	const int result =
		gt_capture_driver_check(objects->driver, objects->driver->array_shape(&told, array),
	                                "what its array is like is not known", err);

	if (result < 0)
		return result;
	*shape = (struct gt_array_shape){told.Width,       told.Height, told.Depth, told.Format,
	                                 told.NumChannels, told.Flags,  0};
	if (told.Flags & CUDA_ARRAY3D_SPARSE)
		return gt_fail(err, ENOTSUP, "its array is sparse");
	if (told.Flags & CUDA_ARRAY3D_DEFERRED_MAPPING)
		return gt_fail(err, ENOTSUP, "memory is mapped to its array by the program");
	if (gt_array_element_bytes(shape->format, shape->channels) == 0)
		return gt_fail(err, ENOTSUP, "its array has %u channels of the format 0x%x",
		               shape->channels, shape->format);
	if (!gt_array_is_sound(shape))
		return gt_fail(err, ENOTSUP,
		               "its array has %" PRIu64 " x %" PRIu64 " x %" PRIu64
		               " elements and the flags 0x%x",
		               shape->width, shape->height, shape->depth, shape->flags);
	return 0;
}

static int push_array(struct gt_capture_objects *objects, const struct gt_captured_array *array,
                      struct gt_error *err)
{
	if (objects->array_count == GT_CAPTURE_ARRAYS)
		return gt_fail(err, E2BIG, "its textures and surfaces are of more than %d arrays",
		               GT_CAPTURE_ARRAYS);
	objects->arrays[objects->array_count] = *array;
	return (int)objects->array_count++;
}

/* Its number; what it is a level of may be known. */
int gt_captured_array_find(struct gt_capture_objects *objects, CUarray handle, uint32_t *level,
                           struct gt_error *err)
{
	struct gt_captured_array array = {.levels = {handle}};
	int result = find_level(objects, handle, level);

	if (result >= 0)
		return result;
	*level = 0;
	if (gt_foreign_has_array(objects->foreign, (uint64_t)handle))
		return gt_fail(err, ENOTSUP, "its array is of memory of others");
	result = read_shape(objects, handle, &array.shape, err);
	return result < 0 ? result : push_array(objects, &array, err);
}

/*
 * Levels as they are to be computed from the first one. The driver is asked for no level that there
 * cannot be.
 */
static int read_levels(const struct gt_capture_objects *objects, struct gt_captured_array *array,
                       struct gt_error *err)
{
	struct gt_array_shape *shape = &array->shape;
	uint32_t level;

	for (uint32_t i = 0; i == 0 || i < gt_array_most_levels(shape); i++) {
		struct gt_array_shape of_level;
		int result;

		if (objects->driver->mipmap_level(&array->levels[i], array->mipmap, i) !=
		    CUDA_SUCCESS)
			break;
		if (find_level(objects, array->levels[i], &level) >= 0)
			return gt_fail(err, ENOTSUP,
			               "one of the levels of its mipmapped array was used as an "
			               "array before");
		result = read_shape(objects, array->levels[i], i ? &of_level : shape, err);
		if (result < 0)
			return result;
		shape->levels = i + 1;
		if (i &&
		    (gt_array_level(shape, i).row_bytes != gt_array_level(&of_level, 0).row_bytes ||
		     gt_array_level(shape, i).rows != gt_array_level(&of_level, 0).rows ||
		     gt_array_level(shape, i).slices != gt_array_level(&of_level, 0).slices))
			return gt_fail(err, ENOTSUP,
			               "level %u of its mipmapped array is not as large as such "
			               "levels are",
			               i);
	}
	if (shape->levels == 0 || !gt_array_is_sound(shape))
		return gt_fail(err, ENOTSUP, "its mipmapped array has %u levels", shape->levels);
	return 0;
}

int gt_captured_mipmap_find(struct gt_capture_objects *objects, CUmipmappedArray handle,
                            struct gt_error *err)
{
	struct gt_captured_array array = {.mipmap = handle};
	int result;

	for (uint32_t i = 0; i < objects->array_count; i++)
		if (objects->arrays[i].mipmap == handle)
			return (int)i;
	if (gt_foreign_has(objects->foreign, GT_FOREIGN_MIPMAP, (uint64_t)handle, NULL))
		return gt_fail(err, ENOTSUP, "its array is of memory of others");
	result = read_levels(objects, &array, err);
	return result < 0 ? result : push_array(objects, &array, err);
}

bool gt_capture_objects_has(const struct gt_capture_objects *objects, uint64_t handle)
{
	for (uint32_t i = 0; i < objects->array_count; i++) {
		const uint64_t array = (uint64_t)objects->arrays[i].levels[0];

		if ((uint64_t)objects->arrays[i].mipmap == handle || array == handle ||
		    gt_foreign_whole_of(objects->foreign, array) == handle)
			return true;
	}
	return false;
}

/* ---- contents ---- */

static uint64_t least(uint64_t one, uint64_t other)
{
	return one < other ? one : other;
}

/* Where the next piece begins, behind this one; false: at the end. */
static bool go_on(const struct gt_array_shape *shape, struct gt_array_piece *piece)
{
	const struct gt_array_level level = gt_array_level(shape, piece->level);

	piece->row += piece->rows;
	if (piece->row >= level.rows) {
		piece->row = 0;
		piece->slice += piece->slices;
	}
	if (piece->slice >= level.slices) {
		piece->slice = 0;
		piece->level++;
	}
	return piece->level < gt_array_levels(shape);
}

bool gt_array_next_piece(const struct gt_array_shape *shape, uint64_t size,
                         struct gt_array_piece *piece)
{
	struct gt_array_level level;
	uint64_t slice_bytes;

	if (piece->rows && !go_on(shape, piece))
		return false;
	level = gt_array_level(shape, piece->level);
	slice_bytes = level.row_bytes * level.rows;
	piece->rows = level.rows;
	piece->slices = 1;
	if (slice_bytes <= size)
		piece->slices = least(size / slice_bytes, level.slices - piece->slice);
	else
		piece->rows = least(size / level.row_bytes, level.rows - piece->row);
	return piece->rows > 0;
}

uint64_t gt_array_piece_bytes(const struct gt_array_shape *shape,
                              const struct gt_array_piece *piece)
{
	return gt_array_level(shape, piece->level).row_bytes * piece->rows * piece->slices;
}

int gt_captured_array_read(const struct gt_capture_objects *objects, uint32_t number,
                           const struct gt_array_piece *piece, void *bytes, struct gt_error *err)
{
	const struct gt_captured_array *array = &objects->arrays[number];
	const uint64_t row_bytes = gt_array_level(&array->shape, piece->level).row_bytes;
	const CUDA_MEMCPY3D copy = {
		.srcMemoryType = CU_MEMORYTYPE_ARRAY,
		.srcArray = array->levels[piece->level],
		.srcY = piece->row,
		.srcZ = piece->slice,
		.dstMemoryType = CU_MEMORYTYPE_HOST,
		.dstHost = bytes,
		.dstPitch = row_bytes,
		.dstHeight = piece->rows,
		.WidthInBytes = row_bytes,
		.Height = piece->rows,
		.Depth = piece->slices,
	};

	return gt_capture_driver_check(objects->driver, objects->driver->copy_3d(&copy),
	                               "the array of a texture or surface cannot be read", err);
}

/* ---- what is written of them ---- */

void gt_capture_write_arrays(const struct gt_capture_objects *objects,
                             struct gt_bundle_writer *writer)
{
	for (uint32_t i = 0; i < objects->array_count; i++) {
		const struct gt_captured_array *array = &objects->arrays[i];
		const uint64_t bytes = gt_array_bytes(&array->shape);

		gt_bundle_begin_object(writer, NULL);
		gt_bundle_text(writer, "kind", "array");
		gt_bundle_write_shape(writer, &array->shape);
		gt_bundle_number(writer, "size", (int64_t)bytes);
		gt_bundle_contents(writer, "before", array->before, bytes);
		gt_bundle_contents(writer, "after", array->after, bytes);
		gt_bundle_flag(writer, "same", strcmp(array->before, array->after) == 0);
		gt_bundle_end_object(writer);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/memory/arrays.h"
#include "injection/snapshot/memory/objects.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "support/check.h"

/* Objects of a made-up driver: texture 1 is of a mipmapped array, surface 2 of its level 1, texture
 * 3 of an array, texture 4 of memory. */

enum { ADDRESS = 0x10000, BYTES = 4096 };

static const CUcontext context = (CUcontext)0x100;
static const CUmipmappedArray mipmap = (CUmipmappedArray)0x1000;
static const CUarray levels[] = {(CUarray)0x1010, (CUarray)0x1020};
static const CUarray array = (CUarray)0x2000;
static CUDA_ARRAY3D_DESCRIPTOR shape; /* of the array, and of the first level */
static struct gt_foreign foreign;
static unsigned asked; /* for levels */
static bool freed;     /* the memory of texture 4 */
static bool viewed;    /* the driver tells of a view of all textures */
static struct gt_capture_driver driver;
static struct gt_capture_objects *objects;
static struct gt_captured_function *function;

static CUresult error_name(CUresult code, const char **text)
{
	(void)code;
	*text = "CUDA_ERROR_MADE_UP";
	return CUDA_SUCCESS;
}

static CUresult texture_resource(CUDA_RESOURCE_DESC *resource, CUtexObject texture)
{
	if (texture == 1) {
		resource->resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
		resource->res.mipmap.hMipmappedArray = mipmap;
	} else if (texture == 3) {
		resource->resType = CU_RESOURCE_TYPE_ARRAY;
		resource->res.array.hArray = array;
	} else if (texture == 4) {
		resource->resType = CU_RESOURCE_TYPE_LINEAR;
		resource->res.linear.devPtr = ADDRESS + 256;
		resource->res.linear.format = CU_AD_FORMAT_FLOAT;
		resource->res.linear.numChannels = 1;
		resource->res.linear.sizeInBytes = 1024;
	} else {
		return CUDA_ERROR_INVALID_HANDLE;
	}
	return CUDA_SUCCESS;
}

static CUresult surface_resource(CUDA_RESOURCE_DESC *resource, CUsurfObject surface)
{
	(void)surface;
	resource->resType = CU_RESOURCE_TYPE_ARRAY;
	resource->res.array.hArray = levels[1];
	return CUDA_SUCCESS;
}

static CUresult texture_texture(CUDA_TEXTURE_DESC *description, CUtexObject texture)
{
	(void)texture;
	description->mipmapLevelBias = 0.5F;
	return CUDA_SUCCESS;
}

static CUresult texture_view(CUDA_RESOURCE_VIEW_DESC *view, CUtexObject texture)
{
	(void)texture;
	view->width = shape.Width;
	return viewed ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult array_shape(CUDA_ARRAY3D_DESCRIPTOR *told, CUarray of)
{
	*told = shape;
	if (of == levels[1]) {
		told->Width /= 2;
		told->Height /= 2;
	}
	return CUDA_SUCCESS;
}

static CUresult mipmap_level(CUarray *level, CUmipmappedArray of, unsigned number)
{
	asked++;
	if (of != mipmap || number > 1)
		return CUDA_ERROR_INVALID_VALUE;
	*level = levels[number];
	return CUDA_SUCCESS;
}

static int memory_of(void *capture, uint64_t address, uint64_t bytes, uint32_t *number,
                     uint64_t *offset, struct gt_error *err)
{
	(void)capture;
	if (freed)
		return gt_fail(err, ENOENT, "its memory is not known");
	if (address < ADDRESS || address + bytes > ADDRESS + BYTES)
		return gt_fail(err, ENOTSUP, "no such memory");
	*number = 5;
	*offset = address - ADDRESS;
	return 0;
}

static void add_value(enum gt_foreign_kind kind, uint64_t value, CUcontext of)
{
	const uint32_t at = foreign.used++;

	foreign.values[at].value = value;
	foreign.values[at].context = (uint64_t)of;
	foreign.values[at].kind = kind;
}

static void begin(void)
{
	memset(&foreign, 0, sizeof(foreign));
	asked = 0;
	freed = false;
	viewed = false;
	driver = (struct gt_capture_driver){
		.error_name = error_name,
		.texture_resource = texture_resource,
		.texture_texture = texture_texture,
		.texture_view = texture_view,
		.surface_resource = surface_resource,
		.array_shape = array_shape,
		.mipmap_level = mipmap_level,
	};
	shape = (CUDA_ARRAY3D_DESCRIPTOR){.Width = 16,
	                                  .Height = 8,
	                                  .Format = CU_AD_FORMAT_FLOAT,
	                                  .NumChannels = 1,
	                                  .Flags = 2};
	objects = calloc(1, sizeof(*objects));
	function = calloc(1, sizeof(*function));
	objects->driver = &driver;
	objects->foreign = &foreign;
	objects->context = context;
	objects->memory_of = memory_of;
	gt_capture_objects_begin(objects);
	for (uint64_t i = 1; i <= 4; i++)
		add_value(i == 2 ? GT_FOREIGN_SURFACE : GT_FOREIGN_TEXTURE, i, context);
}

static void end(void)
{
	free(objects);
	free(function);
}

TestSuite(capture_objects, .init = begin, .fini = end);

static void add_parameter(uint32_t offset, uint32_t size, uint64_t value)
{
	function->parameters[function->parameter_count++] =
		(struct gt_captured_parameter){offset, size};
	memcpy(function->block + offset, &value, size < sizeof(value) ? size : sizeof(value));
	function->block_bytes = offset + size;
}

static int add(uint32_t step, struct gt_error *err)
{
	return gt_capture_objects_add(objects, step, function, err);
}

Test(capture_objects, are_found_with_mipmapped_arrays_first)
{
	struct gt_error err = {0};

	add_parameter(0, 8, 2);
	add_parameter(8, 4, 1); /* too small for a handle */
	add_parameter(16, 8, 1);
	add_parameter(24, 8, 9); /* of none */
	cr_assert(eq(int, add(7, &err), 0), "%s", err.text);
	cr_assert(eq(u32, objects->array_count, 1));
	cr_expect(eq(u32, objects->arrays[0].shape.levels, 2));
	cr_assert(eq(u32, objects->object_count, 2));
	cr_expect(eq(int, (int)objects->objects[0].resource, (int)GT_BUNDLE_RESOURCE_mipmap));
	cr_expect(eq(u32, objects->objects[0].sampler.mip_bias, 0x3f000000));
	cr_expect(eq(u32, objects->objects[1].level, 1));
	cr_assert(eq(u32, objects->handle_count, 2));
	cr_expect(eq(u64, objects->handles[0].offset, 16));
	cr_expect(eq(u64, objects->handles[1].offset, 0));
	cr_expect(eq(u32, objects->handles[1].step, 7));
	cr_expect(objects->handles[1].declared);
	cr_expect(gt_capture_objects_has(objects, (uint64_t)mipmap));
	cr_expect(not(gt_capture_objects_has(objects, (uint64_t)array)));
	cr_expect(eq(int, add(8, &err), 0));
	cr_expect(eq(u32, objects->object_count, 2), "they are the same in the next step");
	cr_expect(eq(u32, objects->handle_count, 4));
}

Test(capture_objects, inside_of_parameters_are_found_where_they_are_aligned)
{
	struct gt_error err = {0};
	const uint64_t handle = 4;

	add_parameter(4, 28, 0);
	memcpy(function->block + 16, &handle, sizeof(handle));
	memcpy(function->block + 4, &handle, sizeof(handle));
	cr_assert(eq(int, add(0, &err), 0), "%s", err.text);
	cr_assert(eq(u32, objects->handle_count, 1));
	cr_expect(eq(u64, objects->handles[0].offset, 16));
	cr_expect(not(objects->handles[0].declared));
	cr_expect(eq(u32, objects->objects[0].memory, 5));
	cr_expect(eq(u64, objects->objects[0].offset, 256));
	cr_expect(eq(u64, objects->objects[0].bytes, 1024));
}

Test(capture_objects, of_another_context_are_none)
{
	struct gt_error err = {0};

	add_parameter(0, 8, 4);
	objects->context = (CUcontext)0x200;
	cr_expect(eq(int, add(0, &err), 0));
	cr_expect(eq(u32, objects->handle_count, 0));
}

static void expect_refused(const char *why)
{
	struct gt_error err = {0};

	cr_expect(eq(int, add(0, &err), -ENOTSUP));
	cr_expect(eq(str, err.text, (char *)(uintptr_t)why));
}

Test(capture_objects, that_cannot_be_captured_are_refused)
{
	add_parameter(0, 8, 3);
	shape.Flags = CUDA_ARRAY3D_SPARSE;
	expect_refused("its parameter 0 is a texture object, by its value: its array is sparse");
	shape.Flags = CUDA_ARRAY3D_DEFERRED_MAPPING;
	expect_refused("its parameter 0 is a texture object, by its value: memory is "
	               "mapped to its array by the program");
	shape.Flags = 0x100 /* CUDA_ARRAY3D_VIDEO_ENCODE_DECODE, of CUDA 13 */;
	expect_refused(
		"its parameter 0 is a texture object, by its value: its array has 16 x 8 x 0 elements and "
		"the flags 0x100");
	shape.Flags = 0;
	shape.Format = CU_AD_FORMAT_NV12;
	expect_refused(
		"its parameter 0 is a texture object, by its value: its array has 1 channels of the format "
		"0xb0");
	shape.Format = CU_AD_FORMAT_FLOAT;
	add_value(GT_FOREIGN_ARRAY, (uint64_t)array, NULL);
	expect_refused(
		"its parameter 0 is a texture object, by its value: its array is of memory of others");
	cr_expect(eq(u32, objects->array_count, 0));
}

Test(capture_objects, of_imported_memory_are_refused_with_their_levels)
{
	add_value(GT_FOREIGN_MIPMAP, (uint64_t)mipmap, NULL);
	add_value(GT_FOREIGN_LEVEL, (uint64_t)levels[1], NULL);
	foreign.values[foreign.used - 1].of = (uint64_t)mipmap;
	add_parameter(0, 8, 2);
	expect_refused(
		"its parameter 0 is a surface object, by its value: its array is of memory of others");
	cr_expect(eq(uint, asked, 0), "it may be gone by now");
	add_parameter(8, 8, 1);
	expect_refused(
		"its parameter 1 is a texture object, by its value: its array is of memory of others");
}

Test(capture_objects, of_a_level_that_was_an_array_before_are_refused)
{
	struct gt_error err = {0};

	add_parameter(0, 8, 2);
	cr_expect(eq(int, add(0, &err), 0));
	add_parameter(8, 8, 1);
	expect_refused(
		"its parameter 1 is a texture object, by its value: one of the levels of its mipmapped "
		"array was used as an array before");
}

Test(capture_objects, that_cannot_be_captured_inside_of_parameters_are_counted)
{
	struct gt_error err = {0};

	add_parameter(0, 16, 3);
	shape.Flags = CUDA_ARRAY3D_SPARSE;
	cr_expect(eq(int, add(0, &err), 0));
	cr_expect(eq(u32, objects->handle_count, 0));
	cr_expect(eq(u32, objects->left_out, 1));
	cr_expect(
		eq(str, objects->refused, "in parameter 0 a texture object: its array is sparse"));
}

/* The driver's answer to a number that no level has is not known. */
Test(capture_objects, of_all_levels_are_asked_for_no_more)
{
	struct gt_error err = {0};

	shape.Width = 2;
	shape.Height = 2;
	add_parameter(0, 8, 1);
	cr_assert(eq(int, add(0, &err), 0), "%s", err.text);
	cr_expect(eq(u32, objects->arrays[0].shape.levels, 2));
	cr_expect(eq(uint, asked, 2));
}

/* None can be made with one. */
Test(capture_objects, of_memory_have_no_view)
{
	struct gt_error err = {0};

	viewed = true;
	add_parameter(0, 8, 3);
	add_parameter(8, 8, 4);
	cr_assert(eq(int, add(0, &err), 0), "%s", err.text);
	cr_expect(objects->objects[0].has_view);
	cr_expect(not(objects->objects[1].has_view));
}

/* Whole numbers of programs that are no handles may be many. */
Test(capture_objects, in_memory_leave_room_for_those_of_parameters)
{
	static uint64_t contents[GT_CAPTURE_SCANNED / sizeof(uint64_t)];
	const struct gt_bundle_handle at = {.memory = 9};
	struct gt_error err = {0};

	for (size_t i = 0; i < sizeof(contents) / sizeof(contents[0]); i++)
		contents[i] = 4;
	for (size_t i = 0; i * sizeof(contents) < GT_CAPTURE_HANDLES * sizeof(uint64_t); i++)
		gt_capture_objects_scan(objects, &at, (const uint8_t *)contents, sizeof(contents));
	cr_expect(eq(u32, objects->handle_count, GT_CAPTURE_IN_MEMORY));
	cr_expect(eq(u32, objects->left_out, GT_CAPTURE_HANDLES - GT_CAPTURE_IN_MEMORY));
	add_parameter(0, 8, 3);
	cr_expect(eq(int, add(0, &err), 0), "%s", err.text);
	cr_expect(eq(u32, objects->handle_count, GT_CAPTURE_IN_MEMORY + 1));
}

/* A program need not destroy them: the number is one of others then. */
Test(capture_objects, that_ended_are_counted_and_nothing_is_refused_for_them)
{
	struct gt_error err = {0};

	add_parameter(0, 8, 7);
	add_parameter(8, 8, 4);
	add_value(GT_FOREIGN_TEXTURE, 7, context);
	freed = true;
	cr_expect(eq(int, add(0, &err), 0), "%s", err.text);
	cr_expect(eq(u32, objects->handle_count, 0));
	cr_expect(eq(u32, objects->object_count, 0));
	cr_expect(eq(u32, objects->left_out, 2));
	cr_expect(eq(str, objects->refused,
	             "in parameter 0 a texture object: the driver does not know it any more"));
}

Test(capture_objects, that_are_surfaces_are_of_arrays_that_they_may_write)
{
	struct gt_error err = {0};

	shape.Flags = 0;
	add_parameter(0, 8, 2);
	cr_assert(eq(int, add(0, &err), 0), "%s", err.text);
	cr_expect(eq(u32, objects->arrays[0].shape.flags, GT_ARRAY_SURFACES));
}

Test(capture_objects, of_which_memory_has_the_handles_are_found)
{
	const struct gt_bundle_handle at = {.memory = 9};
	const uint64_t contents[] = {0, 4, 1ull << 40, 3, 2, 1, 77};

	gt_capture_objects_scan(objects, &at, (const uint8_t *)contents, sizeof(contents) - 1);
	cr_assert(eq(u32, objects->handle_count, 4));
	cr_expect(eq(u32, objects->handles[0].memory, 9));
	cr_expect(eq(u64, objects->handles[0].offset, 40));
	cr_assert(eq(u32, objects->object_count, 4));
	cr_expect(eq(u64, objects->objects[0].value, 1), "mipmapped arrays first");
	cr_expect(eq(u32, objects->array_count, 2));
	shape.Flags = CUDA_ARRAY3D_SPARSE;
	gt_capture_objects_begin(objects);
	gt_capture_objects_scan(objects, &at, (const uint8_t *)contents, sizeof(contents));
	cr_expect(eq(u32, objects->object_count, 1), "of memory");
	cr_expect(eq(u32, objects->left_out, 3));
	cr_expect(eq(str, objects->refused, "in memory a texture object: its array is sparse"));
}

/* Pieces of an array, in the order in which a bundle has it. */
static void expect_pieces(const struct gt_array_shape *of, uint64_t size, unsigned count)
{
	struct gt_array_piece piece = {0};
	uint64_t bytes = 0;
	unsigned pieces = 0;

	while (gt_array_next_piece(of, size, &piece)) {
		const struct gt_array_level level = gt_array_level(of, piece.level);

		cr_expect(eq(u64, bytes,
		             level.offset +
		                     (piece.slice * level.rows + piece.row) * level.row_bytes));
		cr_expect(le(u64, gt_array_piece_bytes(of, &piece), size));
		bytes += gt_array_piece_bytes(of, &piece);
		pieces++;
	}
	cr_expect(eq(u64, bytes, gt_array_bytes(of)));
	cr_expect(eq(uint, pieces, count));
}

Test(capture_objects, have_arrays_that_are_read_in_pieces)
{
	struct gt_array_shape of = {
		.width = 16, .height = 8, .depth = 5, .format = CU_AD_FORMAT_FLOAT, .channels = 1};

	expect_pieces(&of, 1 << 20, 1);
	expect_pieces(&of, 1024, 3); /* two slices each */
	expect_pieces(&of, 600, 5);
	expect_pieces(&of, 192, 15); /* three rows of eight */
	of.levels = 4;
	expect_pieces(&of, 1 << 20, 4);
	expect_pieces(&of, 64, 40 + 4 + 1 + 1);
}

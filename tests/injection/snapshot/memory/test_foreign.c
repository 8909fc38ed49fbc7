/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/memory/foreign.h"

#include "support/check.h"

static const CUcontext one = (CUcontext)0x100;
static const CUcontext other = (CUcontext)0x200;
static struct gt_foreign foreign;

/* A call of the driver's, which returns. */
static void follow(CUpti_CallbackId id, const void *parameters, CUcontext context, CUresult result)
{
	const CUpti_CallbackData data = {
		.functionParams = parameters, .functionReturnValue = &result, .context = context};
	const struct gt_call call = {.data = &data, .id = (uint16_t)id, .driver = 1};

	cr_assert(gt_foreign_is_call(call));
	gt_foreign_enter(&foreign, call);
	gt_foreign_follow(NULL, &foreign, call);
}

static void make_of(CUtexObject value, CUDA_RESOURCE_DESC resource)
{
	const CUDA_TEXTURE_DESC description = {.borderColor = {0.5F, 1, 2, (float)value}};
	const cuTexObjectCreate_params parameters = {
		.pTexObject = &value, .pResDesc = &resource, .pTexDesc = &description};

	follow(CUPTI_DRIVER_TRACE_CBID_cuTexObjectCreate, &parameters, one, CUDA_SUCCESS);
}

static void make_surface(CUsurfObject value, CUarray array)
{
	const CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY,
	                                     .res.array.hArray = array};
	const cuSurfObjectCreate_params parameters = {.pSurfObject = &value, .pResDesc = &resource};

	follow(CUPTI_DRIVER_TRACE_CBID_cuSurfObjectCreate, &parameters, one, CUDA_SUCCESS);
}

static void get_level(CUmipmappedArray mipmap, CUarray level)
{
	const cuMipmappedArrayGetLevel_params parameters = {.pLevelArray = &level,
	                                                    .hMipmappedArray = mipmap};

	follow(CUPTI_DRIVER_TRACE_CBID_cuMipmappedArrayGetLevel, &parameters, one, CUDA_SUCCESS);
}

static void get_plane(CUarray array, CUarray plane)
{
	const cuArrayGetPlane_params parameters = {.pPlaneArray = &plane, .hArray = array};

	follow(CUPTI_DRIVER_TRACE_CBID_cuArrayGetPlane, &parameters, one, CUDA_SUCCESS);
}

static void map_mipmap(CUmipmappedArray mipmap)
{
	const cuGraphicsResourceGetMappedMipmappedArray_params parameters = {.pMipmappedArray =
	                                                                             &mipmap};

	follow(CUPTI_DRIVER_TRACE_CBID_cuGraphicsResourceGetMappedMipmappedArray, &parameters, one,
	       CUDA_SUCCESS);
}

static void map_array(CUarray array)
{
	const cuGraphicsSubResourceGetMappedArray_params parameters = {.pArray = &array};

	follow(CUPTI_DRIVER_TRACE_CBID_cuGraphicsSubResourceGetMappedArray, &parameters, one,
	       CUDA_SUCCESS);
}

static void make_array(CUarray array)
{
	const cuArray3DCreate_v2_params parameters = {.pHandle = &array};

	follow(CUPTI_DRIVER_TRACE_CBID_cuArray3DCreate_v2, &parameters, one, CUDA_SUCCESS);
}

static bool has(enum gt_foreign_kind kind, uint64_t value)
{
	return gt_foreign_has(&foreign, kind, value, one);
}

static void make_texture(CUtexObject value, CUcontext context, CUresult result)
{
	const CUDA_RESOURCE_DESC memory = {.resType = CU_RESOURCE_TYPE_LINEAR};
	const CUDA_TEXTURE_DESC description = {.borderColor = {0.5F, 1, 2, (float)value}};
	const cuTexObjectCreate_params parameters = {
		.pTexObject = &value, .pResDesc = &memory, .pTexDesc = &description};

	follow(CUPTI_DRIVER_TRACE_CBID_cuTexObjectCreate, &parameters, context, result);
}

static void drop_texture(CUtexObject value, CUcontext context)
{
	const cuTexObjectDestroy_params parameters = {.texObject = value};

	follow(CUPTI_DRIVER_TRACE_CBID_cuTexObjectDestroy, &parameters, context, CUDA_SUCCESS);
}

Test(foreign_calls, tell_textures_of_two_contexts_apart)
{
	make_texture(1, one, CUDA_SUCCESS);
	make_texture(1, other, CUDA_SUCCESS);
	make_texture(2, other, CUDA_ERROR_INVALID_VALUE);
	cr_expect(gt_foreign_has(&foreign, GT_FOREIGN_TEXTURE, 1, one));
	cr_expect(not(gt_foreign_has(&foreign, GT_FOREIGN_SURFACE, 1, one)));
	cr_expect(not(gt_foreign_has(&foreign, GT_FOREIGN_TEXTURE, 2, other)), "it was not made");
	drop_texture(1, one);
	cr_expect(not(gt_foreign_has(&foreign, GT_FOREIGN_TEXTURE, 1, one)));
	cr_expect(gt_foreign_has(&foreign, GT_FOREIGN_TEXTURE, 1, other));
}

/* The driver does not tell this colour of a texture. */
Test(foreign_calls, keep_the_colour_beyond_a_border)
{
	uint32_t border[4] = {9, 9, 9, 9};

	make_texture(4, one, CUDA_SUCCESS);
	gt_foreign_border(&foreign, 4, one, border);
	cr_expect(eq(u32, border[0], 0x3f000000));
	cr_expect(eq(u32, border[1], 0x3f800000));
	cr_expect(eq(u32, border[2], 0x40000000));
	cr_expect(eq(u32, border[3], 0x40800000));
	gt_foreign_border(&foreign, 4, other, border);
	cr_expect(eq(u32, border[0], 0), "that context has no such texture");
	cr_expect(eq(u32, border[3], 0));
}

Test(foreign_calls, have_room_again_for_what_is_gone)
{
	for (CUtexObject value = 1; value <= 2 * GT_FOREIGN_VALUES; value++) {
		make_texture(value, one, CUDA_SUCCESS);
		drop_texture(value, one);
	}
	cr_expect(not(foreign.full));
	cr_expect(eq(u32, foreign.used, 1));
}

Test(foreign_calls, know_arrays_of_others_until_they_end)
{
	CUmipmappedArray mipmap = (CUmipmappedArray)0x1000;
	const cuExternalMemoryGetMappedMipmappedArray_params made = {.mipmap = &mipmap};
	const cuMipmappedArrayDestroy_params dropped = {.hMipmappedArray = mipmap};
	uint32_t at = 0;

	follow(CUPTI_DRIVER_TRACE_CBID_cuExternalMemoryGetMappedMipmappedArray, &made, one,
	       CUDA_SUCCESS);
	cr_expect(eq(u64, gt_foreign_next(&foreign, GT_FOREIGN_MIPMAP, &at), 0x1000));
	cr_expect(eq(u64, gt_foreign_next(&foreign, GT_FOREIGN_MIPMAP, &at), 0));
	follow(CUPTI_DRIVER_TRACE_CBID_cuMipmappedArrayDestroy, &dropped, other, CUDA_SUCCESS);
	at = 0;
	cr_expect(eq(u64, gt_foreign_next(&foreign, GT_FOREIGN_MIPMAP, &at), 0));
}

/* The program may keep handles of what it has destroyed; the driver is not to be asked of them. */
Test(foreign_calls, end_objects_with_their_array)
{
	const CUarray array = (CUarray)0x2000;
	const CUarray level = (CUarray)0x1010;
	const CUmipmappedArray mipmap = (CUmipmappedArray)0x1000;
	const cuArrayDestroy_params dropped = {.hArray = array};
	const cuMipmappedArrayDestroy_params dropped_levels = {.hMipmappedArray = mipmap};

	make_of(1,
	        (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array});
	make_of(2, (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
	                                .res.mipmap.hMipmappedArray = mipmap});
	make_of(3, (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_LINEAR,
	                                .res.linear.devPtr = 0x2000});
	make_surface(4, array);
	get_level(mipmap, level);
	make_surface(5, level);
	get_plane(array, (CUarray)0x2010);
	make_surface(6, (CUarray)0x2010);
	follow(CUPTI_DRIVER_TRACE_CBID_cuArrayDestroy, &dropped, one, CUDA_SUCCESS);
	cr_expect(not(has(GT_FOREIGN_TEXTURE, 1)));
	cr_expect(not(has(GT_FOREIGN_SURFACE, 4)));
	cr_expect(not(has(GT_FOREIGN_SURFACE, 6)), "of a plane of it");
	cr_expect(has(GT_FOREIGN_TEXTURE, 2));
	cr_expect(has(GT_FOREIGN_SURFACE, 5));
	follow(CUPTI_DRIVER_TRACE_CBID_cuMipmappedArrayDestroy, &dropped_levels, one, CUDA_SUCCESS);
	cr_expect(not(has(GT_FOREIGN_TEXTURE, 2)));
	cr_expect(not(has(GT_FOREIGN_SURFACE, 5)), "its level is gone as well");
	cr_expect(not(has(GT_FOREIGN_LEVEL, (uint64_t)level)));
	cr_expect(has(GT_FOREIGN_TEXTURE, 3), "of memory at the same address");
}

/* Whoever asks the driver of an array waits until then, or finds none. */
Test(foreign_calls, end_objects_before_it_is_known_that_an_array_ends)
{
	const CUmipmappedArray mipmap = (CUmipmappedArray)0x1000;
	const CUarray level = (CUarray)0x1010;
	const cuMipmappedArrayDestroy_params dropped = {.hMipmappedArray = mipmap};
	const cuTexObjectDestroy_params texture = {.texObject = 5};
	CUpti_CallbackData data = {.functionParams = &dropped, .context = one};
	struct gt_call call = {
		.data = &data, .id = CUPTI_DRIVER_TRACE_CBID_cuMipmappedArrayDestroy, .driver = 1};

	get_level(mipmap, level);
	make_surface(5, level);
	cr_expect(gt_foreign_ends_array(call));
	gt_foreign_end_objects(&foreign, call);
	cr_expect(not(has(GT_FOREIGN_SURFACE, 5)));
	cr_expect(eq(u64, gt_foreign_whole_of(&foreign, (uint64_t)level), (uint64_t)mipmap));
	call.id = CUPTI_DRIVER_TRACE_CBID_cuTexObjectDestroy;
	data.functionParams = &texture;
	cr_expect(not(gt_foreign_ends_array(call)));
}

/* The next one may have its handle. */
Test(foreign_calls, end_objects_with_their_context)
{
	make_texture(1, one, CUDA_SUCCESS);
	make_texture(1, other, CUDA_SUCCESS);
	make_surface(2, (CUarray)0x2000);
	map_array((CUarray)0x3000);
	gt_foreign_end_context(&foreign, one);
	cr_expect(not(has(GT_FOREIGN_TEXTURE, 1)));
	cr_expect(not(has(GT_FOREIGN_SURFACE, 2)));
	cr_expect(gt_foreign_has(&foreign, GT_FOREIGN_TEXTURE, 1, other));
	cr_expect(has(GT_FOREIGN_ARRAY, 0x3000), "of no context");
}

/* As programs do that draw: the same handles in each frame. */
Test(foreign_calls, take_arrays_of_graphics_that_are_mapped_again_for_the_same)
{
	for (uint32_t frame = 0; frame < 2 * GT_FOREIGN_VALUES; frame++) {
		map_array((CUarray)0x2000);
		map_mipmap((CUmipmappedArray)0x1000);
		get_level((CUmipmappedArray)0x1000, (CUarray)0x1010);
	}
	cr_expect(not(foreign.full));
	cr_expect(eq(u32, foreign.used, 3));
	cr_expect(gt_foreign_has_array(&foreign, 0x2000));
	cr_expect(gt_foreign_has_array(&foreign, 0x1010), "a level of others'");
	get_plane((CUarray)0x2000, (CUarray)0x2010);
	cr_expect(gt_foreign_has_array(&foreign, 0x2010), "a plane of others'");
	cr_expect(not(gt_foreign_has_array(&foreign, 0x1000)));
}

/* No call tells when they end. */
Test(foreign_calls, take_an_array_for_the_programs_once_it_made_one_of_that_handle)
{
	map_array((CUarray)0x2000);
	map_mipmap((CUmipmappedArray)0x1000);
	get_level((CUmipmappedArray)0x1000, (CUarray)0x1010);
	make_array((CUarray)0x2000);
	cr_expect(not(gt_foreign_has_array(&foreign, 0x2000)));
	make_array((CUarray)0x1010);
	cr_expect(not(gt_foreign_has_array(&foreign, 0x1010)));
	cr_expect(has(GT_FOREIGN_MIPMAP, 0x1000));
	get_level((CUmipmappedArray)0x3000, (CUarray)0x1010);
	cr_expect(not(gt_foreign_has_array(&foreign, 0x1010)), "of the program's own");
}

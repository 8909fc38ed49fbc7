/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/foreign_calls.h"

#include "support/check.h"

static const CUcontext one = (CUcontext)0x100;
static const CUcontext other = (CUcontext)0x200;
static struct gt_foreign foreign;

/* A call of the driver's that has returned. */
static void follow(CUpti_CallbackId id, const void *parameters, CUcontext context, CUresult result)
{
	const CUpti_CallbackData data = {
		.functionParams = parameters, .functionReturnValue = &result, .context = context};

	gt_foreign_follow(NULL, &foreign,
	                  (struct gt_call){.data = &data, .id = (uint16_t)id, .driver = 1});
}

static void make_texture(CUtexObject value, CUcontext context, CUresult result)
{
	const cuTexObjectCreate_params parameters = {.pTexObject = &value};

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

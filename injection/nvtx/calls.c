/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/nvtx/calls.h"

#include <stddef.h>
#include <stdint.h>

#include "injection/nvtx/handles.h"
#include "injection/nvtx/nvtx.h"

void gt_nvtx_on_Initialize(const void *reserved)
{
	GT_NVTX_SESSION;

	(void)session;
	GT_NVTX_PASS_ON(Initialize, reserved);
}

static const struct {
	uint32_t module;
	uint32_t entry;
	NvtxFunctionPointer function;
} calls[] = {
#define CALL(module, name, type)                                                                   \
	{NVTX_CB_MODULE_##module, NVTX_CBID_##module##_##name,                                     \
	 (NvtxFunctionPointer)gt_nvtx_on_##name},
#include "injection/nvtx/calls.def"
};

NvtxFunctionPointer gt_nvtx_call(uint32_t module, uint32_t entry)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].module == module && calls[i].entry == entry)
			return calls[i].function;
	return NULL;
}

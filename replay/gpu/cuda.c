/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/gpu/cuda.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

#include "base/array.h"
#include "base/error.h"

/* The functions stand in the struct one behind the other, in the order of the list. */
static const struct call {
	const char *symbol;
	size_t offset;
} calls[] = {
#define CALL(name, symbol, parameters) {symbol, offsetof(struct gt_cuda, name)},
#include "replay/gpu/cuda_calls.def"
};

int gt_cuda_check(const struct gt_cuda *cuda, CUresult code, struct gt_error *err, const char *what)
{
	const char *name = NULL;
	const char *text = NULL;

	if (code == CUDA_SUCCESS)
		return 0;
	(void)cuda->error_name(code, &name);
	(void)cuda->error_text(code, &text);
	return gt_fail(err, code == CUDA_ERROR_OUT_OF_MEMORY ? ENOMEM : EIO, "%s: %s (%s)", what,
	               name ? name : "error", text ? text : "not known to this driver");
}

static int find_calls(struct gt_cuda *cuda, struct gt_error *err)
{
	for (size_t i = 0; i < GT_COUNT_OF(calls); i++) {
		void *call = dlsym(cuda->library, calls[i].symbol);

		if (!call)
			return gt_fail(err, ENOTSUP,
			               "the NVIDIA driver is too old: its libcuda.so.1 has no %s",
			               calls[i].symbol);
		*(void **)((char *)cuda + calls[i].offset) = call;
	}
	return 0;
}

int gt_cuda_open(struct gt_cuda *cuda, struct gt_error *err)
{
	int result;
	CUresult code;

	*cuda = (struct gt_cuda){.library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)};
	if (!cuda->library)
		return gt_fail(err, ENODEV,
		               "there is no NVIDIA driver here, libcuda.so.1 cannot be loaded");
	result = find_calls(cuda, err);
	if (result < 0)
		return result;
	code = cuda->init(0);
	if (code == CUDA_ERROR_NO_DEVICE || (code == CUDA_SUCCESS && gt_cuda_count(cuda) == 0))
		return gt_fail(err, ENODEV,
		               "the NVIDIA driver sees no GPU here; does CUDA_VISIBLE_DEVICES hide "
		               "it?");
	return gt_cuda_check(cuda, code, err, "CUDA cannot be started");
}

int gt_cuda_count(const struct gt_cuda *cuda)
{
	int count = 0;

	return cuda->device_count(&count) == CUDA_SUCCESS ? count : 0;
}

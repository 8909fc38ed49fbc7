/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/device_driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

#include "base/error.h"

/* The functions stand in the struct one behind the other, in the order of the list. */
static const struct call {
	const char *symbol;
	size_t offset;
} calls[] = {
#define CALL(name, symbol, parameters) {symbol, offsetof(struct gt_device_driver, name)},
#include "injection/device_calls.def"
};

int gt_device_driver_open(struct gt_device_driver *driver, struct gt_error *err)
{
	void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		void *call = library ? dlsym(library, calls[i].symbol) : NULL;

		if (!call)
			return gt_fail(err, ENOTSUP, "no device events: the driver has no %s",
			               calls[i].symbol);
		*(void **)((char *)driver + calls[i].offset) = call;
	}
	return 0;
}

int gt_device_driver_check(const struct gt_device_driver *driver, CUresult code, const char *what,
                           struct gt_error *err)
{
	const char *name = NULL;

	if (code == CUDA_SUCCESS)
		return 0;
	(void)driver->error_name(code, &name);
	return gt_fail(err, code == CUDA_ERROR_OUT_OF_MEMORY ? ENOMEM : EIO, "%s: %s", what,
	               name ? name : "an error that the driver does not name");
}

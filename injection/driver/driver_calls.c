/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/driver/driver_calls.h"

#include <dlfcn.h>
#include <errno.h>

#include "base/error.h"

int gt_driver_calls_find(void *functions, const struct gt_driver_call *calls, size_t count,
                         const char *without, struct gt_error *err)
{
	void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);

	for (size_t i = 0; i < count; i++) {
		void *call = library ? dlsym(library, calls[i].symbol) : NULL;

		if (!call)
			return gt_fail(err, ENOTSUP, "%s: the driver has no %s", without,
			               calls[i].symbol);
		*(void **)((char *)functions + calls[i].offset) = call;
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/driver/driver_calls.h"

#include <dlfcn.h>
#include <errno.h>

#include "base/error.h"

bool gt_driver_find(const char *symbol, void *call)
{
	void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);

	/* POSIX gives functions out as void pointers; C has no cast for that. */
	*(void **)call = library ? dlsym(library, symbol) : NULL;
	return *(void **)call != NULL;
}

int gt_driver_calls_find(void *functions, const struct gt_driver_call *calls, size_t count,
                         const char *without, struct gt_error *err)
{
	for (size_t i = 0; i < count; i++)
		if (!gt_driver_find(calls[i].symbol, (char *)functions + calls[i].offset))
			return gt_fail(err, ENOTSUP, "%s: the driver has no %s", without,
			               calls[i].symbol);
	return 0;
}

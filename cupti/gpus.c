/* SPDX-License-Identifier: Apache-2.0 */
#include "cupti/gpus.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/error.h"

enum { NO_DEVICE = 100 }; /* CUDA_ERROR_NO_DEVICE */

/* libcuda's functions; they return a CUresult. */
struct driver {
	int (*init)(unsigned flags);
	int (*version)(int *version);
	int (*count)(int *count);
	int (*get)(int *device, int ordinal);
	int (*name)(char *name, int size, int device);
};

static bool find(void *library, const char *name, void *call)
{
	*(void **)call = dlsym(library, name);
	return *(void **)call != NULL;
}

static bool open_driver(struct driver *driver)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

	return library && find(library, "cuInit", &driver->init) &&
	       find(library, "cuDriverGetVersion", &driver->version) &&
	       find(library, "cuDeviceGetCount", &driver->count) &&
	       find(library, "cuDeviceGet", &driver->get) &&
	       find(library, "cuDeviceGetName", &driver->name);
}

int gt_gpus_find(struct gt_gpus *gpus, struct gt_error *err)
{
	struct driver driver = {NULL};
	int device;
	int count = 0;
	int result;

	memset(gpus, 0, sizeof(*gpus));
	if (!open_driver(&driver))
		return gt_fail(err, ENODEV,
		               "this machine has no NVIDIA driver: libcuda.so.1 was not found");
	result = driver.init(0);
	if (result == 0)
		result = driver.count(&count);
	gpus->result = result;
	(void)driver.version(&gpus->driver_version);
	if (result == NO_DEVICE || (result == 0 && count == 0))
		return gt_fail(err, ENODEV, "the NVIDIA driver finds no GPU on this machine");
	if (result != 0)
		return gt_fail(err, ENODEV, "the NVIDIA driver does not start: cuInit says %d",
		               result);
	gpus->count = count < GT_GPUS_MOST ? (uint32_t)count : GT_GPUS_MOST;
	for (uint32_t i = 0; i < gpus->count; i++)
		if (driver.get(&device, (int)i) != 0 ||
		    driver.name(gpus->names[i], sizeof(gpus->names[i]), device) != 0)
			gpus->names[i][0] = 0;
	return 0;
}

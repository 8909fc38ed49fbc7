/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/driver/driver.h"

#include <dlfcn.h>
#include <stdio.h>

static bool find(void *library, const char *name, void *call)
{
	*(void **)call = dlsym(library, name);
	return *(void **)call != NULL;
}

bool gt_driver_open(struct gt_driver *driver)
{
	void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);

	return library && find(library, "cuDeviceGetCount", &driver->count) &&
	       find(library, "cuDeviceGet", &driver->get) &&
	       find(library, "cuDeviceGetName", &driver->name) &&
	       find(library, "cuDeviceGetUuid_v2", &driver->uuid) &&
	       find(library, "cuDeviceGetPCIBusId", &driver->pci) &&
	       find(library, "cuDeviceTotalMem_v2", &driver->memory) &&
	       find(library, "cuDeviceGetAttribute", &driver->attribute);
}

bool gt_driver_open_current(struct gt_driver_current *driver)
{
	void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);

	return library && find(library, "cuCtxGetDevice", &driver->device) &&
	       find(library, "cuMemGetInfo_v2", &driver->memory);
}

/* The bytes in groups of 4-2-2-2-6. */
void gt_driver_uuid_text(const CUuuid *uuid, char text[GT_UUID_BYTES])
{
	size_t used = (size_t)snprintf(text, GT_UUID_BYTES, "GPU-");

	for (int i = 0; i < 16; i++) {
		const char *dash = i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";

		used += (size_t)snprintf(text + used, GT_UUID_BYTES - used, "%s%02x", dash,
		                         (unsigned char)uuid->bytes[i]);
	}
}

bool gt_driver_uuid(const struct gt_driver *driver, CUdevice device, char text[GT_UUID_BYTES])
{
	CUuuid uuid;

	if (driver->uuid(&uuid, device) != CUDA_SUCCESS)
		return false;
	gt_driver_uuid_text(&uuid, text);
	return true;
}

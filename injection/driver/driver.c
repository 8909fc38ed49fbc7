/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/driver/driver.h"

#include <stdio.h>

#include "injection/driver/driver_calls.h"

bool gt_driver_open(struct gt_driver *driver)
{
	return gt_driver_find("cuDeviceGetCount", &driver->count) &&
	       gt_driver_find("cuDeviceGet", &driver->get) &&
	       gt_driver_find("cuDeviceGetName", &driver->name) &&
	       gt_driver_find("cuDeviceGetUuid_v2", &driver->uuid) &&
	       gt_driver_find("cuDeviceGetPCIBusId", &driver->pci) &&
	       gt_driver_find("cuDeviceTotalMem_v2", &driver->memory) &&
	       gt_driver_find("cuDeviceGetAttribute", &driver->attribute);
}

bool gt_driver_open_current(struct gt_driver_current *driver)
{
	return gt_driver_find("cuCtxGetDevice", &driver->device) &&
	       gt_driver_find("cuMemGetInfo_v2", &driver->memory);
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

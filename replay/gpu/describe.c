/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/gpu/describe.h"

#include <stdio.h>

#include "model/gpu/calibration.h"
#include "replay/gpu/driver_version.h"
#include "replay/gpu/gpu.h"

static uint32_t count_of(const struct gt_gpu *gpu, CUdevice_attribute attribute)
{
	const int value = gt_gpu_attribute(gpu, attribute);

	return value > 0 ? (uint32_t)value : 0;
}

void gt_gpu_tell(const struct gt_gpu *gpu, struct gt_calibration *calibration)
{
	int version = 0;

	if (gpu->cuda->device_name(calibration->device, sizeof(calibration->device), gpu->device) !=
	    CUDA_SUCCESS)
		calibration->device[0] = '\0';
	gt_gpu_uuid(gpu, calibration->uuid);
	gt_driver_version(calibration->driver, sizeof(calibration->driver));
	if (gpu->cuda->driver_version(&version) == CUDA_SUCCESS)
		snprintf(calibration->cuda, sizeof(calibration->cuda), "%d.%d", version / 1000,
		         version % 1000 / 10);
	calibration->cc_major = count_of(gpu, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
	calibration->cc_minor = count_of(gpu, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
	calibration->sm_count = count_of(gpu, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
	calibration->sm_clock_khz = count_of(gpu, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
	calibration->memory_clock_khz = count_of(gpu, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
	calibration->memory_bus_bits = count_of(gpu, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
}

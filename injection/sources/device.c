/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <cuda.h>

#include "injection/nvml.h"
#include "injection/services.h"
#include "injection/source.h"

/*
 * What the GPUs are: asked of the driver, and of NVML for what only it knows, once CUDA is up.
 * Runs on the writer thread, whose CUDA calls are not recorded.
 */

struct driver {
	CUresult (*count)(int *count);
	CUresult (*get)(CUdevice *device, int ordinal);
	CUresult (*name)(char *name, int size, CUdevice device);
	CUresult (*uuid)(CUuuid *uuid, CUdevice device);
	CUresult (*pci)(char *text, int size, CUdevice device);
	CUresult (*memory)(size_t *bytes, CUdevice device);
	CUresult (*attribute)(int *value, CUdevice_attribute attribute, CUdevice device);
};

static bool find(void *library, const char *name, void *call)
{
	*(void **)call = dlsym(library, name);
	return *(void **)call != NULL;
}

static bool open_driver(struct driver *driver)
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

static uint32_t attribute(const struct driver *driver, CUdevice device, CUdevice_attribute which)
{
	int value = 0;

	return driver->attribute(&value, which, device) == CUDA_SUCCESS && value > 0
	               ? (uint32_t)value
	               : 0;
}

static void describe(const struct driver *driver, CUdevice device, struct gt_record_device *row)
{
	size_t bytes = 0;

#define GET(which) attribute(driver, device, CU_DEVICE_ATTRIBUTE_##which)
	row->cc_major = GET(COMPUTE_CAPABILITY_MAJOR);
	row->cc_minor = GET(COMPUTE_CAPABILITY_MINOR);
	row->sm_count = GET(MULTIPROCESSOR_COUNT);
	row->sm_clock_khz = GET(CLOCK_RATE);
	row->memory_clock_khz = GET(MEMORY_CLOCK_RATE);
	row->memory_bus_bits = GET(GLOBAL_MEMORY_BUS_WIDTH);
	row->l2_bytes = GET(L2_CACHE_SIZE);
	row->warp_size = GET(WARP_SIZE);
	row->max_threads_per_sm = GET(MAX_THREADS_PER_MULTIPROCESSOR);
	row->max_blocks_per_sm = GET(MAX_BLOCKS_PER_MULTIPROCESSOR);
	row->registers_per_sm = GET(MAX_REGISTERS_PER_MULTIPROCESSOR);
	row->registers_per_block = GET(MAX_REGISTERS_PER_BLOCK);
	row->shared_per_sm_bytes = GET(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
	row->shared_per_block_bytes = GET(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
	row->shared_reserved_bytes = GET(RESERVED_SHARED_MEMORY_PER_BLOCK);
	row->copy_engines = GET(ASYNC_ENGINE_COUNT);
#undef GET
	if (driver->memory(&bytes, device) == CUDA_SUCCESS)
		row->memory_bytes = bytes;
}

static void describe_link(const struct gt_nvml *nvml, const char *uuid,
                          struct gt_record_device *row)
{
	struct gt_nvml_device device;
	struct gt_nvml_place place;

	if (gt_nvml_find(nvml, uuid, &device) < 0)
		return;
	place = gt_nvml_place_of(nvml, &device);
	row->index_plus_one = place.index_plus_one;
	row->pcie_generation = place.pcie_generation;
	row->pcie_width = place.pcie_width;
}

/* GPU- and the bytes in groups of 4-2-2-2-6, as nvidia-smi prints them. */
static void print_uuid(const CUuuid *uuid, char *text, size_t size)
{
	size_t used = (size_t)snprintf(text, size, "GPU-");

	for (int i = 0; i < 16 && used + 3 < size; i++) {
		const char *dash = i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";

		used += (size_t)snprintf(text + used, size - used, "%s%02x", dash,
		                         (unsigned char)uuid->bytes[i]);
	}
}

static void record_device(struct gt_session *session, const struct driver *driver,
                          const struct gt_nvml *nvml, int ordinal)
{
	struct gt_record_device row = {.ordinal = (uint32_t)ordinal};
	struct gt_record_device *there;
	char text[256];
	CUdevice device;
	CUuuid uuid;

	if (driver->get(&device, ordinal) != CUDA_SUCCESS)
		return;
	if (driver->name(text, sizeof(text), device) == CUDA_SUCCESS)
		row.name = gt_intern(session, text);
	if (driver->pci(text, sizeof(text), device) == CUDA_SUCCESS)
		row.pci = gt_intern(session, text);
	describe(driver, device, &row);
	if (driver->uuid(&uuid, device) == CUDA_SUCCESS) {
		print_uuid(&uuid, text, sizeof(text));
		row.uuid = gt_intern(session, text);
		describe_link(nvml, text, &row);
	}
	there = gt_emit_begin(session, GT_RECORD_device, sizeof(row));
	if (!there)
		return;
	*there = row;
	gt_emit_commit();
}

static void cuda_up(struct gt_session *session, void *state)
{
	struct driver driver;
	struct gt_nvml nvml;
	int count = 0;

	(void)state;
	if (!open_driver(&driver) || driver.count(&count) != CUDA_SUCCESS) {
		gt_note(session, "device", "the driver told nothing about its devices");
		return;
	}
	(void)gt_nvml_open(&nvml); /* without it nothing is found */
	for (int i = 0; i < count; i++)
		record_device(session, &driver, &nvml, i);
	gt_nvml_close(&nvml);
}

const struct gt_source gt_source_device = {.name = "device", .cuda_up = cuda_up};

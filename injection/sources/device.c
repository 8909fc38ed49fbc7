/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include <cuda.h>

#include "injection/driver/driver.h"
#include "injection/nvml/nvml.h"
#include "injection/session/services.h"
#include "injection/session/source.h"

/*
 * Facts about the GPUs: asked of the driver, and of NVML for what only it knows, once CUDA is up.
 * Runs on the writer thread, whose CUDA calls are not recorded.
 */

static uint32_t attribute(const struct gt_driver *driver, CUdevice device, CUdevice_attribute which)
{
	int value = 0;

	return driver->attribute(&value, which, device) == CUDA_SUCCESS && value > 0
	               ? (uint32_t)value
	               : 0;
}

static void describe(const struct gt_driver *driver, CUdevice device, struct gt_record_device *row)
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

static void record_device(struct gt_session *session, const struct gt_driver *driver,
                          const struct gt_nvml *nvml, int ordinal)
{
	struct gt_record_device row = {.ordinal = (uint32_t)ordinal};
	struct gt_record_device *there;
	char text[256];
	char uuid[GT_UUID_BYTES];
	CUdevice device;

	if (driver->get(&device, ordinal) != CUDA_SUCCESS)
		return;
	if (driver->name(text, sizeof(text), device) == CUDA_SUCCESS)
		row.name = gt_intern(session, text);
	if (driver->pci(text, sizeof(text), device) == CUDA_SUCCESS)
		row.pci = gt_intern(session, text);
	describe(driver, device, &row);
	if (gt_driver_uuid(driver, device, uuid)) {
		row.uuid = gt_intern(session, uuid);
		describe_link(nvml, uuid, &row);
	}
	there = gt_emit_begin(session, GT_RECORD_device, sizeof(row));
	if (!there)
		return;
	*there = row;
	gt_emit_commit();
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as gt_source has it */
static int start(struct gt_session *session, void *state, struct gt_error *err)
{
	(void)session;
	(void)state;
	(void)err;
	gt_nvml_load();
	return 0;
}

static void cuda_up(struct gt_session *session, void *state)
{
	struct gt_driver driver;
	struct gt_nvml nvml;
	int count = 0;

	(void)state;
	if (!gt_driver_open(&driver) || driver.count(&count) != CUDA_SUCCESS) {
		gt_note(session, "device", "the driver told nothing about its devices");
		return;
	}
	(void)gt_nvml_open(&nvml); /* without it nothing is found */
	for (int i = 0; i < count; i++)
		record_device(session, &driver, &nvml, i);
	gt_nvml_close(&nvml);
}

const struct gt_source gt_source_device = {.name = "device", .start = start, .cuda_up = cuda_up};

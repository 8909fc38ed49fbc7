/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "import/builder.h"
#include "import/nsys/database.h"
#include "import/nsys/rows.h"

/* GPUs, contexts and streams of a process. */

#define NUMBER(column) gt_nsys_number(row, column, 0)
#define COUNT(column)  (uint32_t) NUMBER(column)

enum { MOST_GPUS = 64 };

/* GPUs of the machine, by nsys's numbers, as the process numbers them; -1: it does not have it. */
struct ordinals {
	struct gt_nsys_reading *reading;
	bool told; /* the file says which GPU has which number */
	int64_t of[MOST_GPUS];
};

static void take_ordinal(void *context, sqlite3_stmt *row)
{
	struct ordinals *ordinals = context;
	const int64_t gpu = NUMBER(NSYS_device_gpuId);

	ordinals->told = true;
	if (gpu >= 0 && gpu < MOST_GPUS &&
	    (ordinals->reading->process == GT_NSYS_ALL ||
	     COUNT(NSYS_device_pid) == gt_nsys_pid(ordinals->reading->process)))
		ordinals->of[gpu] = NUMBER(NSYS_device_cudaId);
}

static uint32_t text_of(struct gt_builder *builder, sqlite3_stmt *row, int column)
{
	const char *text = (const char *)sqlite3_column_text(row, column);

	return text ? gt_builder_text(builder, text, strlen(text)) : 0;
}

/* As NVML writes it: GPU-... */
static uint32_t uuid_of(struct gt_builder *builder, sqlite3_stmt *row)
{
	const char *text = (const char *)sqlite3_column_text(row, NSYS_gpu_uuid);
	char uuid[96];

	if (!text || !*text)
		return 0;
	snprintf(uuid, sizeof(uuid), "%s%.64s",
	         strncasecmp(text, "GPU-", 4) == 0 || strncasecmp(text, "MIG-", 4) == 0 ? ""
	                                                                                : "GPU-",
	         text);
	return gt_builder_text(builder, uuid, strlen(uuid));
}

static void take_gpu(void *context, sqlite3_stmt *row)
{
	struct ordinals *ordinals = context;
	struct gt_builder *builder = ordinals->reading->builder;
	const int64_t gpu = NUMBER(NSYS_gpu_id);
	struct gt_record_device device = {
		.ordinal = (uint32_t)gpu,
		.cc_major = COUNT(NSYS_gpu_computeMajor),
		.cc_minor = COUNT(NSYS_gpu_computeMinor),
		.sm_count = COUNT(NSYS_gpu_smCount),
		.sm_clock_khz = (uint32_t)(NUMBER(NSYS_gpu_clockRate) / 1000),
		.memory_bytes = (uint64_t)NUMBER(NSYS_gpu_totalMemory),
		.l2_bytes = (uint64_t)NUMBER(NSYS_gpu_l2CacheSize),
		.warp_size = COUNT(NSYS_gpu_threadsPerWarp),
		.max_threads_per_sm =
			COUNT(NSYS_gpu_maxWarpsPerSm) * COUNT(NSYS_gpu_threadsPerWarp),
		.max_blocks_per_sm = COUNT(NSYS_gpu_maxBlocksPerSm),
		.registers_per_sm = COUNT(NSYS_gpu_maxRegistersPerSm),
		.registers_per_block = COUNT(NSYS_gpu_maxRegistersPerBlock),
		.shared_per_sm_bytes = COUNT(NSYS_gpu_maxShmemPerSm),
		.shared_per_block_bytes = COUNT(NSYS_gpu_maxShmemPerBlockOptin),
		.copy_engines = COUNT(NSYS_gpu_asyncEngines),
	};

	if (ordinals->told) {
		if (gpu < 0 || gpu >= MOST_GPUS || ordinals->of[gpu] < 0)
			return;
		device.ordinal = (uint32_t)ordinals->of[gpu];
	}
	device.name = text_of(builder, row, NSYS_gpu_name);
	device.uuid = uuid_of(builder, row);
	device.pci = text_of(builder, row, NSYS_gpu_busLocation);
	gt_builder_device(builder, &device);
}

static bool is_ours(const struct gt_nsys_reading *reading, int64_t pid)
{
	return reading->process == GT_NSYS_ALL || (uint32_t)pid == gt_nsys_pid(reading->process);
}

static void take_context(void *context, sqlite3_stmt *row)
{
	struct gt_nsys_reading *reading = context;

	if (!is_ours(reading, NUMBER(NSYS_context_processId)))
		return;
	gt_builder_add(reading->builder, context, .id = COUNT(NSYS_context_contextId),
	               .device = COUNT(NSYS_context_deviceId),
	               .null_stream = COUNT(NSYS_context_nullStreamId),
	               .sm_count = NUMBER(NSYS_context_isGreenContext)
	                                   ? COUNT(NSYS_context_numMultiprocessors)
	                                   : 0);
}

static void take_stream(void *context, sqlite3_stmt *row)
{
	struct gt_nsys_reading *reading = context;

	if (is_ours(reading, NUMBER(NSYS_stream_processId)))
		gt_builder_add(reading->builder, stream, .id = COUNT(NSYS_stream_streamId),
		               .context = COUNT(NSYS_stream_contextId),
		               .priority = (int32_t)NUMBER(NSYS_stream_priority),
		               .flags = COUNT(NSYS_stream_flag));
}

void gt_nsys_read_places(struct gt_nsys_reading *reading)
{
	struct ordinals ordinals = {.reading = reading};

	for (size_t i = 0; i < MOST_GPUS; i++)
		ordinals.of[i] = -1;
	gt_nsys_each(reading->nsys, NSYS_device, GT_NSYS_ALL, take_ordinal, &ordinals);
	gt_nsys_each(reading->nsys, NSYS_gpu, GT_NSYS_ALL, take_gpu, &ordinals);
	gt_nsys_each(reading->nsys, NSYS_context, GT_NSYS_ALL, take_context, reading);
	gt_nsys_each(reading->nsys, NSYS_stream, GT_NSYS_ALL, take_stream, reading);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "support/recording.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "format/file/chunk.h"
#include "format/file/meta.h"
#include "format/recording.h"
#include "support/folder.h"

static void must(int fact)
{
	if (!fact)
		abort();
}

void recording_init(struct recording *recording)
{
	*recording = (struct recording){.path = "/tmp/gputrace-test-XXXXXX"};
	must(mkdtemp(recording->path) != NULL);
}

void recording_release(struct recording *recording)
{
	must(folder_remove(recording->path));
	capture_release(&recording->capture);
}

void recording_begin(struct recording *recording, const char *name)
{
	capture_release(&recording->capture);
	snprintf(recording->name, sizeof(recording->name), "%s", name);
	capture_begin(&recording->capture, CAPTURE_UNLIMITED);
}

void recording_add_meta(struct recording *recording, const char *key, const char *value)
{
	must(gt_meta_write_one(&recording->capture.writer, key, value) == 0);
}

void recording_add_string(struct recording *recording, uint32_t id, const char *text)
{
	const size_t size = strlen(text);
	uint8_t bytes[4096];
	uint8_t *at = gt_put_varint(gt_put_varint(bytes, id), size);

	must(size < sizeof(bytes) - 2 * (size_t)GT_VARINT_MAX);
	memcpy(at, text, size);
	must(gt_writer_payload(&recording->capture.writer, GT_RECORD_STRINGS, bytes,
	                       (size_t)(at - bytes) + size, 1) == 0);
}

void recording_add_records(struct recording *recording, uint32_t kind, const void *rows,
                           size_t count)
{
	const uint8_t *at = rows;

	for (size_t left = count; left > 0;) {
		const size_t some = left < GT_CHUNK_MAX_RECORDS ? left : GT_CHUNK_MAX_RECORDS;

		must(gt_writer_records(&recording->capture.writer, kind, at, some,
		                       (struct gt_origin){0}) == 0);
		at += some * gt_record_info(kind)->size;
		left -= some;
	}
}

void recording_add_basics(struct recording *recording, uint32_t pid)
{
	char digits[16];

	snprintf(digits, sizeof(digits), "%u", pid);
	recording_add_meta(recording, GT_META_PID, digits);
	recording_add_meta(recording, GT_META_HOST, "node");
	recording_add_meta(recording, GT_META_API, "outer");
	recording_add_string(recording, STRING_LAUNCH, "cudaLaunchKernel_v7000");
	recording_add_string(recording, STRING_KERNEL, "_Z5saxpyPfS_f");
	recording_add_string(recording, STRING_DEVICE, "NVIDIA H200");
	recording_add_string(recording, STRING_UUID, "GPU-0123");
	recording_add(recording, clock, .host_ns = 1000, .boottime_ns = 1000, .realtime_ns = 1000,
	              .cupti_ns = 1000, .bound_ns = 50);
	recording_add(recording, shape, .id = SHAPE, .name = STRING_KERNEL, .grid_x = 4,
	              .grid_y = 1, .grid_z = 1, .block_x = 256, .block_y = 1, .block_z = 1);
	recording_add(recording, device, .ordinal = 0, .name = STRING_DEVICE, .uuid = STRING_UUID);
	recording_add(recording, context, .id = CONTEXT, .device = 0, .null_stream = STREAM);
	recording_add(recording, stream, .id = STREAM, .context = CONTEXT);
	recording_add_string(recording, STRING_OF_LEDGER, "api_lost");
	recording_add(recording, ledger, .name = STRING_OF_LEDGER, .value = 0);
}

void recording_add_call(struct recording *recording, uint64_t start, uint32_t correlation)
{
	recording_add(recording, api_call, .start_ns = start, .end_ns = start + 5,
	              .correlation = correlation, .function = STRING_LAUNCH, .thread = 100);
}

void recording_add_kernel(struct recording *recording, uint64_t start, uint32_t correlation)
{
	recording_add(recording, kernel, .start_ns = start, .end_ns = start + 10,
	              .correlation = correlation, .shape = SHAPE, .context = CONTEXT,
	              .stream = STREAM);
}

void recording_add_file(struct recording *recording, const char *name, const void *bytes,
                        size_t size)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", recording->path, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	must(fd >= 0 && gt_write_all(fd, bytes, size) == 0 && close(fd) == 0);
}

void recording_end(struct recording *recording, int clean)
{
	char name[128];

	if (clean)
		recording_add_meta(recording, GT_META_END, GT_META_END_CLEAN);
	snprintf(name, sizeof(name), "%s%s", recording->name, GT_CAPTURE_SUFFIX);
	recording_add_file(recording, name, recording->capture.bytes, recording->capture.size);
}

void recording_add_arena(struct recording *recording, const struct test_arena *arena)
{
	char name[128];

	snprintf(name, sizeof(name), "%s%s", recording->name, GT_ARENA_SUFFIX);
	recording_add_file(recording, name, arena->memory, arena->size);
}

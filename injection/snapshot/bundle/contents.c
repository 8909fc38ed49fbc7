/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/bundle/contents.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "injection/snapshot/bundle/capture.h"
#include "injection/snapshot/memory/arrays.h"

int gt_capture_read_piece(struct gt_launch_capture *capture, const struct gt_reached *memory,
                          uint64_t offset, size_t size, struct gt_error *err)
{
	char what[128];
	CUresult result;

	if (memory->kind == GT_BUNDLE_MEMORY_host && memory->host)
		result = capture->driver->copy((CUdeviceptr)(uintptr_t)capture->staging,
		                               memory->host + offset, size);
	else
		result =
			capture->driver->copy_out(capture->staging, memory->address + offset, size);
	(void)snprintf(what, sizeof(what), "%zu bytes at 0x%" PRIx64 " cannot be read", size,
	               memory->address + offset);
	return gt_capture_driver_check(capture->driver, result, what, err);
}

/* By the host, at any time. */
static bool can_be_written(const struct gt_reached *memory)
{
	return memory->kind == GT_BUNDLE_MEMORY_host || memory->kind == GT_BUNDLE_MEMORY_managed;
}

/* Where what is in it before is held; NULL: it is not. */
static uint8_t *room_for(struct gt_launch_capture *capture, uint32_t number)
{
	const struct gt_reached *memory = &capture->reach.memory[number];

	if (can_be_written(memory))
		return gt_host_writes_add(&capture->host_writes, number, memory->size);
	return memory->unasked ? gt_segments_add(&capture->segments, number, memory) : NULL;
}

/* A piece of memory, in staging, for pointers and, where it is little, for handles. */
static void look_into(struct gt_launch_capture *capture, uint32_t number, uint64_t offset,
                      size_t size)
{
	gt_reach_contents(&capture->reach, number, offset, capture->staging, size);
	if (capture->reach.memory[number].size <= GT_CAPTURE_SCANNED)
		gt_capture_objects_scan(&capture->objects,
		                        &(struct gt_bundle_handle){.memory = number},
		                        capture->staging, size);
}

/* The contents of one memory into a blob; before the launch also looks for pointers in them. */
int gt_capture_keep_memory(struct gt_launch_capture *capture, uint32_t number, bool before,
                           struct gt_error *err)
{
	struct gt_reached *memory = &capture->reach.memory[number];
	uint8_t *known = before ? room_for(capture, number) : NULL;
	int result = gt_bundle_blob_begin(&capture->writer, memory->size, err);

	for (uint64_t offset = 0; result == 0 && offset < memory->size;) {
		const uint64_t rest = memory->size - offset;
		const size_t size = rest < GT_CAPTURE_STAGING ? (size_t)rest : GT_CAPTURE_STAGING;

		result = gt_capture_check_wanted(capture, err);
		if (result == 0)
			result = gt_capture_read_piece(capture, memory, offset, size, err);
		if (result == 0 && before)
			look_into(capture, number, offset, size);
		if (result == 0 && known)
			memcpy(known + offset, capture->staging, size);
		if (result == 0)
			result = gt_bundle_blob_append(&capture->writer, capture->staging, size,
			                               err);
		offset += size;
		gt_capture_get_on(capture);
	}
	if (result == 0)
		result = gt_bundle_blob_end(&capture->writer,
		                            before ? memory->before : memory->after, err);
	return result;
}

/* Contents before are of the memory that was there first. */
int gt_capture_check_reused(const struct gt_launch_capture *capture, struct gt_error *err)
{
	if (!capture->reach.reused)
		return 0;
	return gt_fail(err, ENOTSUP,
	               "a step uses memory where other memory of its steps was that was freed, at "
	               "0x%" PRIx64,
	               capture->reach.reused);
}

/* The same of an array, in which nothing counts as a pointer. */
static int keep_array(struct gt_launch_capture *capture, uint32_t number, bool before,
                      struct gt_error *err)
{
	struct gt_captured_array *array = &capture->objects.arrays[number];
	struct gt_array_piece piece = {0};
	int result = gt_bundle_blob_begin(&capture->writer, gt_array_bytes(&array->shape), err);

	while (result == 0 && gt_array_next_piece(&array->shape, GT_CAPTURE_STAGING, &piece)) {
		result = gt_capture_check_wanted(capture, err);
		if (result == 0)
			result = gt_captured_array_read(&capture->objects, number, &piece,
			                                capture->staging, err);
		if (result == 0)
			result = gt_bundle_blob_append(&capture->writer, capture->staging,
			                               gt_array_piece_bytes(&array->shape, &piece),
			                               err);
		gt_capture_get_on(capture);
	}
	if (result == 0)
		result = gt_bundle_blob_end(&capture->writer, before ? array->before : array->after,
		                            err);
	return result;
}

/* Kernels write only arrays that were made for it. */
static int keep_array_after(struct gt_launch_capture *capture, uint32_t number,
                            struct gt_error *err)
{
	struct gt_captured_array *array = &capture->objects.arrays[number];

	if (array->shape.flags & GT_ARRAY_SURFACES)
		return keep_array(capture, number, false, err);
	memcpy(array->after, array->before, sizeof(array->after));
	return 0;
}

/* Keeps memory that no step before reached. Memory found in its contents stands behind it. */
int gt_capture_keep_new(struct gt_launch_capture *capture, struct gt_error *err)
{
	int result = 0;

	for (; capture->kept < capture->reach.count && result == 0; capture->kept++) {
		struct gt_reached *memory = &capture->reach.memory[capture->kept];

		if (memory->before[0])
			continue;
		memory->graph = capture->step.graph;
		result = gt_capture_keep_memory(capture, capture->kept, true, err);
	}
	for (; capture->arrays_kept < capture->objects.array_count && result == 0;
	     capture->arrays_kept++)
		result = keep_array(capture, capture->arrays_kept, true, err);
	return result == 0 ? gt_capture_check_reused(capture, err) : result;
}

int gt_capture_keep_after(struct gt_launch_capture *capture, struct gt_error *err)
{
	int result = 0;

	for (uint32_t i = 0; i < capture->reach.count && result == 0; i++)
		if (!capture->reach.memory[i].gone)
			result = gt_capture_keep_memory(capture, i, false, err);
	for (uint32_t i = 0; i < capture->objects.array_count && result == 0; i++)
		result = keep_array_after(capture, i, err);
	return result;
}

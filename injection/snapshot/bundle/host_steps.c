/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/bundle/host_steps.h"

#include <string.h>

#include "injection/snapshot/bundle/capture.h"
#include "injection/snapshot/bundle/contents.h"
#include "injection/snapshot/bundle/copies.h"

/* Bytes that it wrote, which lie at an offset of memory: as a copy that comes before the next step.
 */
static int keep_written(struct gt_launch_capture *capture, const struct gt_capture_step *place,
                        const uint8_t *bytes, struct gt_error *err)
{
	struct gt_capture_step step = *place;
	int result;

	capture->reach.step = capture->lists.step_count;
	gt_reach_brought(&capture->reach, 0, bytes, step.bytes);
	gt_capture_look_for_handles(capture, bytes, step.bytes);
	step.blob_bytes = step.bytes;
	result = gt_bundle_blob(&capture->writer, bytes, step.bytes, step.blob, err);
	if (result == 0)
		result = gt_capture_add_step(&capture->lists, &step, err);
	return result < 0 ? result : 0;
}

/* One piece of memory, in staging; known becomes what is there now. */
static int keep_piece(struct gt_launch_capture *capture, uint64_t address, uint8_t *known,
                      size_t size, uint32_t stream, struct gt_error *err)
{
	struct gt_host_stretch stretch = {0, 0};
	int result = 0;

	while (result == 0 && gt_host_writes_next(known, capture->staging, size, &stretch)) {
		const struct gt_capture_step place = {.kind = GT_BUNDLE_STEP_copy,
		                                      .stream = stream,
		                                      .event = GT_CAPTURE_NONE,
		                                      .to = address + stretch.begin,
		                                      .bytes = stretch.end - stretch.begin,
		                                      .rows = 1,
		                                      .by_host = true};

		result = keep_written(capture, &place, capture->staging + stretch.begin, err);
	}
	memcpy(known, capture->staging, size);
	return result;
}

/* Reads one memory: with a stream into steps, without one into its known contents. */
static int look_at_written(struct gt_launch_capture *capture, const struct gt_host_memory *held,
                           uint32_t stream, struct gt_error *err)
{
	const struct gt_reached *memory = &capture->reach.memory[held->number];
	int result = 0;

	for (uint64_t offset = 0; result == 0 && offset < held->size;) {
		const uint64_t rest = held->size - offset;
		const size_t size = rest < GT_CAPTURE_STAGING ? (size_t)rest : GT_CAPTURE_STAGING;

		result = gt_capture_check_wanted(capture, err);
		if (result == 0)
			result = gt_capture_read_piece(capture, memory, offset, size, err);
		if (result == 0 && stream == GT_CAPTURE_NONE)
			memcpy(held->known + offset, capture->staging, size);
		else if (result == 0)
			result = keep_piece(capture, memory->address + offset, held->known + offset,
			                    size, stream, err);
		offset += size;
		gt_capture_get_on(capture);
	}
	return result;
}

/*
 * Before a step, and before the end: the GPU has nothing to do. All streams wait for what is
 * copied, as whatever the program asks for next comes after what it wrote.
 */
int gt_capture_keep_host_writes(struct gt_launch_capture *capture, uint32_t stream,
                                struct gt_error *err)
{
	const struct gt_host_writes *writes = &capture->host_writes;
	const uint32_t before = capture->lists.step_count;
	const struct gt_capture_step wait = {.kind = GT_BUNDLE_STEP_host_wait,
	                                     .stream = stream,
	                                     .event = GT_CAPTURE_NONE,
	                                     .by_host = true};
	int result = 0;

	gt_reach_step(&capture->reach, before);
	for (uint32_t i = 0; i < writes->count && result == 0; i++)
		if (!capture->reach.memory[writes->list[i].number].gone)
			result = look_at_written(capture, &writes->list[i], stream, err);
	if (result == 0 && capture->lists.step_count > before)
		result = gt_capture_add_step(&capture->lists, &wait, err);
	return result < 0 ? result : 0;
}

bool gt_capture_has_host_memory(const struct gt_launch_capture *capture)
{
	return capture->host_writes.count > 0;
}

int gt_capture_written(struct gt_launch_capture *capture, struct gt_error *err)
{
	const int result = gt_capture_wait_for_device(capture, "the GPU failed before it", err);

	return result < 0 ? result
	                  : gt_capture_keep_host_writes(capture, capture->step.stream, err);
}

int gt_capture_settle(struct gt_launch_capture *capture, struct gt_error *err)
{
	const struct gt_host_writes *writes = &capture->host_writes;
	int result = gt_capture_wait_for_device(capture, "the GPU failed in it", err);

	for (uint32_t i = 0; i < writes->count && result == 0; i++)
		if (!capture->reach.memory[writes->list[i].number].gone)
			result = look_at_written(capture, &writes->list[i], GT_CAPTURE_NONE, err);
	return result;
}

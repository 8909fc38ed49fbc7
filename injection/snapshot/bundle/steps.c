/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/bundle/steps.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "base/error.h"
#include "format/recording.h"
#include "injection/session/services.h"
#include "injection/snapshot/bundle/capture.h"
#include "injection/snapshot/bundle/contents.h"
#include "injection/snapshot/bundle/copies.h"
#include "injection/snapshot/bundle/document.h"
#include "injection/snapshot/bundle/driver_memory.h"
#include "injection/snapshot/bundle/host_steps.h"
#include "injection/snapshot/bundle/image.h"
#include "injection/snapshot/bundle/launches.h"

static int open_bundle(struct gt_launch_capture *capture, struct gt_error *err)
{
	char name[sizeof(GT_LAUNCHES_FOLDER) + sizeof(capture->folder) + 1];
	char path[PATH_MAX];

	(void)snprintf(name, sizeof(name), GT_LAUNCHES_FOLDER "/%s", capture->folder);
	if (gt_kept_path(capture->session, name, path, sizeof(path)) < 0)
		return gt_fail(err, ENAMETOOLONG, "the path of its bundle is too long");
	return gt_bundle_writer_open(&capture->writer, path, capture->most, err);
}

/* Says what a limit is called where the user sets it. */
static int explain(const struct gt_launch_capture *capture, int result, struct gt_error *err)
{
	if (result == -EFBIG)
		return gt_fail(err, EFBIG,
		               "it takes more than the %llu bytes of disk that are left of "
		               "--max-bytes",
		               (unsigned long long)capture->most);
	return result;
}

static int begin(struct gt_launch_capture *capture, struct gt_error *err)
{
	int result = gt_capture_driver_check(capture->driver,
	                                     capture->driver->context_device(&capture->device),
	                                     "its GPU is not known", err);

	if (result < 0)
		return result;
	gt_reach_begin(&capture->reach, gt_capture_ask_driver, capture);
	capture->objects.driver = capture->driver;
	capture->objects.foreign = capture->foreign;
	capture->objects.context = capture->context;
	capture->objects.memory_of = gt_capture_texture_memory;
	capture->objects.capture = capture;
	gt_capture_objects_begin(&capture->objects);
	capture->kept = 0;
	capture->arrays_kept = 0;
	capture->variables_left_out = 0;
	capture->local_bytes = 0;
	return open_bundle(capture, err);
}

static int add_work(struct gt_launch_capture *capture, struct gt_error *err)
{
	switch (capture->step.kind) {
	case GT_BUNDLE_STEP_launch:
		return gt_capture_add_launch(capture, err);
	case GT_BUNDLE_STEP_copy:
		return gt_capture_add_copy(capture, err);
	case GT_BUNDLE_STEP_fill:
		return gt_capture_add_fill(capture, err);
	case GT_BUNDLE_STEP_record:
	case GT_BUNDLE_STEP_wait:
	case GT_BUNDLE_STEP_host_wait:
		break;
	}
	return 0;
}

static int add_step(struct gt_launch_capture *capture, struct gt_error *err)
{
	int result = gt_capture_wait_for_device(capture, "the GPU failed before it", err);

	/* Else what the step is told by may be gone. */
	if (result == 0)
		result = gt_capture_check_wanted(capture, err);
	if (result == 0 && capture->writer.folder < 0)
		result = begin(capture, err);
	/* Before all of a graph it was looked for: nothing comes between its nodes. */
	if (result == 0 && !capture->step.graph)
		result = gt_capture_keep_host_writes(capture, capture->step.stream, err);
	if (result < 0)
		return result;
	gt_reach_step(&capture->reach, capture->lists.step_count);
	result = add_work(capture, err);
	if (capture->reach.reused)
		result = gt_capture_check_reused(capture, err);
	if (result == 0)
		result = gt_capture_keep_new(capture, err);
	if (result == 0)
		result = gt_capture_add_step(&capture->lists, &capture->step, err);
	return result < 0 ? result : 0;
}

int gt_capture_before(struct gt_launch_capture *capture, struct gt_error *err)
{
	const int result = add_step(capture, err);

	if (result < 0)
		gt_capture_drop(capture);
	return explain(capture, result, err);
}

void gt_capture_drop(struct gt_launch_capture *capture)
{
	if (capture->writer.folder >= 0)
		gt_bundle_writer_drop(&capture->writer);
	gt_capture_close_image(capture);
	gt_capture_lists_empty(&capture->lists);
	gt_host_writes_empty(&capture->host_writes);
	gt_segments_empty(&capture->segments);
}

/* ---- memory that is freed ---- */

static uint32_t last_stream(const struct gt_capture_lists *lists)
{
	for (uint32_t i = lists->step_count; i > 0; i--)
		if (gt_capture_is_work(lists->steps[i - 1].kind))
			return lists->steps[i - 1].stream;
	return 0;
}

static bool is_in(const struct gt_reached *memory, const struct gt_freed *freed)
{
	return freed->address >= memory->address ? freed->address - memory->address < memory->size
	                                         : memory->address - freed->address < freed->bytes;
}

bool gt_capture_uses(const struct gt_launch_capture *capture, const struct gt_freed *freed)
{
	for (uint32_t i = 0; capture->writer.folder >= 0 && i < capture->reach.count; i++)
		if (!capture->reach.memory[i].gone && is_in(&capture->reach.memory[i], freed))
			return true;
	return false;
}

int gt_capture_free(struct gt_launch_capture *capture, struct gt_error *err)
{
	struct gt_reach *reach = &capture->reach;
	int result = gt_capture_wait_for_device(capture, "the GPU failed in it", err);

	if (result == 0)
		result = gt_capture_keep_host_writes(capture, last_stream(&capture->lists), err);
	if (result == 0)
		result = gt_capture_keep_new(capture, err);
	for (uint32_t i = 0; i < reach->count && result == 0; i++) {
		if (reach->memory[i].gone || !is_in(&reach->memory[i], &capture->freed))
			continue;
		result = gt_capture_keep_memory(capture, i, false, err);
		gt_reach_free(reach, i);
	}
	return result;
}

/* ---- the end ---- */

static int end(struct gt_launch_capture *capture, struct gt_error *err)
{
	int result = gt_capture_wait_for_device(capture, "the GPU failed in it", err);

	if (result == 0)
		result = gt_capture_keep_host_writes(capture, last_stream(&capture->lists), err);
	if (result == 0)
		result = gt_capture_keep_new(capture, err);
	if (result == 0)
		result = gt_capture_keep_after(capture, err);
	if (result < 0)
		return result;
	gt_segments_end(&capture->reach, &capture->objects);
	gt_capture_write_document(capture);
	capture->bytes = capture->writer.bytes;
	return gt_bundle_writer_close(&capture->writer, err);
}

int gt_capture_after(struct gt_launch_capture *capture, struct gt_error *err)
{
	const int result = end(capture, err);

	gt_capture_drop(capture);
	return explain(capture, result, err);
}

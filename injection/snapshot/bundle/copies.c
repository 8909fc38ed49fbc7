/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/bundle/copies.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/error.h"
#include "injection/callers/asked_memory.h"
#include "injection/snapshot/bundle/capture.h"
#include "injection/snapshot/bundle/contents.h"
#include "injection/snapshot/bundle/driver_memory.h"

/* Pinned memory may be mapped so that the system does not read it. */
static int read_pinned(const struct gt_launch_capture *capture, uint64_t address, uint8_t *to,
                       size_t size, struct gt_error *err)
{
	const CUresult code = capture->driver->copy((CUdeviceptr)(uintptr_t)to, address, size);

	return gt_capture_driver_check(capture->driver, code,
	                               "pinned memory that is copied cannot be read", err);
}

enum side_kind { SIDE_HOST, SIDE_PINNED, SIDE_MEMORY };

/* Nobody is known to have asked for the memory, as nobody does for a module's. */
static bool is_unasked(const struct gt_launch_capture *capture, uint64_t address)
{
	const struct gt_asked_memory *asked = gt_asked_memory_of(capture->session);
	uintptr_t words[GT_ASKED_WORDS];

	return !asked || !gt_asked_memory_find(asked, address, words);
}

/* One end of a copy or fill; what is the GPU's is among the memory then. */
static int find_side(struct gt_launch_capture *capture, uint64_t address, bool is_fill,
                     enum side_kind *side, struct gt_error *err)
{
	struct gt_reach *reach = &capture->reach;
	const uint32_t known = gt_reach_find(reach, address);
	struct gt_reached found = {.name = ""};

	if (known != GT_REACH_NONE) {
		const bool pinned = reach->memory[known].kind == GT_BUNDLE_MEMORY_host;

		*side = pinned && !is_fill ? SIDE_PINNED : SIDE_MEMORY;
		return 0;
	}
	*side = SIDE_HOST;
	switch (gt_capture_ask_driver(capture, address, &found, err)) {
	case GT_REACH_NOTHING:
		return 0;
	case GT_REACH_REFUSED:
		return -err->code;
	case GT_REACH_FOUND:
		break;
	}
	*side = SIDE_PINNED;
	if (found.kind == GT_BUNDLE_MEMORY_host && !is_fill)
		return 0;
	*side = SIDE_MEMORY;
	found.unasked = found.kind == GT_BUNDLE_MEMORY_device && is_unasked(capture, found.address);
	if (!gt_reach_add(reach, &found))
		return reach->reused
		               ? 0
		               : gt_fail(err, ENOTSUP,
		                         "memory at 0x%" PRIx64 " overlaps other memory of it",
		                         address);
	return 0;
}

/* One end of a copy or fill: slices of rows. */
struct side {
	uint64_t address;
	uint64_t pitch;
	uint64_t slice_pitch;
};

static struct side side_to(const struct gt_capture_step *step)
{
	return (struct side){step->to, step->to_pitch, step->to_slice_pitch};
}

static struct side side_from(const struct gt_capture_step *step)
{
	return (struct side){step->from, step->from_pitch, step->from_slice_pitch};
}

/* Whether so many pieces, each so far behind the one before, lie in what is left; which it becomes.
 */
static bool fit(uint64_t count, uint64_t size, uint64_t pitch, uint64_t *left)
{
	if (size > *left || (count > 1 && (pitch < size || (*left - size) / pitch < count - 1)))
		return false;
	*left -= size + (count > 1 ? (count - 1) * pitch : 0);
	return true;
}

/* Rows have to lie inside of one memory, slices one behind the other. */
static int check_rows(const struct gt_launch_capture *capture, struct side side,
                      struct gt_error *err)
{
	const struct gt_capture_step *step = &capture->step;
	const uint32_t number = gt_reach_find(&capture->reach, side.address);
	uint64_t most = 0;
	uint64_t left;

	if (number != GT_REACH_NONE)
		most = capture->reach.memory[number].address + capture->reach.memory[number].size -
		       side.address;
	left = most;
	if (!fit(step->rows, step->bytes, side.pitch, &left) ||
	    (step->slices > 1 && (side.pitch == 0 || side.slice_pitch / side.pitch < step->rows ||
	                          left / side.slice_pitch < step->slices - 1)))
		return gt_fail(err, ENOTSUP, "a copy or fill goes beyond the memory at 0x%" PRIx64,
		               side.address);
	return 0;
}

enum { MOST_PARTS = 64 };

/* Pieces of the program's memory, which become one. */
struct parts {
	struct iovec list[MOST_PARTS];
	size_t count;
	size_t bytes;
};

static int read_parts(const struct gt_launch_capture *capture, const struct parts *parts,
                      bool is_pinned, uint8_t *to, struct gt_error *err)
{
	const struct iovec into = {to, parts->bytes};
	size_t used = 0;
	int result = 0;

	if (process_vm_readv(getpid(), &into, 1, parts->list, parts->count, 0) ==
	    (ssize_t)parts->bytes)
		return 0;
	if (!is_pinned)
		return gt_fail(err, ENOTSUP,
		               "a copy uses memory that neither the driver tells of nor the host "
		               "can read, at 0x%" PRIx64,
		               (uint64_t)(uintptr_t)parts->list[0].iov_base);
	for (size_t i = 0; i < parts->count && result == 0; i++) {
		result = read_pinned(capture, (uintptr_t)parts->list[i].iov_base, to + used,
		                     parts->list[i].iov_len, err);
		used += parts->list[i].iov_len;
	}
	return result;
}

/* Reads a copy's bytes from the host, row after row, from an offset on. */
static int read_rows(struct gt_launch_capture *capture, bool is_pinned, uint64_t offset,
                     size_t size, struct gt_error *err)
{
	const struct gt_capture_step *step = &capture->step;
	struct parts parts = {.count = 0};
	size_t done = 0;
	int result = 0;

	while (done + parts.bytes < size && result == 0) {
		const uint64_t at = offset + done + parts.bytes;
		const uint64_t row = at / step->bytes;
		const uint64_t left = step->bytes - at % step->bytes;
		const size_t rest = size - done - parts.bytes;

		parts.list[parts.count++] = (struct iovec){
			/* NOLINTNEXTLINE(performance-no-int-to-ptr): the program's address */
			(void *)(uintptr_t)(step->from + at % step->bytes +
		                            row % step->rows * step->from_pitch +
		                            row / step->rows * step->from_slice_pitch),
			left < rest ? (size_t)left : rest};
		parts.bytes += parts.list[parts.count - 1].iov_len;
		if (parts.count < MOST_PARTS && done + parts.bytes < size)
			continue;
		result = read_parts(capture, &parts, is_pinned, capture->staging + done, err);
		done += parts.bytes;
		parts.count = parts.bytes = 0;
	}
	return result;
}

/* In all that a copy brings, where that is little. */
void gt_capture_look_for_handles(struct gt_launch_capture *capture, const uint8_t *bytes,
                                 uint64_t size)
{
	const struct gt_bundle_handle first = {.memory = UINT32_MAX,
	                                       .step = capture->lists.step_count};

	if (size <= GT_CAPTURE_SCANNED)
		gt_capture_objects_scan(&capture->objects, &first, bytes, size);
}

/* A copy's bytes from the host, which may hold pointers. */
static int keep_copied(struct gt_launch_capture *capture, enum side_kind side, struct gt_error *err)
{
	struct gt_capture_step *step = &capture->step;
	const uint64_t bytes = step->bytes * step->rows * (step->slices > 1 ? step->slices : 1);
	int result = gt_bundle_blob_begin(&capture->writer, bytes, err);

	for (uint64_t offset = 0; result == 0 && offset < bytes;) {
		const uint64_t rest = bytes - offset;
		const size_t size = rest < GT_CAPTURE_STAGING ? (size_t)rest : GT_CAPTURE_STAGING;

		result = gt_capture_check_wanted(capture, err);
		if (result == 0)
			result = read_rows(capture, side == SIDE_PINNED, offset, size, err);
		if (result == 0) {
			gt_reach_brought(&capture->reach, offset, capture->staging, size);
			gt_capture_look_for_handles(capture, capture->staging, bytes);
			result = gt_bundle_blob_append(&capture->writer, capture->staging, size,
			                               err);
		}
		offset += size;
		gt_capture_get_on(capture);
	}
	if (result == 0)
		result = gt_bundle_blob_end(&capture->writer, step->blob, err);
	step->blob_bytes = bytes;
	step->from = step->from_pitch = step->from_slice_pitch = 0;
	return result;
}

/* Wherever the address came from: what is none of the host's is refused. */
static int check_host(const struct gt_launch_capture *capture, uint64_t address,
                      struct gt_error *err)
{
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): the program gave it as an address */
	const struct iovec byte_there = {(void *)(uintptr_t)address, 1};
	const struct parts first = {.list = {byte_there}, .count = 1, .bytes = 1};
	uint8_t byte;

	return read_parts(capture, &first, false, &byte, err);
}

/* A graph is captured before any of it runs: what its kernels write is not there yet. */
static int check_pinned(const struct gt_launch_capture *capture, struct gt_error *err)
{
	const struct gt_capture_step *step = &capture->step;

	if (!step->graph || gt_reach_find(&capture->reach, step->from) == GT_REACH_NONE)
		return 0;
	return gt_fail(err, ENOTSUP,
	               "a copy in a CUDA graph is from pinned memory that kernels reach, at "
	               "0x%" PRIx64,
	               step->from);
}

/*
 * Pinned memory is memory of the bundle where a launch before reaches it, and is written then; what
 * is read of it is what the host has put there, which no step says. 1: the copy is none of the
 * GPU's memory.
 */
int gt_capture_add_copy(struct gt_launch_capture *capture, struct gt_error *err)
{
	struct gt_capture_step *step = &capture->step;
	const bool is_known = gt_reach_find(&capture->reach, step->to) != GT_REACH_NONE;
	enum side_kind from = SIDE_HOST;
	enum side_kind to = SIDE_HOST;
	int result = find_side(capture, step->from, false, &from, err);

	if (result == 0)
		result = find_side(capture, step->to, false, &to, err);
	if (result == 0 && to == SIDE_HOST)
		result = check_host(capture, step->to, err);
	if (result == 0 && from == SIDE_HOST)
		result = check_host(capture, step->from, err);
	if (result == 0 && from == SIDE_MEMORY)
		result = check_rows(capture, side_from(step), err);
	if (result == 0 && from == SIDE_PINNED)
		result = check_pinned(capture, err);
	if (to != SIDE_MEMORY && !is_known)
		step->to = step->to_pitch = step->to_slice_pitch = 0;
	step->pinned = from == SIDE_PINNED || (to == SIDE_PINNED && step->to == 0);
	if (result == 0 && step->to)
		result = check_rows(capture, side_to(step), err);
	if (result < 0 || from == SIDE_MEMORY)
		return result;
	return step->to ? keep_copied(capture, from, err) : 1;
}

int gt_capture_add_fill(struct gt_launch_capture *capture, struct gt_error *err)
{
	const struct gt_capture_step *step = &capture->step;
	enum side_kind side = SIDE_HOST;
	const int result = find_side(capture, step->to, true, &side, err);

	if (result < 0)
		return result;
	if (side != SIDE_MEMORY)
		return gt_fail(
			err, ENOTSUP,
			"a fill is of memory that the driver does not tell of, at 0x%" PRIx64,
			step->to);
	return check_rows(capture, side_to(step), err);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/device_events/rings.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "format/arena/device_ring.h"
#include "include/gputrace/device_layout.h"
#include "injection/device_events/clock.h"
#include "injection/device_events/host_side.h"
#include "injection/driver/device_driver.h"
#include "injection/session/services.h"

#define LEAST_BYTES (UINT64_C(1) << 20)
#define MAKE_NS     300000000u /* that the GPU has for what makes a ring */

static size_t host_bytes(const struct gt_device_ring *ring)
{
	return sizeof(struct gt_device_host) + ring->chunk_count * sizeof(uint32_t);
}

static size_t seen_bytes(const struct gt_device_ring *ring)
{
	return ring->chunk_count * sizeof(struct gt_device_seen);
}

/* The greatest power of two that fits. */
static uint32_t chunks_in(uint64_t bytes)
{
	uint32_t count = 1;

	while ((uint64_t)count * 2 * GPUTRACE_DEVICE_CHUNK_BYTES <= bytes)
		count *= 2;
	return count;
}

/* Whose the memory is that the program's process has now. */
static void emit_made(const struct gt_device_ring *ring)
{
	struct gt_record_device_ring *record =
		gt_emit_begin(ring->session, GT_RECORD_device_ring, sizeof(*record));

	if (!record)
		return;
	*record = (struct gt_record_device_ring){
		.context = ring->context,
		.made_ns = gt_stamp(),
		.chunk_count = ring->chunk_count,
		.flags = ring->flags,
	};
	gt_emit_commit();
}

/* Half of it, and again, where there is not as much left. */
static int take_device_memory(struct gt_device_ring *ring, uint64_t wanted_bytes,
                              struct gt_error *err)
{
	const uint64_t chunk = GPUTRACE_DEVICE_CHUNK_BYTES;
	CUresult code;

	ring->chunk_count = chunks_in(wanted_bytes);
	while ((code = ring->driver->memory_alloc(&ring->memory,
	                                          gt_device_ring_bytes(ring->chunk_count))) ==
	               CUDA_ERROR_OUT_OF_MEMORY &&
	       ring->chunk_count / 2 * chunk >= LEAST_BYTES)
		ring->chunk_count /= 2;
	if (code != CUDA_SUCCESS)
		return gt_device_ring_check(ring, code, "no device events: memory on the GPU", err);
	emit_made(ring);
	ring->address = (ring->memory + chunk - 1) / chunk * chunk;
	ring->chunks = ring->address + chunk;
	ring->states = ring->chunks + ring->chunk_count * chunk;
	return 0;
}

static int take_host_memory(struct gt_device_ring *ring, struct gt_error *err)
{
	void *memory = NULL;
	CUdeviceptr address = 0;
	CUresult code = ring->driver->host_alloc(
		&memory, host_bytes(ring), CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);

	if (code == CUDA_SUCCESS) {
		ring->host = memory;
		code = ring->driver->host_address(&address, memory, 0);
	}
	if (code != CUDA_SUCCESS)
		return gt_device_ring_check(ring, code, "no device events: memory of the host",
		                            err);
	ring->host_address = address;
	memory = mmap(NULL, seen_bytes(ring), PROT_READ | PROT_WRITE,
	              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return gt_fail(err, ENOMEM, "no device events: memory of the host");
	ring->seen = memory;
	return 0;
}

static int make_streams(struct gt_device_ring *ring, struct gt_error *err)
{
	CUresult code = ring->driver->stream_create(&ring->copying, CU_STREAM_NON_BLOCKING);

	if (code == CUDA_SUCCESS)
		code = ring->driver->stream_create(&ring->timing, CU_STREAM_NON_BLOCKING);
	return gt_device_ring_check(ring, code, "no device events: streams", err);
}

/* All is zero, but for what says where the chunks are. */
static int fill(struct gt_device_ring *ring, struct gt_error *err)
{
	const struct gputrace_device_ring first = {
		.version = GPUTRACE_DEVICE_VERSION,
		.flags = ring->flags,
		.chunks = ring->chunks,
		.states = ring->states,
		.chunk_count = ring->chunk_count,
		.next = ring->chunk_count, /* no ticket is 0 then */
	};
	const size_t bytes = gt_device_ring_bytes(ring->chunk_count) - GPUTRACE_DEVICE_CHUNK_BYTES;
	CUresult code = ring->driver->set_bytes(ring->address, 0, bytes, ring->copying);
	int result;

	ring->next = first.next;
	memcpy(ring->host->ring, &first, sizeof(first));
	ring->host->address = ring->address;
	if (code == CUDA_SUCCESS)
		code = ring->driver->copy_in(ring->address, ring->host->ring, sizeof(first),
		                             ring->copying);
	if (code != CUDA_SUCCESS)
		return gt_device_ring_check(ring, code, "no device events: filling the ring", err);
	/* Later work on the stream comes after it: it need not have ended. */
	result = gt_device_ring_finish(ring, ring->copying, MAKE_NS, err);
	ring->is_under_way = result == -EAGAIN;
	return ring->is_under_way ? 0 : result;
}

void gt_device_ring_leave(struct gt_session *session, uint32_t context)
{
	struct gt_record_device_ring *record =
		gt_emit_begin(session, GT_RECORD_device_ring, sizeof(*record));

	if (!record)
		return;
	*record = (struct gt_record_device_ring){.context = context, .gone_ns = gt_stamp()};
	gt_emit_commit();
}

void gt_device_ring_release(struct gt_device_ring *ring)
{
	if (ring->seen)
		(void)munmap(ring->seen, seen_bytes(ring));
	ring->seen = NULL;
}

/* The program goes on without it: so it has its memory. */
static void give_back(struct gt_device_ring *ring)
{
	const struct gt_device_driver *driver = ring->driver;

	if (ring->timing)
		(void)driver->stream_destroy(ring->timing);
	if (ring->copying)
		(void)driver->stream_destroy(ring->copying);
	if (ring->host)
		(void)driver->host_free(ring->host);
	if (ring->memory && driver->memory_free(ring->memory) == CUDA_SUCCESS)
		gt_device_ring_leave(ring->session, ring->context);
	gt_device_ring_release(ring);
	ring->timing = ring->copying = NULL;
	ring->host = NULL;
	ring->memory = ring->address = 0;
}

int gt_device_ring_make(struct gt_device_ring *ring, uint64_t wanted_bytes, bool overwrites,
                        struct gt_error *err)
{
	int result;

	ring->flags = overwrites ? GPUTRACE_DEVICE_OVERWRITE : 0;
	result = take_device_memory(ring, wanted_bytes, err);
	if (result == 0)
		result = take_host_memory(ring, err);
	if (result == 0)
		result = make_streams(ring, err);
	if (result == 0)
		result = fill(ring, err);
	if (result == 0)
		gt_device_ring_load_time_kernel(ring);
	else
		give_back(ring);
	return result;
}

int gt_device_ring_attach(struct gt_device_ring *ring, uint64_t variable, struct gt_error *err)
{
	const CUresult code = ring->driver->copy_in(variable, &ring->host->address,
	                                            sizeof(ring->host->address), ring->copying);

	if (code != CUDA_SUCCESS)
		return gt_device_ring_check(ring, code, "a module's variable for device events",
		                            err);
	return gt_device_ring_finish(ring, ring->copying, MAKE_NS, err);
}

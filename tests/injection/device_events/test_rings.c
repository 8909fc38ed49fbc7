/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "include/gputrace/device_layout.h"
#include "injection/device_events/clock.h"
#include "injection/device_events/copying.h"
#include "injection/device_events/rings.h"
#include "injection/driver/device_driver.h"
#include "injection/recorder.h"

/* A ring whose GPU is the test: memory is the host's, copies are made at once. */

static struct recorder recorder;
static struct gt_device_ring ring;
static struct gputrace_device_ring *made; /* on the "GPU" */
static struct gt_error err;

static struct {
	size_t most_bytes;
	bool hangs;
	int taken;    /* things that are there */
	int fails_at; /* the so many-th call to take or fill one */
} gpu;

static bool fails(void)
{
	return gpu.fails_at && --gpu.fails_at == 0;
}

static CUresult name_error(CUresult code, const char **text)
{
	(void)code;
	*text = "CUDA_ERROR_OF_THE_TEST";
	return CUDA_SUCCESS;
}

static CUresult take_memory(CUdeviceptr *address, size_t bytes)
{
	if (gpu.most_bytes && bytes > gpu.most_bytes)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (fails())
		return CUDA_ERROR_UNKNOWN;
	gpu.taken++;
	*address = (CUdeviceptr)(uintptr_t)zeroed(bytes);
	memset((void *)(uintptr_t)*address, 0xee, bytes);
	return CUDA_SUCCESS;
}

static CUresult take_host_memory(void **address, size_t bytes, unsigned flags)
{
	(void)flags;
	if (fails())
		return CUDA_ERROR_UNKNOWN;
	gpu.taken++;
	*address = zeroed(bytes);
	return CUDA_SUCCESS;
}

static CUresult free_memory(CUdeviceptr address)
{
	gpu.taken--;
	free((void *)(uintptr_t)address);
	return CUDA_SUCCESS;
}

static CUresult free_host_memory(void *address)
{
	gpu.taken--;
	free(address);
	return CUDA_SUCCESS;
}

static CUresult end_stream(CUstream stream)
{
	cr_expect(eq(ptr, stream, (CUstream)0x10));
	gpu.taken--;
	return CUDA_SUCCESS;
}

static CUresult same_address(CUdeviceptr *address, void *host, unsigned flags)
{
	(void)flags;
	if (fails())
		return CUDA_ERROR_UNKNOWN;
	*address = (CUdeviceptr)(uintptr_t)host;
	return CUDA_SUCCESS;
}

static CUresult make_stream(CUstream *stream, unsigned flags)
{
	(void)flags;
	if (fails())
		return CUDA_ERROR_UNKNOWN;
	gpu.taken++;
	*stream = (CUstream)0x10;
	return CUDA_SUCCESS;
}

static CUresult query(CUstream stream)
{
	(void)stream;
	return gpu.hangs ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

static CUresult copy_in(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
	(void)stream;
	memcpy((void *)(uintptr_t)to, from, bytes);
	return CUDA_SUCCESS;
}

static CUresult copy_out(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	(void)stream;
	memcpy(to, (const void *)(uintptr_t)from, bytes);
	return CUDA_SUCCESS;
}

static CUresult set_bytes(CUdeviceptr to, unsigned char value, size_t count, CUstream stream)
{
	(void)stream;
	if (fails())
		return CUDA_ERROR_UNKNOWN;
	memset((void *)(uintptr_t)to, value, count);
	return CUDA_SUCCESS;
}

static CUresult load_module(CUmodule *module, const void *image)
{
	(void)module;
	(void)image;
	return CUDA_ERROR_INVALID_PTX;
}

static const struct gt_device_driver driver = {
	.error_name = name_error,
	.memory_alloc = take_memory,
	.memory_free = free_memory,
	.host_alloc = take_host_memory,
	.host_free = free_host_memory,
	.host_address = same_address,
	.stream_create = make_stream,
	.stream_destroy = end_stream,
	.stream_query = query,
	.copy_in = copy_in,
	.copy_out = copy_out,
	.set_bytes = set_bytes,
	.module_load = load_module,
};

static int make(uint64_t bytes, bool overwrites)
{
	int result;

	recorder_init(&recorder);
	atomic_store(&recorder.session->phase, GT_SESSION_RECORDING);
	ring.session = recorder.session;
	ring.driver = &driver;
	ring.context = 3;
	result = gt_device_ring_make(&ring, bytes, overwrites, &err);
	made = (struct gputrace_device_ring *)(uintptr_t)ring.address;
	return result;
}

static struct gputrace_device_chunk *chunk_at(uint64_t ticket)
{
	return (struct gputrace_device_chunk *)(uintptr_t)made->chunks + ticket % made->chunk_count;
}

static uint32_t *state_at(uint64_t ticket)
{
	return (uint32_t *)(uintptr_t)made->states + ticket % made->chunk_count;
}

/* As a kernel would: the chunk of the next ticket with so many events, open or closed. */
static uint64_t put(uint32_t count, bool closes)
{
	const uint64_t ticket = made->next++;
	struct gputrace_device_chunk *chunk = chunk_at(ticket);

	chunk->globaltimer = 1000 + ticket;
	chunk->ticket = ticket;
	chunk->blocks = 1;
	chunk->threads = 32;
	for (uint32_t i = 0; i < count; i++)
		chunk->events[i] = (struct gputrace_device_event){
			.clock = i, .tag = GPUTRACE_DEVICE_TAG(7, GPUTRACE_DEVICE_MARK)};
	*state_at(ticket) = closes ? GPUTRACE_DEVICE_CLOSED | count << GPUTRACE_DEVICE_STATE_BITS
	                           : GPUTRACE_DEVICE_OPEN;
	return ticket;
}

static uint64_t recorded(void)
{
	return recorder_count(&recorder, GT_LEDGER_device_events);
}

static void look(bool last)
{
	cr_assert(eq(int, gt_device_ring_copy(&ring, last, &err), 0));
}

Test(device_rings, are_made_empty_and_say_where_their_chunks_are)
{
	cr_assert(eq(int, make(1 << 20, false), 0));
	cr_expect(eq(u32, made->version, GPUTRACE_DEVICE_VERSION));
	cr_expect(eq(u32, made->chunk_count, 2048));
	cr_expect(eq(u64, made->next, 2048));
	cr_expect(eq(u64, made->chunks % GPUTRACE_DEVICE_CHUNK_BYTES, 0));
	for (uint32_t i = 0; i < made->chunk_count; i++) {
		cr_assert(eq(u32, *state_at(i), GPUTRACE_DEVICE_FREE));
		cr_assert(eq(u32, chunk_at(i)->events[27].tag, 0));
	}
}

Test(device_rings, are_smaller_where_there_is_less_memory)
{
	gpu.most_bytes = 3 << 20;
	cr_assert(eq(int, make(16 << 20, false), 0));
	cr_expect(eq(u32, made->chunk_count, 4096));
}

Test(device_rings, are_not_made_of_less_than_a_megabyte)
{
	gpu.most_bytes = 1 << 20;
	cr_expect(lt(int, make(16 << 20, false), 0));
	cr_expect(ne(ptr, strstr(err.text, "memory on the GPU"), NULL));
}

Test(device_rings, give_closed_chunks_back_empty)
{
	uint64_t ticket;

	cr_assert(eq(int, make(1 << 20, false), 0));
	ticket = put(28, true);
	(void)put(5, true);
	look(false);
	cr_expect(eq(u64, recorded(), 33));
	cr_expect(eq(u32, *state_at(ticket), GPUTRACE_DEVICE_FREE));
	cr_expect(eq(u32, chunk_at(ticket)->events[0].tag, 0));
	cr_expect(eq(u64, chunk_at(ticket)->ticket, 0));
	look(true);
	cr_expect(eq(u64, recorded(), 33));
}

Test(device_rings, take_of_open_chunks_what_is_new)
{
	uint64_t ticket;

	cr_assert(eq(int, make(1 << 20, false), 0));
	ticket = put(3, false);
	look(false); /* seen; its header may not have been there yet */
	cr_expect(eq(u64, recorded(), 0));
	look(false);
	cr_expect(eq(u64, recorded(), 3));
	chunk_at(ticket)->events[3].tag = GPUTRACE_DEVICE_TAG(7, GPUTRACE_DEVICE_MARK);
	look(false);
	cr_expect(eq(u64, recorded(), 4));
	*state_at(ticket) = GPUTRACE_DEVICE_CLOSED | 4 << GPUTRACE_DEVICE_STATE_BITS;
	look(false);
	cr_expect(eq(u64, recorded(), 4));
	cr_expect(eq(u32, *state_at(ticket), GPUTRACE_DEVICE_FREE));
}

Test(device_rings, take_all_at_the_end)
{
	cr_assert(eq(int, make(1 << 20, false), 0));
	(void)put(3, false);
	look(true);
	cr_expect(eq(u64, recorded(), 3));
}

Test(device_rings, that_overwrite_are_read_at_the_end_and_never_written)
{
	uint64_t ticket;

	cr_assert(eq(int, make(1 << 20, true), 0));
	ticket = put(28, true);
	look(false);
	cr_expect(eq(u64, recorded(), 0));
	made->overwritten = 28;
	look(true);
	look(true);
	cr_expect(eq(u64, recorded(), 28));
	cr_expect(ne(u32, *state_at(ticket), GPUTRACE_DEVICE_FREE));
	cr_expect(eq(u64, recorder_count(&recorder, GT_LEDGER_device_events_lost), 28));
}

Test(device_rings, leave_out_and_count_what_makes_no_sense)
{
	uint64_t ticket;

	cr_assert(eq(int, make(1 << 20, false), 0));
	ticket = put(4, true);
	chunk_at(ticket)->ticket++;
	(void)put(2, true);
	look(false);
	cr_expect(eq(u64, recorded(), 2));
	cr_expect(eq(u64, recorder_count(&recorder, GT_LEDGER_device_events_broken), 1));
	cr_expect(eq(u32, *state_at(ticket), GPUTRACE_DEVICE_FREE));
}

Test(device_rings, do_not_wait_for_a_gpu_that_does_not_answer)
{
	cr_assert(eq(int, make(1 << 20, false), 0));
	(void)put(28, true);
	gpu.hangs = true;
	cr_expect(eq(int, gt_device_ring_copy(&ring, false, &err), -EAGAIN));
	cr_expect(eq(int, gt_device_ring_copy(&ring, false, &err), -EAGAIN));
	gpu.hangs = false;
	look(false);
	cr_expect(eq(u64, recorded(), 28));
}

Test(device_rings, count_each_loss_once)
{
	cr_assert(eq(int, make(1 << 20, false), 0));
	made->lost = 64;
	look(false);
	look(false);
	made->lost = 70;
	look(false);
	cr_expect(eq(u64, recorder_count(&recorder, GT_LEDGER_device_events_lost), 70));
}

Test(device_rings, set_variables_to_their_address)
{
	uint64_t variable = 0;

	cr_assert(eq(int, make(1 << 20, false), 0));
	cr_assert(eq(int, gt_device_ring_attach(&ring, (uintptr_t)&variable, &err), 0));
	cr_expect(eq(u64, variable, ring.address));
}

/* The last record of what became of the ring. */
static struct gt_record_device_ring told(void)
{
	struct gt_record_device_ring last;
	struct gt_record_device_ring *rows;
	size_t count;

	recorder_drain(&recorder);
	rows = recorder_records(&recorder, GT_RECORD_device_ring, &count);
	cr_assert(gt(sz, count, 0));
	last = rows[count - 1];
	free(rows);
	return last;
}

Test(device_rings, tell_what_became_of_events)
{
	struct gt_record_device_ring last;

	cr_assert(eq(int, make(1 << 20, false), 0));
	(void)put(28, true);
	(void)put(5, true);
	made->lost = 64;
	made->overwritten = 2;
	look(true);
	last = told();
	cr_expect(eq(u32, last.context, 3));
	cr_expect(eq(u64, last.written, 33));
	cr_expect(eq(u64, last.lost, 64));
	cr_expect(eq(u64, last.overwritten, 2));
	cr_expect(eq(u64, last.chunks, 2));
	cr_expect(eq(u32, last.chunk_count, 2048));
}

/* Records of the program come first: events that find no room for so long are lost. */
Test(device_rings, tell_what_the_recording_had_no_room_for)
{
	struct gt_record_device_ring last;

	cr_assert(eq(int, make(1 << 20, false), 0));
	while (gt_arena_take(recorder.arena, GT_SLOT_RECORDS))
		;
	(void)put(28, true);
	made->lost = 64;
	look(true);
	cr_expect(eq(u64, recorded(), 0));
	cr_expect(eq(u64, recorder_count(&recorder, GT_LEDGER_device_events_lost), 28 + 64));
	last = told();
	cr_expect(eq(u64, last.written, 0));
	cr_expect(eq(u64, last.lost, 28 + 64));
}

Test(device_rings, leave_nothing_where_a_step_fails)
{
	enum { STEPS = 6 }; /* memory, the host's and its address, two streams, filling */
	struct gt_record_device_ring *rows;
	size_t count;

	for (int step = 1; step <= STEPS; step++) {
		gpu.fails_at = step;
		cr_expect(lt(int, make(1 << 20, false), 0), "step %d", step);
		cr_expect(eq(int, gpu.fails_at, 0));
		cr_expect(eq(int, gpu.taken, 0), "step %d", step);
		cr_expect(eq(u64, ring.address, 0));
		cr_expect(eq(ptr, ring.seen, NULL));
		recorder_drain(&recorder);
		rows = recorder_records(&recorder, GT_RECORD_device_ring, &count);
		cr_assert(eq(sz, count, step == 1 ? 0 : 2));
		cr_expect(not(count && rows[1].gone_ns == 0));
		free(rows);
		gt_emit_forget();
	}
	cr_expect(eq(int, make(1 << 20, false), 0));
	cr_expect(eq(int, gpu.taken, 4));
}

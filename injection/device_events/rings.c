/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/device_events/rings.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/error.h"
#include "format/arena/device_ring.h"
#include "include/gputrace/device_layout.h"
#include "injection/driver/device_driver.h"
#include "injection/session/services.h"

#define LEAST_BYTES   (UINT64_C(1) << 20)
#define MAKE_NS       300000000u  /* that the GPU has for what makes a ring */
#define COPY_NS       200000000u  /* for a copy, before it is given up */
#define PROBE_NS      100000u     /* for one that was given up before */
#define TIMES_NS      50000000u   /* for the last kernels for the clock */
#define ROOM_NS       1000000000u /* that the writer has to make room */
#define NAP_NS        20000
#define WINDOW        512 /* chunks that are copied at once */
#define GAP           8   /* free ones that are copied with others, as that takes no copy more */
#define LOOK_AT_LEAST 16  /* quiet times after which all is looked at */

struct gt_device_seen {
	uint64_t ticket;
	uint8_t taken; /* events */
	bool known;    /* the chunk was seen with this ticket */
};

/* Readings that a kernel for the clock leaves: see time_kernel. */
struct time_slot {
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t step_ns; /* all bits: it went on by nothing */
	uint64_t padding;
};

struct gt_device_host {
	uint8_t ring[sizeof(struct gputrace_device_ring)];
	uint64_t address; /* what variables are set to */
	uint64_t padding[7];
	struct time_slot times[GT_DEVICE_TIMES];
	uint8_t window[WINDOW * GPUTRACE_DEVICE_CHUNK_BYTES];
	uint32_t states[]; /* as many as the ring has */
};

/*
 * Reads %globaltimer first of all and last of all, and in between until it has gone on eight times:
 * what it goes on by is the least of these steps.
 */
static const char time_kernel[] =
	".version 6.0\n"
	".target sm_70\n"
	".address_size 64\n"
	".visible .entry gputrace_device_time(.param .u64 out)\n"
	"{\n"
	"	.reg .u64 %first, %before, %now, %step, %gone, %last, %out;\n"
	"	.reg .u32 %left, %seen;\n"
	"	.reg .pred %same, %more;\n"
	"	mov.u64 %first, %globaltimer;\n"
	"	ld.param.u64 %out, [out];\n"
	"	mov.u64 %before, %first;\n"
	"	mov.u64 %step, -1;\n"
	"	mov.u32 %left, 4096;\n"
	"	mov.u32 %seen, 0;\n"
	"AGAIN:\n"
	"	mov.u64 %now, %globaltimer;\n"
	"	sub.u64 %gone, %now, %before;\n"
	"	setp.eq.u64 %same, %gone, 0;\n"
	"	@%same bra NEXT;\n"
	"	min.u64 %step, %step, %gone;\n"
	"	mov.u64 %before, %now;\n"
	"	add.u32 %seen, %seen, 1;\n"
	"NEXT:\n"
	"	sub.u32 %left, %left, 1;\n"
	"	setp.ne.u32 %more, %left, 0;\n"
	"	setp.lt.and.u32 %more, %seen, 8, %more;\n"
	"	@%more bra AGAIN;\n"
	"	st.global.u64 [%out], %first;\n"
	"	st.global.u64 [%out+16], %step;\n"
	"	mov.u64 %last, %globaltimer;\n"
	"	st.global.u64 [%out+8], %last;\n"
	"	ret;\n"
	"}\n";

static int check(const struct gt_device_ring *ring, CUresult code, const char *what,
                 struct gt_error *err)
{
	return gt_device_driver_check(ring->driver, code, what, err);
}

static void nap(void)
{
	const struct timespec time = {0, NAP_NS};

	(void)nanosleep(&time, NULL);
}

/* Until the stream has done all; 0, -EAGAIN when the time is over before, or what failed. */
static int finish(const struct gt_device_ring *ring, CUstream stream, uint64_t limit_ns,
                  struct gt_error *err)
{
	const uint64_t began_ns = gt_now();
	CUresult code;

	while ((code = ring->driver->stream_query(stream)) == CUDA_ERROR_NOT_READY) {
		if (gt_now() - began_ns > limit_ns)
			return gt_fail(err, EAGAIN,
			               "the GPU did not come to a copy of device events in time");
		nap();
	}
	return check(ring, code, "copies of device events", err);
}

/* ---- making one ---- */

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
		return check(ring, code, "no device events: memory on the GPU", err);
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
		return check(ring, code, "no device events: memory of the host", err);
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
	return check(ring, code, "no device events: streams", err);
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
		return check(ring, code, "no device events: filling the ring", err);
	/* Later work on the stream comes after it: it need not have ended. */
	result = finish(ring, ring->copying, MAKE_NS, err);
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

static void load_time_kernel(struct gt_device_ring *ring)
{
	struct gt_error err = {0};
	CUmodule module = NULL;
	CUresult code = ring->driver->module_load(&module, time_kernel);

	if (code == CUDA_SUCCESS)
		code = ring->driver->module_function(&ring->time_kernel, module,
		                                     "gputrace_device_time");
	if (check(ring, code, "the times of device events are not known: a kernel for the clock",
	          &err) == 0)
		return;
	ring->time_kernel = NULL;
	if (module)
		(void)ring->driver->module_unload(module);
	gt_note(ring->session, "device_events", err.text);
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
		load_time_kernel(ring);
	else
		give_back(ring);
	return result;
}

int gt_device_ring_attach(struct gt_device_ring *ring, uint64_t variable, struct gt_error *err)
{
	const CUresult code = ring->driver->copy_in(variable, &ring->host->address,
	                                            sizeof(ring->host->address), ring->copying);

	if (code != CUDA_SUCCESS)
		return check(ring, code, "a module's variable for device events", err);
	return finish(ring, ring->copying, MAKE_NS, err);
}

/* ---- records ---- */

/* Our thread can wait for room, which the program's records are to have before ours. */
static bool wait_for_room(struct gt_session *session)
{
	const uint64_t began_ns = gt_now();

	while (!gt_emit_has_plenty(session)) {
		if (gt_now() - began_ns > ROOM_NS)
			return false;
		nap();
	}
	return true;
}

static void emit_chunk(const struct gt_device_ring *ring, const struct gt_device_chunk *chunk)
{
	struct gt_record_device_chunk *record =
		gt_emit_begin(ring->session, GT_RECORD_device_chunk, sizeof(*record));

	if (!record)
		return;
	*record = (struct gt_record_device_chunk){
		.ticket = chunk->ticket,
		.globaltimer = chunk->globaltimer,
		.clock = chunk->clock,
		.grid_id = chunk->grid_id,
		.lost = chunk->lost,
		.context = ring->context,
		.sm = chunk->sm,
		.part = chunk->part,
		.block = chunk->block,
		.blocks = chunk->blocks,
		.thread = chunk->thread,
		.threads = chunk->threads,
	};
	gt_emit_commit();
}

static void emit_event(const struct gt_device_ring *ring, const struct gt_device_chunk *chunk,
                       uint32_t number)
{
	const struct gt_device_entry entry = gt_device_entry_read(chunk, number);
	struct gt_record_device_event *record =
		gt_emit_begin(ring->session, GT_RECORD_device_event, sizeof(*record));

	if (!record)
		return;
	*record = (struct gt_record_device_event){
		.ticket = chunk->ticket,
		.value = entry.value,
		.context = ring->context,
		.sequence = number,
		.clock = entry.clock,
		.tag = entry.tag,
	};
	gt_emit_commit();
}

static void emit_ring(const struct gt_device_ring *ring)
{
	struct gt_record_device_ring *record =
		gt_emit_begin(ring->session, GT_RECORD_device_ring, sizeof(*record));

	if (!record)
		return;
	*record = (struct gt_record_device_ring){
		.context = ring->context,
		.written = ring->written,
		.lost = ring->lost + ring->dropped,
		.overwritten = ring->overwritten,
		.chunks = ring->next - ring->chunk_count,
		.chunk_count = ring->chunk_count,
		.flags = ring->flags,
	};
	gt_emit_commit();
}

static void record_events(struct gt_device_ring *ring, const struct gt_device_chunk *chunk,
                          uint32_t first)
{
	const uint32_t count = chunk->count - first;

	if (!wait_for_room(ring->session)) {
		ring->dropped += count;
		gt_count(ring->session, GT_LEDGER_device_events_lost, count);
		return;
	}
	emit_chunk(ring, chunk);
	for (uint32_t i = first; i < chunk->count; i++)
		emit_event(ring, chunk, i);
	ring->written += count;
	gt_count(ring->session, GT_LEDGER_device_events, count);
}

/* ---- copying out ---- */

/* An open chunk's header may come after its first event: a chunk seen for the first time waits. */
static void take_filled(struct gt_device_ring *ring, const struct gt_device_chunk *chunk,
                        struct gt_device_seen *seen, bool waits)
{
	if (!seen->known || seen->ticket != chunk->ticket) {
		*seen = (struct gt_device_seen){.ticket = chunk->ticket, .known = true};
		if (waits)
			return;
	}
	if (chunk->count <= seen->taken)
		return;
	record_events(ring, chunk, seen->taken);
	seen->taken = (uint8_t)chunk->count;
}

static void take(struct gt_device_ring *ring, uint32_t number, const uint8_t *bytes, bool last)
{
	const struct gt_device_place place = {
		.number = number,
		.chunk_count = ring->chunk_count,
		.state = ring->host->states[number],
	};
	const bool closed = gt_device_is_closed(place.state);
	struct gt_device_chunk chunk;

	switch (gt_device_chunk_read(bytes, &place, &chunk)) {
	case GT_DEVICE_EMPTY:
		break;
	case GT_DEVICE_FILLED:
		take_filled(ring, &chunk, &ring->seen[number], !closed && !last);
		break;
	case GT_DEVICE_BROKEN:
		/* An open one that is being written may make sense the next time. */
		if (closed || last)
			gt_count(ring->session, GT_LEDGER_device_events_broken, 1);
		break;
	}
	if (closed && !(ring->flags & GPUTRACE_DEVICE_OVERWRITE))
		ring->seen[number].known = false;
	ring->has_open |= gt_device_is_open(place.state);
}

/* Closed chunks that were taken: their bytes are zero before they are free. */
static int free_chunks(const struct gt_device_ring *ring, uint32_t first, uint32_t end,
                       struct gt_error *err)
{
	const uint64_t chunk = GPUTRACE_DEVICE_CHUNK_BYTES;
	CUresult code = ring->driver->set_bytes(ring->chunks + first * chunk, 0,
	                                        (end - first) * chunk, ring->copying);

	if (code == CUDA_SUCCESS)
		code = ring->driver->set_bytes(ring->states + first * sizeof(uint32_t),
		                               GPUTRACE_DEVICE_FREE,
		                               (end - first) * sizeof(uint32_t), ring->copying);
	return check(ring, code, "freeing chunks of device events", err);
}

static int free_closed(const struct gt_device_ring *ring, uint32_t first, uint32_t end,
                       struct gt_error *err)
{
	int result = 0;

	for (uint32_t i = first; i < end && result == 0;) {
		uint32_t after = i;

		while (after < end && gt_device_is_closed(ring->host->states[after]))
			after++;
		if (after > i)
			result = free_chunks(ring, i, after, err);
		i = after + 1;
	}
	return result;
}

static int copy_out(struct gt_device_ring *ring, void *to, uint64_t from, size_t bytes,
                    struct gt_error *err)
{
	const CUresult code = ring->driver->copy_out(to, from, bytes, ring->copying);
	int result = check(ring, code, "copying device events", err);

	if (result == 0)
		result = finish(ring, ring->copying, COPY_NS, err);
	ring->is_under_way = result == -EAGAIN;
	return result;
}

/* Forgets what is in chunks whose state has changed since: they are being written anew. */
static int leave_out_changed(struct gt_device_ring *ring, uint32_t first, uint32_t end,
                             struct gt_error *err)
{
	uint32_t now[WINDOW];
	uint32_t *states = ring->host->states + first;
	const size_t bytes = (end - first) * sizeof(*states);
	int result;

	memcpy(now, states, bytes);
	result = copy_out(ring, states, ring->states + first * sizeof(*states), bytes, err);
	for (uint32_t i = 0; i < end - first; i++)
		if (states[i] != now[i])
			states[i] = GPUTRACE_DEVICE_FREE;
	return result;
}

static int copy_window(struct gt_device_ring *ring, uint32_t first, uint32_t end, bool last,
                       struct gt_error *err)
{
	const bool overwrites = ring->flags & GPUTRACE_DEVICE_OVERWRITE;
	const size_t chunk = GPUTRACE_DEVICE_CHUNK_BYTES;
	int result = copy_out(ring, ring->host->window, ring->chunks + first * (uint64_t)chunk,
	                      (end - first) * chunk, err);

	if (result == 0 && overwrites)
		result = leave_out_changed(ring, first, end, err);
	if (result < 0)
		return result;
	for (uint32_t i = first; i < end; i++)
		take(ring, i, ring->host->window + (i - first) * chunk, last);
	return overwrites ? 0 : free_closed(ring, first, end, err);
}

/* The end of what is copied with the chunk first: not far behind the last that is not free. */
static uint32_t end_of_window(const struct gt_device_ring *ring, uint32_t first)
{
	uint32_t end = first + 1;

	for (uint32_t i = end; i < ring->chunk_count && i - first < WINDOW && i - end <= GAP; i++)
		if (ring->host->states[i] != GPUTRACE_DEVICE_FREE)
			end = i + 1;
	return end;
}

static int copy_chunks(struct gt_device_ring *ring, bool last, struct gt_error *err)
{
	const size_t bytes = ring->chunk_count * sizeof(uint32_t);
	int result = copy_out(ring, ring->host->states, ring->states, bytes, err);

	ring->has_open = false;
	for (uint32_t i = 0; i < ring->chunk_count && result == 0;) {
		uint32_t end = i + 1;

		if (ring->host->states[i] != GPUTRACE_DEVICE_FREE) {
			end = end_of_window(ring, i);
			result = copy_window(ring, i, end, last, err);
		}
		i = end;
	}
	return result;
}

/* Takes the kernels' counts; returns whether they have grown. */
static bool take_counts(struct gt_device_ring *ring)
{
	const struct gt_device_counts counts = gt_device_counts_read(ring->host->ring);
	const uint64_t before = ring->lost + ring->overwritten;
	const uint64_t now = counts.lost + counts.overwritten;
	const bool moved = counts.next != ring->next || now != before;

	if (now > before)
		gt_count(ring->session, GT_LEDGER_device_events_lost, now - before);
	ring->next = counts.next;
	ring->lost = counts.lost;
	ring->overwritten = counts.overwritten;
	return moved;
}

int gt_device_ring_copy(struct gt_device_ring *ring, bool last, struct gt_error *err)
{
	const uint64_t before = ring->written + ring->dropped;
	bool moved;
	int result = 0;

	if (ring->is_under_way) {
		result = finish(ring, ring->copying, last ? COPY_NS : PROBE_NS, err);
		ring->is_under_way = result == -EAGAIN;
	}
	if (result == 0)
		result = copy_out(ring, ring->host->ring, ring->address, sizeof(ring->host->ring),
		                  err);
	if (result < 0)
		return result;
	moved = take_counts(ring);
	ring->quiet = moved || ring->has_open ? 0 : ring->quiet + 1;
	if (last ||
	    (!(ring->flags & GPUTRACE_DEVICE_OVERWRITE) && ring->quiet % LOOK_AT_LEAST == 0))
		result = copy_chunks(ring, last, err);
	ring->has_open |= result < 0; /* or there may be some: what is left is looked at again */
	if (moved || last || ring->written + ring->dropped != before)
		emit_ring(ring);
	return result;
}

/* ---- the clock ---- */

static void emit_time(const struct gt_device_ring *ring, uint32_t number)
{
	const struct time_slot *slot = &ring->host->times[number];
	struct gt_record_device_time *record;

	if (ring->correlations[number] == 0)
		return;
	record = gt_emit_begin(ring->session, GT_RECORD_device_time, sizeof(*record));
	if (!record)
		return;
	*record = (struct gt_record_device_time){
		.first_ns = slot->first_ns,
		.last_ns = slot->last_ns,
		.correlation = ring->correlations[number],
		.context = ring->context,
		.step_ns = slot->step_ns <= UINT32_MAX ? (uint32_t)slot->step_ns : 0,
	};
	gt_emit_commit();
}

static CUresult launch_time(struct gt_device_ring *ring, uint32_t number)
{
	uint64_t address = ring->host_address + offsetof(struct gt_device_host, times) +
	                   number * sizeof(struct time_slot);
	void *arguments[] = {&address};
	CUresult code;

	ring->host->times[number] = (struct time_slot){0};
	gt_own_correlation_forget();
	code = ring->driver->launch(ring->time_kernel, 1, 1, 1, 1, 1, 1, 0, ring->timing, arguments,
	                            NULL);
	ring->correlations[number] = gt_own_correlation();
	/* Where API calls are not recorded nothing else says whose launch it was. */
	if (code == CUDA_SUCCESS && ring->correlations[number] &&
	    gt_settings_of(ring->session)->api == GT_API_SETTING_NONE)
		gt_own_call_enter(ring->session, ring->correlations[number]);
	return code;
}

int gt_device_ring_time(struct gt_device_ring *ring, uint32_t count, struct gt_error *err)
{
	CUresult code = CUDA_SUCCESS;

	if (!ring->time_kernel)
		return 0;
	if (ring->times) {
		code = ring->driver->stream_query(ring->timing);
		if (code == CUDA_ERROR_NOT_READY)
			return 0;
		for (uint32_t i = 0; code == CUDA_SUCCESS && i < ring->times; i++)
			emit_time(ring, i);
		ring->times = 0;
	}
	for (uint32_t i = 0; code == CUDA_SUCCESS && i < count && i < GT_DEVICE_TIMES; i++) {
		code = launch_time(ring, i);
		ring->times += code == CUDA_SUCCESS;
		ring->timed_ns = gt_now();
	}
	if (code != CUDA_SUCCESS)
		ring->time_kernel = NULL;
	return check(ring, code, "a kernel for the clock of device events", err);
}

void gt_device_ring_end_times(struct gt_device_ring *ring)
{
	struct gt_error err = {0};

	if (gt_device_ring_time(ring, 1, &err) == 0 && ring->times &&
	    finish(ring, ring->timing, TIMES_NS, &err) == 0)
		(void)gt_device_ring_time(ring, 0, &err);
}

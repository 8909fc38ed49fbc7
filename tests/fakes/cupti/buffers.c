/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fakes/cupti/state.h"

/*
 * Activity buffers as the real library handles them: a record stands in its buffer from the
 * moment the work is queued, with bit 31 of its kind set and no times, until the times are
 * filled in, which happens late and in batches. A thread of the library's own hands back
 * the buffers: full ones as soon as nothing in them is open, others on a flush.
 */

#define OPEN_BIT     0x80000000u
#define SETTLE_BATCH 512 /* times are filled in after so many new records, or on a flush */
#define RECORD_ALIGN 8

struct buffer {
	uint8_t *bytes;
	size_t size;
	size_t used;
	size_t record_limit; /* 0: as many as fit */
	size_t record_count;
	size_t open_count;
	int full;
	int held_up;    /* while times are filled in: a record in it has not ended */
	int stuck;      /* holds a record that never ends */
	uint64_t owner; /* thread with buffers per thread, 0 without */
	struct buffer *next;
};

/* A record that waits for its times. */
struct pending {
	struct buffer *buffer;
	size_t offset;
	size_t times_offset;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t kernel;     /* its number among all kernels, 0 for other kinds */
	uint64_t late_flush; /* the flush it may be settled at; 0: not decided */
};

static struct {
	pthread_mutex_t lock; /* all below */
	pthread_cond_t wake;  /* something for the worker */
	pthread_cond_t done;  /* a flush was carried out */
	CUpti_BuffersCallbackRequestFunc requested;
	CUpti_BuffersCallbackCompleteFunc completed;
	struct buffer *buffers; /* oldest first */
	struct pending *pending;
	size_t pending_count;
	size_t pending_capacity;
	size_t unsettled; /* records added since times were last filled in */
	uint64_t kernels; /* kernel records so far */
	uint64_t records; /* kernel, copy and fill records so far, for drop= */
	size_t dropped;
	uint64_t added_in_all; /* records in buffers, of every kind */
	uint64_t dropped_in_all;
	uint64_t flushes;
	uint64_t flushes_wanted;
	uint64_t flushes_done;
	int forced;
	int worker;
	int work; /* a full buffer may be ready */
	int promised_zeroed;
	int per_thread;
	uint32_t period_ms;
} state = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.wake = PTHREAD_COND_INITIALIZER,
	.done = PTHREAD_COND_INITIALIZER,
};

static int is_work_of_gpu(uint32_t kind)
{
	return kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ||
	       kind == CUPTI_ACTIVITY_KIND_KERNEL || kind == CUPTI_ACTIVITY_KIND_MEMCPY ||
	       kind == CUPTI_ACTIVITY_KIND_MEMSET;
}

static uint32_t *kind_of(const struct pending *pending)
{
	return (uint32_t *)(void *)(pending->buffer->bytes + pending->offset);
}

static int may_settle(struct pending *pending, uint64_t now_ns, int forced)
{
	/* In order: what comes behind one that has not ended has no times either. Records that
	 * are never finished, of launches that are profiled, hold nothing up. */
	pending->buffer->held_up |= pending->end_ns > now_ns && pending->end_ns != FAKE_NEVER;
	if (pending->end_ns > now_ns || pending->buffer->held_up)
		return 0;
	if (pending->kernel && pending->kernel + fake_script.open > state.kernels)
		return 0;
	if (fake_script.late == 0 || forced)
		return 1;
	if (pending->late_flush == 0)
		pending->late_flush = state.flushes + fake_script.late;
	return state.flushes >= pending->late_flush;
}

/* Fills in the times of what has ended. A forced flush gives up on the rest: no times. */
static void settle(int forced)
{
	const uint64_t now_ns = fake_realtime_ns();
	size_t kept = 0;

	for (struct buffer *buffer = state.buffers; buffer; buffer = buffer->next)
		buffer->held_up = 0;
	for (size_t i = 0; i < state.pending_count; i++) {
		struct pending pending = state.pending[i];
		const int settled = may_settle(&pending, now_ns, forced);

		if (settled) {
			const uint64_t times[2] = {fake_cupti_time(pending.start_ns),
			                           fake_cupti_time(pending.end_ns)};

			memcpy(pending.buffer->bytes + pending.offset + pending.times_offset, times,
			       sizeof(times));
		}
		if (settled || forced) {
			__atomic_and_fetch(kind_of(&pending), ~OPEN_BIT, __ATOMIC_RELEASE);
			pending.buffer->open_count--;
		} else {
			state.pending[kept++] = pending;
		}
	}
	state.pending_count = kept;
	state.unsettled = 0;
}

/* It is known that this must not happen, but not what the real library does then. */
static void check_lent(const struct buffer *buffer)
{
	for (const struct buffer *other = state.buffers; other; other = other->next)
		if (other->bytes < buffer->bytes + buffer->size &&
		    buffer->bytes < other->bytes + other->size)
			fake_die("a buffer is handed out a second time before it came back");
	for (size_t i = 0; i < buffer->size && state.promised_zeroed; i++)
		if (buffer->bytes[i])
			fake_die("byte %zu of a buffer promised to be zeroed is %u", i,
			         buffer->bytes[i]);
}

static struct buffer *request(uint64_t owner)
{
	struct buffer *buffer = calloc(1, sizeof(*buffer));
	struct buffer **last = &state.buffers;

	state.requested(&buffer->bytes, &buffer->size, &buffer->record_limit);
	if (!buffer->bytes || !buffer->size) {
		free(buffer);
		return NULL;
	}
	if ((uintptr_t)buffer->bytes % RECORD_ALIGN)
		fake_die("a buffer is not aligned to %d bytes", RECORD_ALIGN);
	if (fake_script.strict)
		check_lent(buffer);
	if (!state.promised_zeroed)
		memset(buffer->bytes, 0, buffer->size);
	buffer->owner = owner;
	while (*last)
		last = &(*last)->next;
	*last = buffer;
	return buffer;
}

/* The buffer with room for a record, or NULL when the tool has none to give. */
static struct buffer *buffer_for(size_t size)
{
	const uint64_t owner = state.per_thread ? (uint64_t)gettid() : 0;
	struct buffer *buffer = state.buffers;

	while (buffer && (buffer->full || buffer->owner != owner))
		buffer = buffer->next;
	if (buffer && (buffer->used + size > buffer->size ||
	               (buffer->record_limit && buffer->record_count == buffer->record_limit))) {
		buffer->full = 1;
		settle(0);
		state.work = 1;
		(void)pthread_cond_signal(&state.wake);
		buffer = NULL;
	}
	if (!buffer)
		buffer = request(owner);
	if (buffer && size > buffer->size)
		fake_die("a buffer of %zu bytes is too small for one record", buffer->size);
	return buffer;
}

static void add_pending(struct buffer *buffer, const void *record, size_t times_offset,
                        uint64_t start_ns, uint64_t end_ns)
{
	const uint32_t kind = *(const uint32_t *)record;

	if (state.pending_count == state.pending_capacity) {
		state.pending_capacity = state.pending_capacity * 2 + 1024;
		state.pending =
			realloc(state.pending, state.pending_capacity * sizeof(*state.pending));
	}
	state.pending[state.pending_count] = (struct pending){
		.buffer = buffer,
		.offset = buffer->used,
		.times_offset = times_offset,
		.start_ns = start_ns,
		.end_ns = end_ns,
	};
	if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || kind == CUPTI_ACTIVITY_KIND_KERNEL)
		state.pending[state.pending_count].kernel = ++state.kernels;
	state.pending_count++;
	buffer->open_count++;
	buffer->stuck |= end_ns == FAKE_NEVER;
}

static void drop(void)
{
	state.dropped++;
	state.dropped_in_all++;
}

static void add(const void *record, size_t size, size_t times_offset, uint64_t start_ns,
                uint64_t end_ns)
{
	uint32_t kind = *(const uint32_t *)record;
	struct buffer *buffer;

	if (is_work_of_gpu(kind) && fake_script.drop && ++state.records % fake_script.drop == 0) {
		drop();
		return;
	}
	buffer = state.requested ? buffer_for(size) : NULL;
	if (!buffer) {
		drop();
		return;
	}
	memcpy(buffer->bytes + buffer->used + sizeof(kind), (const char *)record + sizeof(kind),
	       size - sizeof(kind));
	if (times_offset) {
		add_pending(buffer, record, times_offset, start_ns, end_ns);
		kind |= OPEN_BIT;
	}
	/* The kind comes last: whoever reads the buffer of a killed process sees whole records. */
	__atomic_store_n((uint32_t *)(void *)(buffer->bytes + buffer->used), kind,
	                 __ATOMIC_RELEASE);
	buffer->used += size;
	buffer->record_count++;
	state.added_in_all++;
	if (++state.unsettled >= SETTLE_BATCH)
		settle(0);
}

void fake_buffers_add(const void *record, size_t size, size_t times_offset, uint64_t start_ns,
                      uint64_t end_ns)
{
	(void)pthread_mutex_lock(&state.lock);
	add(record, size, times_offset, start_ns, end_ns);
	(void)pthread_mutex_unlock(&state.lock);
}

void fake_buffers_leave_stuck(void)
{
	(void)pthread_mutex_lock(&state.lock);
	for (struct buffer *buffer = state.buffers; buffer; buffer = buffer->next)
		buffer->full |= buffer->stuck;
	(void)pthread_mutex_unlock(&state.lock);
}

static size_t split(const struct buffer *buffer, const uint8_t **records)
{
	size_t count = 0;

	for (size_t offset = 0; offset < buffer->used;) {
		uint32_t kind;

		memcpy(&kind, buffer->bytes + offset, sizeof(kind));
		records[count++] = buffer->bytes + offset;
		offset += fake_record_size((CUpti_ActivityKind)kind);
	}
	return count;
}

static void shuffle(struct buffer *buffer)
{
	const uint8_t **records = calloc(buffer->record_count, sizeof(*records));
	const size_t count = split(buffer, records);
	uint8_t *copy = malloc(buffer->used);
	uint64_t random = fake_script.shuffle * UINT64_C(0x9e3779b97f4a7c15) + 1;
	size_t offset = 0;

	for (size_t i = count; i > 1; i--) {
		size_t other;
		const uint8_t *swap = records[i - 1];

		random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		other = (size_t)(random >> 33) % i;
		records[i - 1] = records[other];
		records[other] = swap;
	}
	for (size_t i = 0; i < count; i++) {
		uint32_t kind;

		memcpy(&kind, records[i], sizeof(kind));
		memcpy(copy + offset, records[i], fake_record_size((CUpti_ActivityKind)kind));
		offset += fake_record_size((CUpti_ActivityKind)kind);
	}
	memcpy(buffer->bytes, copy, buffer->used);
	free(copy);
	free(records);
}

/* Takes out of the list what can be handed back. */
static struct buffer *take_ready(int flush, int forced)
{
	struct buffer *ready = NULL;
	struct buffer **last = &ready;
	struct buffer **link = &state.buffers;

	while (*link) {
		struct buffer *buffer = *link;
		const int wanted = buffer->used && (buffer->full || flush);

		if (wanted && (buffer->open_count == 0 || forced)) {
			*link = buffer->next;
			buffer->next = NULL;
			*last = buffer;
			last = &buffer->next;
		} else {
			link = &buffer->next;
		}
	}
	return ready;
}

/* Without the lock: the tool's function may call into CUPTI. */
static void hand_back(struct buffer *ready)
{
	while (ready) {
		struct buffer *buffer = ready;

		ready = buffer->next;
		if (fake_script.shuffle)
			shuffle(buffer);
		state.completed(NULL, 0, buffer->bytes, buffer->size, buffer->used);
		free(buffer);
	}
}

static void wait_for_work(void)
{
	struct timespec until;

	if (!state.period_ms) {
		(void)pthread_cond_wait(&state.wake, &state.lock);
		return;
	}
	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += (long)(state.period_ms % 1000) * 1000000;
	until.tv_sec += (time_t)(state.period_ms / 1000) + until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	(void)pthread_cond_timedwait(&state.wake, &state.lock, &until);
	settle(0);
	state.work = 1;
}

static void *work(void *unused)
{
	(void)unused;
	(void)pthread_mutex_lock(&state.lock);
	for (;;) {
		const uint64_t wanted = state.flushes_wanted;
		const int flush = wanted != state.flushes_done;
		struct buffer *ready;

		if (!flush && !state.work) {
			wait_for_work();
			continue;
		}
		if (flush) {
			state.flushes++;
			settle(state.forced);
		}
		ready = take_ready(flush, flush && state.forced);
		state.work = 0;
		(void)pthread_mutex_unlock(&state.lock);
		hand_back(ready);
		(void)pthread_mutex_lock(&state.lock);
		if (flush) {
			state.flushes_done = wanted;
			(void)pthread_cond_broadcast(&state.done);
		}
	}
	return NULL;
}

/* Its signals are the program's business, not this thread's. */
static void start_worker(void)
{
	pthread_t thread;
	sigset_t all;
	sigset_t before;

	if (state.worker)
		return;
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&thread, NULL, work, NULL))
		fake_die("cannot start the worker thread");
	(void)pthread_detach(thread);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	state.worker = 1;
}

CUptiResult fake_buffers_register(CUpti_BuffersCallbackRequestFunc requested,
                                  CUpti_BuffersCallbackCompleteFunc completed)
{
	if (!requested || !completed)
		return CUPTI_ERROR_INVALID_PARAMETER;
	(void)pthread_mutex_lock(&state.lock);
	state.requested = requested;
	state.completed = completed;
	start_worker();
	(void)pthread_mutex_unlock(&state.lock);
	return CUPTI_SUCCESS;
}

CUptiResult fake_buffers_flush(int forced)
{
	uint64_t mine;

	(void)pthread_mutex_lock(&state.lock);
	if (!state.requested) {
		(void)pthread_mutex_unlock(&state.lock);
		return CUPTI_ERROR_INVALID_OPERATION;
	}
	mine = ++state.flushes_wanted;
	state.forced = forced;
	(void)pthread_cond_signal(&state.wake);
	while (state.flushes_done < mine)
		(void)pthread_cond_wait(&state.done, &state.lock);
	(void)pthread_mutex_unlock(&state.lock);
	return CUPTI_SUCCESS;
}

CUptiResult fake_buffers_period(uint32_t period_ms)
{
	(void)pthread_mutex_lock(&state.lock);
	state.period_ms = period_ms;
	(void)pthread_cond_signal(&state.wake);
	(void)pthread_mutex_unlock(&state.lock);
	return CUPTI_SUCCESS;
}

size_t fake_buffers_dropped(void)
{
	size_t dropped;

	(void)pthread_mutex_lock(&state.lock);
	dropped = state.dropped;
	state.dropped = 0;
	(void)pthread_mutex_unlock(&state.lock);
	return dropped;
}

void fake_buffers_promise_zeroed(int zeroed)
{
	(void)pthread_mutex_lock(&state.lock);
	state.promised_zeroed = zeroed;
	(void)pthread_mutex_unlock(&state.lock);
}

void fake_buffers_per_thread(int per_thread)
{
	(void)pthread_mutex_lock(&state.lock);
	state.per_thread = per_thread;
	(void)pthread_mutex_unlock(&state.lock);
}

/* For tests that compare it with what was recorded: counted here, where nothing can be lost. */
__attribute__((destructor)) static void tell_counts(void)
{
	const char *path = getenv("FAKE_CUPTI_COUNTS");
	FILE *file = path && state.requested ? fopen(path, "we") : NULL;

	if (!file)
		return;
	fprintf(file, "{\"added\": %llu, \"dropped\": %llu}\n",
	        (unsigned long long)state.added_in_all, (unsigned long long)state.dropped_in_all);
	(void)fclose(file);
}

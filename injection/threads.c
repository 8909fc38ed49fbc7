/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/threads.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "format/meta.h"
#include "injection/session.h"
#include "injection/source.h"
#include "injection/sources.h"

#define HEADER_INTERVAL_NS     1000000000u /* clocks and ledger go to the capture this often */
#define FIRST_WAIT_NS          1000000u    /* doubled at each turn up to the flush interval */
#define FLUSH_LIMIT_NS         5000000000u /* a flush that takes longer is given up */
#define TOUCHED_ACTIVITY_SLOTS 8
#define TOUCHED_RECORD_SLOTS   32
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* linux/mman.h since 5.14 */
#endif
#define NAME_MAX_BYTES 16384 /* of a kernel's name; longer ones are cut */

/* initial-exec: no allocation at the first access of a thread, whatever it is in the middle of. */
static __thread bool ours __attribute__((tls_model("initial-exec")));

bool gt_thread_is_ours(void)
{
	return ours;
}

uint64_t gt_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool gt_wait(sem_t *semaphore, uint64_t limit_ns)
{
	const int saved = errno;
	const uint64_t until = gt_now() + limit_ns;
	const struct timespec deadline = {.tv_sec = (time_t)(until / 1000000000u),
	                                  .tv_nsec = (long)(until % 1000000000u)};
	int cancel;
	int result;

	/* The program's thread waits inside a call of the driver: it must not end there. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	do
		result = sem_clockwait(semaphore, CLOCK_MONOTONIC, &deadline);
	while (result < 0 && errno == EINTR);
	pthread_setcancelstate(cancel, NULL);
	errno = saved;
	return result == 0;
}

/* ---- the flusher ---- */

static void flush(struct gt_session *session, uint32_t flag)
{
	size_t dropped = 0;

	if (!atomic_load_explicit(&session->activity_seen, memory_order_acquire))
		return;
	atomic_store_explicit(&session->flush_began_ns, gt_now(), memory_order_relaxed);
	(void)session->cupti.cuptiActivityFlushAll(flag);
	/* Records dropped since the last buffer came back: no other may come. */
	if (session->cupti.cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped) == CUPTI_SUCCESS &&
	    dropped)
		gt_ledger_add(&session->arena, GT_LEDGER_dropped_by_cupti, dropped);
	atomic_store_explicit(&session->flush_began_ns, 0, memory_order_relaxed);
	sem_post(&session->writer_work);
}

static void *run_flusher(void *context)
{
	struct gt_session *session = context;

	ours = true;
	while (!atomic_load_explicit(&session->stopping, memory_order_acquire)) {
		const bool asked =
			gt_wait(&session->flusher_work, session->settings.flush_interval_ns);

		if (atomic_load_explicit(&session->stopping, memory_order_acquire))
			break;
		flush(session, 0);
		if (asked)
			sem_post(&session->flushed);
	}
	/* Once, at the very end: hands over unfinished records too, without times. */
	flush(session, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	sem_post(&session->flusher_done);
	return NULL;
}

/* ---- the writer ---- */

/* CUPTI's records may be larger than the headers say: the distance between two is the truth. */
static void learn_size(struct gt_arena *arena, const uint8_t *record, const uint8_t *next)
{
	uint32_t *sizes = arena->header->layout.sizes;
	uint32_t kind;

	memcpy(&kind, record, sizeof(kind));

	const enum gt_activity activity = gt_activity_of_kind(kind & ~GT_RAW_KIND_OPEN);

	if (activity == GT_ACTIVITY_COUNT || next <= record || next - record <= sizes[activity] ||
	    next - record > 4096)
		return;
	sizes[activity] = (uint32_t)(next - record);
	/* Names were looked for in the wrong places. */
	for (uint32_t i = 0; i < arena->header->slot_count; i++)
		arena->slots[i].scanned = 0;
}

/* Calls use() for each record that CUPTI says the buffer holds. */
static void each_record(struct gt_session *session, uint8_t *bytes, uint32_t used,
                        void (*use)(struct gt_session *, const uint8_t *))
{
	CUpti_Activity *record = NULL;
	const uint8_t *previous = NULL;
	CUptiResult result;

	while ((result = session->cupti.cuptiActivityGetNextRecord(bytes, used, &record)) ==
	       CUPTI_SUCCESS) {
		const uint8_t *at = (const uint8_t *)record;

		if (previous)
			learn_size(&session->arena, previous, at);
		use(session, at);
		previous = at;
	}
	/* What follows a record that CUPTI itself cannot read is lost: once for the buffer. */
	if (used && result != CUPTI_ERROR_MAX_LIMIT_REACHED)
		gt_ledger_add(&session->arena, GT_LEDGER_unknown_records, 1);
}

static void drain_record(struct gt_session *session, const uint8_t *record)
{
	gt_drain_activity(session->drain, record);
}

static void count_record(struct gt_session *session, const uint8_t *record)
{
	(void)record;
	session->discarded++;
}

/* Counted at once: a process that dies here has the whole buffer counted by its salvager. */
static void discard(struct gt_session *session, struct gt_slot *slot, uint32_t used)
{
	session->discarded = 0;
	each_record(session, gt_slot_memory(&session->arena, slot), used, count_record);
	gt_ledger_add(&session->arena, GT_LEDGER_discarded_no_buffer, session->discarded);
}

static void drain(struct gt_session *session, struct gt_slot *slot, uint32_t used)
{
	gt_drain_begin(session->drain, slot);
	if (slot->kind == GT_SLOT_ACTIVITY)
		each_record(session, gt_slot_memory(&session->arena, slot), used, drain_record);
	else
		gt_drain_records(session->drain, slot, used);
	gt_drain_end(session->drain);
}

static void drain_slot(struct gt_session *session, struct gt_slot *slot)
{
	/* Pairs with the release in enter(): at exit a slot is taken from a thread that still runs.
	 */
	const uint32_t used = atomic_load_explicit(&slot->used, memory_order_acquire);

	atomic_store_explicit(&slot->state, GT_SLOT_DRAINING, memory_order_relaxed);
	if (slot->kind == GT_SLOT_DISCARD)
		discard(session, slot, used);
	else
		drain(session, slot, used);
	atomic_store_explicit(&slot->used, 0, memory_order_relaxed);
	/* Zeroed for CUPTI and for salvage, which stops at a zero kind. */
	memset(gt_slot_memory(&session->arena, slot), 0, used);
	slot->scanned = 0;
	/* Pairs with the acquire in gt_arena_take. */
	atomic_store_explicit(&slot->state, GT_SLOT_FREE, memory_order_release);
}

/* The full slot that was lent first, or NULL. */
static struct gt_slot *next_full(struct gt_arena *arena)
{
	struct gt_slot *first = NULL;

	for (uint32_t i = 0; i < arena->header->slot_count; i++) {
		struct gt_slot *slot = &arena->slots[i];

		/* Pairs with the release in gt_slot_hand_over. */
		if (atomic_load_explicit(&slot->state, memory_order_acquire) != GT_SLOT_FULL)
			continue;
		if (!first || atomic_load_explicit(&slot->sequence, memory_order_relaxed) <
		                      atomic_load_explicit(&first->sequence, memory_order_relaxed))
			first = slot;
	}
	return first;
}

/* Reads a name of this process that may be gone: an address that is not mapped gives nothing. */
static size_t peek_name(uint64_t pointer, char *text, size_t size)
{
	const struct iovec to = {text, size};
	char *const there = (char *)(uintptr_t)pointer; // NOLINT(performance-no-int-to-ptr)
	const struct iovec from = {there, size};
	ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);

	if (got <= 0) {
		/* The name may end shortly before a page that is not mapped. */
		const struct iovec rest = {there, 4096 - pointer % 4096};

		got = process_vm_readv(getpid(), &to, 1, &rest, 1, 0);
	}
	return got > 0 ? strnlen(text, (size_t)got) : 0;
}

static void keep_name(struct gt_session *session, uint64_t pointer)
{
	const struct gt_name *name = gt_arena_name(&session->arena, pointer);
	char text[NAME_MAX_BYTES];

	if (!name || atomic_load_explicit(&name->pointer, memory_order_relaxed) == pointer)
		return;

	const size_t size = peek_name(pointer, text, sizeof(text));

	if (size)
		(void)gt_intern_name(&session->interner, pointer, text, size);
}

/*
 * Keeps the names of kernels whose records still lie in a buffer of CUPTI's: if the process
 * dies now, the salvager has only their pointers.
 */
static void keep_names_of(struct gt_session *session, struct gt_slot *slot)
{
	const struct gt_activity_layout *layout = &session->arena.header->layout;
	const uint8_t *bytes = gt_slot_memory(&session->arena, slot);
	uint32_t at = slot->scanned;
	uint32_t size;

	while ((size = gt_raw_size(&session->arena, bytes + at, slot->size - at)) > 0) {
		uint32_t kind;

		memcpy(&kind, bytes + at, sizeof(kind));
		if (gt_activity_of_kind(kind & ~GT_RAW_KIND_OPEN) == GT_ACTIVITY_kernel) {
			const uint64_t pointer = gt_raw_get(layout, bytes + at, GT_RAW_kernel_name);

			if (!pointer)
				break; /* CUPTI is filling this one */
			keep_name(session, pointer);
		}
		at += size;
	}
	slot->scanned = at;
}

static void keep_names(struct gt_session *session)
{
	for (uint32_t i = 0; i < session->arena.header->slot_count; i++) {
		struct gt_slot *slot = &session->arena.slots[i];

		if (slot->kind == GT_SLOT_ACTIVITY &&
		    atomic_load_explicit(&slot->state, memory_order_acquire) == GT_SLOT_LENT)
			keep_names_of(session, slot);
	}
}

static void watch_flusher(struct gt_session *session)
{
	const uint64_t began = atomic_load_explicit(&session->flush_began_ns, memory_order_relaxed);

	if (!began) {
		session->flush_given_up = false;
		return;
	}
	if (session->flush_given_up || gt_now() - began < FLUSH_LIMIT_NS)
		return;
	session->flush_given_up = true;
	gt_ledger_add(&session->arena, GT_LEDGER_flush_timeouts, 1);
	gt_session_note(
		session, "activity",
		"cuptiActivityFlushAll did not come back within 5 s: GPU activity after that "
		"may be missing");
}

static void measure_cpu(struct gt_session *session)
{
	uint64_t sum = 0;
	const pthread_t threads[] = {session->writer_thread, session->flusher_thread};

	for (size_t i = 0; i < 2; i++) {
		struct timespec used;
		clockid_t clock;

		if (pthread_getcpuclockid(threads[i], &clock) == 0 &&
		    clock_gettime(clock, &used) == 0)
			sum += (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
	}
	atomic_store_explicit(&session->arena.header->ledger[GT_LEDGER_writer_cpu_ns], sum,
	                      memory_order_relaxed);
}

static void write_header(struct gt_session *session)
{
	measure_cpu(session);
	atomic_store_explicit(&session->arena.header->ledger[GT_LEDGER_not_written],
	                      session->writer.failed_records, memory_order_relaxed);
	gt_drain_header(session->drain);
}

static void drain_all(struct gt_session *session)
{
	struct gt_slot *slot;

	while ((slot = next_full(&session->arena)))
		drain_slot(session, slot);
}

/*
 * The first touch of a page of the arena's file costs a microsecond or more: here it is not the
 * program's. Slots are used lowest first, so that these are the ones that are always in use.
 */
static void touch_slots(struct gt_session *session)
{
	uint32_t left[] = {[GT_SLOT_ACTIVITY] = TOUCHED_ACTIVITY_SLOTS,
	                   [GT_SLOT_RECORDS] = TOUCHED_RECORD_SLOTS,
	                   [GT_SLOT_DISCARD] = 0};

	for (uint32_t i = 0; i < session->arena.header->slot_count; i++) {
		const struct gt_slot *slot = &session->arena.slots[i];

		if (left[slot->kind] == 0)
			continue;
		left[slot->kind]--;
		/* Before Linux 5.14 this fails, and the pages are touched when they are used. */
		(void)madvise(gt_slot_memory(&session->arena, slot), slot->size,
		              MADV_POPULATE_WRITE);
	}
}

/* How long the writer waits: at first not long, so that names are kept if the program dies young. */
static uint64_t next_wait(uint64_t wait_ns, uint64_t interval_ns)
{
	return wait_ns * 2 < interval_ns ? wait_ns * 2 : interval_ns;
}

static void *run_writer(void *context)
{
	struct gt_session *session = context;
	const uint64_t interval_ns = session->settings.flush_interval_ns;
	uint64_t wait_ns = interval_ns < FIRST_WAIT_NS ? interval_ns : FIRST_WAIT_NS;
	uint64_t header_ns = 0;

	ours = true;
	touch_slots(session);
	while (!atomic_load_explicit(&session->stopping, memory_order_acquire)) {
		(void)gt_wait(&session->writer_work, wait_ns);
		if (atomic_load_explicit(&session->activity_seen, memory_order_acquire))
			wait_ns = next_wait(wait_ns, interval_ns);
		drain_all(session);
		watch_flusher(session);
		keep_names(session);
		gt_sources_tick(session);
		if (gt_now() - header_ns >= HEADER_INTERVAL_NS) {
			header_ns = gt_now();
			write_header(session);
		}
	}
	/* The flusher is done or given up; see gt_session_stop for what happens to the rest. */
	while (!gt_wait(&session->flusher_done, session->settings.flush_interval_ns) &&
	       !session->flush_given_up) {
		drain_all(session);
		watch_flusher(session);
	}
	gt_sources_tick(session);
	drain_all(session);
	write_header(session);
	sem_post(&session->writer_done);
	return NULL;
}

void gt_threads_init(struct gt_session *session)
{
	sem_init(&session->writer_work, 0, 0);
	sem_init(&session->flusher_work, 0, 0);
	sem_init(&session->flushed, 0, 0);
	sem_init(&session->writer_done, 0, 0);
	sem_init(&session->flusher_done, 0, 0);
}

int gt_threads_start(struct gt_session *session)
{
	sigset_t all;
	sigset_t before;
	int result;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	result = pthread_create(&session->flusher_thread, NULL, run_flusher, session);
	if (result == 0)
		result = pthread_create(&session->writer_thread, NULL, run_writer, session);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return result;
}

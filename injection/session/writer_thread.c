/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/session/writer_thread.h"

#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "injection/cupti/raw_records.h"
#include "injection/output/names.h"
#include "injection/process/thread.h"
#include "injection/process/wait.h"
#include "injection/session/routes.h"
#include "injection/session/services.h"
#include "injection/session/session.h"

#define HEADER_INTERVAL_NS     1000000000u /* clocks and ledger go to the capture this often */
#define FIRST_WAIT_NS          1000000u    /* doubled at each turn up to the flush interval */
#define TOUCHED_ACTIVITY_SLOTS 8
#define TOUCHED_RECORD_SLOTS   32
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* linux/mman.h since 5.14 */
#endif

void gt_writer_thread_init(struct gt_writer_thread *thread)
{
	sem_init(&thread->work, 0, 0);
	sem_init(&thread->done, 0, 0);
}

static void drain_record(void *context, const uint8_t *record)
{
	gt_drain_activity(context, record);
}

static void count_record(void *context, const uint8_t *record)
{
	(void)record;
	(*(uint64_t *)context)++;
}

/* Counted at once: a process that dies here has the whole buffer counted by its salvager. */
static void discard(struct gt_session *session, struct gt_slot *slot, uint32_t used)
{
	uint64_t count = 0;

	gt_each_raw_record(&session->cupti, &session->arena, gt_slot_memory(&session->arena, slot),
	                   used, count_record, &count);
	gt_count(session, GT_LEDGER_discarded_no_buffer, count);
}

static void drain(struct gt_session *session, struct gt_slot *slot, uint32_t used)
{
	if (gt_interner_is_crowded(&session->interner)) {
		gt_drain_strings(session->drain);
		gt_interner_forget(&session->interner);
	}
	gt_drain_begin(session->drain, slot);
	if (slot->kind == GT_SLOT_ACTIVITY)
		gt_each_raw_record(&session->cupti, &session->arena,
		                   gt_slot_memory(&session->arena, slot), used, drain_record,
		                   session->drain);
	else
		gt_drain_records(session->drain, slot, used);
	gt_drain_end(session->drain);
}

static void drain_slot(struct gt_session *session, struct gt_slot *slot)
{
	/* Pairs with the release in gt_emit_commit: at exit a slot is taken from a thread that
	 * still runs. */
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

static void drain_all(struct gt_session *session)
{
	struct gt_slot *slot;

	while ((slot = next_full(&session->arena)))
		drain_slot(session, slot);
}

void gt_writer_thread_drain(struct gt_session *session)
{
	if (gt_session_has_arena(session))
		drain_all(session);
}

static void write_header(struct gt_session *session)
{
	_Atomic uint64_t *ledger = session->arena.header->ledger;

	atomic_store_explicit(&ledger[GT_LEDGER_writer_cpu_ns], gt_cost_measure(session),
	                      memory_order_relaxed);
	atomic_store_explicit(&ledger[GT_LEDGER_not_written], session->writer.failed_records,
	                      memory_order_relaxed);
	gt_drain_header(session->drain);
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

static void trim(struct gt_session *session)
{
	struct gt_error err = {0};

	if (gt_trim_turn(&session->output, &session->writer, &err) < 0)
		gt_note(session, "capture", err.text);
}

/* One round; returns when a source wants the next at the latest, on the clock of gt_now. */
static uint64_t turn(struct gt_session *session)
{
	uint64_t due_ns;

	gt_session_follow(session);
	drain_all(session);
	gt_flusher_watch(session);
	gt_names_keep(&(struct gt_kept_names){&session->arena, &session->interner,
	                                      session->scratch.text,
	                                      sizeof(session->scratch.text)});
	if (gt_session_cuda_is_up(session))
		gt_sources_cuda_up(session);
	gt_sources_start_threads(session);
	due_ns = gt_sources_tick(session);
	gt_emit_hand_over(session); /* what sources emitted on this thread */
	gt_notes_write(session);
	return due_ns;
}

static uint64_t least(uint64_t one, uint64_t other)
{
	return one < other ? one : other;
}

static uint64_t until(uint64_t due_ns)
{
	const uint64_t now = gt_now();

	return due_ns > now ? due_ns - now : 0;
}

/* Until there is work, a source is due, or an order was given. */
static void wait_for_work(struct gt_session *session, uint64_t most_ns)
{
	const uint64_t end_ns = gt_now() + most_ns;
	uint64_t wait_ns;

	do
		wait_ns = gt_control_wait_ns(&session->control, until(end_ns));
	while (!gt_wait(&session->writer_thread.work, wait_ns) && wait_ns > 0);
}

/* At first it does not wait long, so that names are kept if the program dies young. */
static void work(struct gt_session *session)
{
	const uint64_t interval_ns = session->settings.flush_interval_ns;
	uint64_t wait_ns = least(interval_ns, FIRST_WAIT_NS);
	uint64_t header_ns = 0;
	uint64_t due_ns = 0;

	while (gt_session_is_running(session)) {
		wait_for_work(session, least(wait_ns, until(due_ns)));
		if (gt_session_cuda_is_up(session))
			wait_ns = least(wait_ns * 2, interval_ns);
		pthread_mutex_lock(&session->turn);
		due_ns = turn(session);
		if (gt_now() - header_ns >= HEADER_INTERVAL_NS) {
			header_ns = gt_now();
			write_header(session);
		}
		trim(session);
		pthread_mutex_unlock(&session->turn);
	}
}

/*
 * Closes a slot of records, whether it is free, handed over, or a thread's that still runs or never
 * said goodbye: it keeps the state and its memory. Returns how much of it is to be written.
 */
static uint32_t close_slot(struct gt_slot *slot)
{
	uint32_t used;

	if (atomic_exchange_explicit(&slot->state, GT_SLOT_DRAINING, memory_order_acq_rel) ==
	    GT_SLOT_FREE)
		atomic_store_explicit(&slot->used, 0, memory_order_relaxed);
	/* Either this sees a thread's last commit or the thread sees the state (gt_emit_is_kept). */
	atomic_thread_fence(memory_order_seq_cst);
	used = atomic_load_explicit(&slot->used, memory_order_acquire);
	atomic_store_explicit(&slot->scanned, GT_SLOT_CLOSED | used, memory_order_release);
	return used;
}

/* The end: what threads have emitted so far is written, and what they emit from now on is not. */
static void take_records(struct gt_session *session)
{
	gt_router_activate(&session->router, 0);
	atomic_store_explicit(&session->closed, true, memory_order_release);
	for (uint32_t i = 0; i < session->arena.header->slot_count; i++) {
		struct gt_slot *slot = &session->arena.slots[i];
		uint32_t used;

		if (slot->kind != GT_SLOT_RECORDS)
			continue;
		used = close_slot(slot);
		if (used)
			drain(session, slot, used);
	}
}

/* Once the flusher is done or given up; see gt_session_stop for what happens to the rest. */
static void finish(struct gt_session *session)
{
	gt_sources_end_threads(session);
	while (session->flushes &&
	       !gt_wait(&session->flusher.done, session->settings.flush_interval_ns) &&
	       !session->flusher.given_up) {
		drain_all(session);
		gt_flusher_watch(session);
	}
	if (gt_session_cuda_is_up(session))
		gt_sources_cuda_up(session);
	gt_sources_stop(session);
	gt_session_end_pause(session);
	drain_all(session);
	take_records(session);
	gt_notes_write(session);
	write_header(session);
}

static void *run(void *context)
{
	struct gt_session *session = context;

	gt_thread_enter(GT_THREAD_WRITER);
	touch_slots(session);
	work(session);
	pthread_mutex_lock(&session->turn);
	finish(session);
	gt_session_close(session);
	pthread_mutex_unlock(&session->turn);
	sem_post(&session->writer_thread.done);
	return NULL;
}

int gt_writer_thread_start(struct gt_session *session)
{
	return gt_thread_start(&session->writer_thread.thread, run, session);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/session/emit.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "injection/process/thread.h"
#include "injection/session/session.h"

#define CLOSE_TRIES 100000

/* The lowest free slot is taken first, so that the place of one says how many are in use. */
static bool is_urgent(const struct gt_session *session, const struct gt_slot *slot)
{
	const struct gt_arena *arena = &session->arena;
	const uint32_t first = arena->header->slot_count - GT_RECORD_SLOTS - GT_DISCARD_SLOTS;

	return slot >= &arena->slots[first + GT_UNHURRIED_SLOTS];
}

static void hand_over(struct gt_session *session, struct gt_slot *slot, uint32_t used)
{
	gt_slot_hand_over(slot, used);
	if (is_urgent(session, slot))
		sem_post(&session->writer_thread.work);
}

/* Bytes of the slot that the thread has. */
static uint32_t used_bytes(void)
{
	return (uint32_t)(GT_RECORD_BYTES - (gt_own.end - gt_own.next));
}

static void forget_slot(void)
{
	gt_own.slot = NULL;
	gt_own.next = gt_own.end = NULL;
	gt_own.open = 0;
}

void gt_emit_forget(void)
{
	forget_slot();
	if (!gt_own.rest)
		return;
	memset(gt_own.rest->held, 0, sizeof(gt_own.rest->held));
	memset(gt_own.rest->held_open, 0, sizeof(gt_own.rest->held_open));
}

/* Puts the full slot aside for the records that are open in it; false when too many are. */
static bool hold(void)
{
	for (int i = 0; i < GT_HELD_SLOTS && gt_own_has_rest(); i++) {
		if (gt_own.rest->held[i])
			continue;
		gt_own.rest->held[i] = gt_own.slot;
		gt_own.rest->held_open[i] = gt_own.open;
		forget_slot();
		return true;
	}
	return false;
}

/* A held slot's used is what was committed last: it is handed over as it stands. */
static void release(struct gt_session *session, int held)
{
	struct gt_slot *slot = gt_own.rest->held[held];

	gt_own.rest->held[held] = NULL;
	hand_over(session, slot, atomic_load_explicit(&slot->used, memory_order_relaxed));
}

void gt_emit_hand_over(struct gt_session *session)
{
	struct gt_slot *slot = gt_own.slot;
	const uint32_t used = slot ? used_bytes() : 0;

	if (used == 0 || gt_own.open)
		return;
	forget_slot();
	hand_over(session, slot, used);
}

void gt_emit_abandon(struct gt_session *session)
{
	gt_own.open = 0;
	for (int i = 0; i < GT_HELD_SLOTS && gt_own.rest; i++)
		if (gt_own.rest->held[i])
			release(session, i);
}

/*
 * A thread that ends hands its slots over. In the child of a fork they are not mapped. The key's
 * value only makes this be called.
 */
static void end_thread(void *value)
{
	struct gt_session *session = value;

	if (!gt_session_has_arena(session)) {
		gt_own_drop_rest();
		return;
	}
	gt_emit_abandon(session);
	gt_own_drop_rest();
	if (gt_own.slot && used_bytes() == 0) {
		struct gt_slot *slot = gt_own.slot;

		forget_slot();
		hand_over(session, slot, 0);
	}
	gt_emit_hand_over(session);
}

bool gt_emit_init(struct gt_session *session)
{
	if (!session->emits)
		session->emits = pthread_key_create(&session->thread_end, end_thread) == 0;
	return session->emits;
}

void gt_emit_watch_end(struct gt_session *session)
{
	if (session->emits)
		(void)pthread_setspecific(session->thread_end, session);
}

/* A new slot for the calling thread; false when there is none. */
static bool take_slot(struct gt_session *session)
{
	struct gt_slot *slot = gt_arena_take(&session->arena, GT_SLOT_RECORDS);

	if (!slot)
		return false;
	/* A thread of ours is none that called CUDA. */
	slot->tid = gt_thread_is_ours() ? 0 : (uint32_t)syscall(SYS_gettid);
	prctl(PR_GET_NAME, slot->thread_name);
	gt_emit_watch_end(session);
	gt_own.slot = slot;
	gt_own.next = gt_slot_memory(&session->arena, slot);
	gt_own.end = gt_own.next + slot->size;
	gt_own.open = 0;
	return true;
}

static bool make_room(struct gt_session *session, size_t size)
{
	if (!session->emits || size > sizeof(struct gt_entry) + GT_ENTRY_MAX_BYTES)
		return false;
	if (gt_own.slot && gt_own.open && !hold())
		return false;
	gt_emit_hand_over(session);
	return take_slot(session);
}

bool gt_emit_has_plenty(const struct gt_session *session)
{
	uint32_t free_ones = 0;

	for (uint32_t i = 0; i < session->arena.header->slot_count; i++)
		free_ones += session->arena.slots[i].kind == GT_SLOT_RECORDS &&
		             atomic_load_explicit(&session->arena.slots[i].state,
		                                  memory_order_relaxed) == GT_SLOT_FREE;
	return free_ones > GT_RECORD_SLOTS / 2;
}

static enum gt_ledger_id loss_of(uint32_t kind)
{
	if (kind == GT_RECORD_api_call)
		return GT_LEDGER_api_lost;
	return gt_record_is_nvtx(kind) ? GT_LEDGER_nvtx_lost : GT_LEDGER_records_lost;
}

bool gt_emit_make_room(struct gt_session *session, uint32_t kind, size_t size)
{
	const int saved = errno;
	bool made;

	if (!gt_session_has_arena(session))
		return false;
	made = make_room(session, size);
	errno = saved;
	/* Once the slots are closed the call is counted when it returns (router.c). */
	if (made || atomic_load_explicit(&session->closed, memory_order_acquire))
		return made;
	gt_ledger_add(&session->arena, loss_of(kind), 1);
	return false;
}

void gt_emit_close_held(struct gt_session *session, const void *record)
{
	const int saved = errno;

	for (int i = 0; i < GT_HELD_SLOTS && gt_own.rest; i++) {
		const struct gt_slot *slot = gt_own.rest->held[i];
		const uint8_t *memory = slot ? gt_slot_memory(&session->arena, slot) : NULL;

		if (!slot || (size_t)((const uint8_t *)record - memory) >= slot->size)
			continue;
		if (--gt_own.rest->held_open[i] == 0)
			release(session, i);
		break;
	}
	errno = saved;
}

/* The writer closes a slot within a few instructions; it may have lost its processor there. */
static uint32_t closed_at(const struct gt_slot *slot)
{
	for (int i = 0; i < CLOSE_TRIES; i++) {
		const uint32_t scanned = atomic_load_explicit(&slot->scanned, memory_order_acquire);

		if (scanned & GT_SLOT_CLOSED)
			return scanned & ~GT_SLOT_CLOSED;
		sched_yield();
	}
	return 0;
}

bool gt_emit_is_kept(struct gt_session *session, const void *record)
{
	const uint64_t at = (uint64_t)((const uint8_t *)record - session->arena.bytes);

	for (uint32_t i = 0; i < session->arena.header->slot_count; i++) {
		const struct gt_slot *slot = &session->arena.slots[i];

		if (at - slot->offset >= slot->size)
			continue;
		/* After the record's commit: pairs with the fence in close_slot. */
		atomic_thread_fence(memory_order_seq_cst);
		if (atomic_load_explicit(&slot->state, memory_order_acquire) != GT_SLOT_DRAINING)
			return true;
		return at - slot->offset < closed_at(slot);
	}
	return false;
}

void gt_emit_sample(struct gt_session *session, const struct gt_sample *sample)
{
	const size_t size = sizeof(*sample) + sample->columns * sizeof(sample->values[0]);
	void *there = gt_emit_begin(session, GT_RECORD_SERIES, size);

	if (!there)
		return;
	memcpy(there, sample, size);
	gt_emit_commit();
}

uint32_t gt_emit_text(void *record, size_t record_bytes, const char *text, size_t size)
{
	const uint16_t length = (uint16_t)size;
	uint8_t *there = (uint8_t *)record + record_bytes;

	memcpy(there, &length, sizeof(length));
	memcpy(there + sizeof(length), text, size);
	return GT_TEXT_BEHIND | (uint32_t)record_bytes;
}

uint32_t gt_emit_add_text(void *record, size_t *bytes, const char *text)
{
	const size_t size = strlen(text);
	const uint32_t place = gt_emit_text(record, *bytes, text, size);

	*bytes += GT_TEXT_BYTES(size);
	return place;
}

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SESSION_EMIT_H
#define GT_INJECTION_SESSION_EMIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/arena/arena.h"
#include "format/file/series.h"
#include "injection/process/thread.h"

struct gt_session;

/*
 * The way of a record into the arena, from any thread, with no lock: each thread has a slot of its
 * own, and a record is complete for whoever finds the slot from its commit on, however the process
 * ends. It costs no more than the stores into the record and one into the slot.
 *
 *     struct gt_record_query *query = gt_emit_begin(session, GT_RECORD_query, sizeof(*query));
 *
 *     if (query) {
 *             query->start_ns = gt_stamp(); and every other field: the memory holds anything
 *             gt_emit_commit();
 *     }
 *
 * Times of the role host_time are readings of gt_stamp: the drain makes nanoseconds of them. A
 * record that has no end yet is committed with an end of 0 and kept open: it may be written to
 * until it is closed, and its slot stays with the thread so long. The drain marks a record
 * unfinished whose end is still 0.
 */

/*
 * Slots of records that may be full before the writer is woken for them: it looks after them by
 * itself at each flush interval, and waking it takes the program's thread microseconds.
 */
#define GT_UNHURRIED_SLOTS 16

/* From where a record begins: three cache lines, which most records are shorter than. */
#define GT_PREFETCH_BYTES 192

/* Another slot for the calling thread when its own is full; false, and counted, if there is none. */
__attribute__((cold)) bool gt_emit_make_room(struct gt_session *session, uint32_t kind,
                                             size_t size);

/* Closes a record in a slot that the thread has filled since. */
__attribute__((cold)) void gt_emit_close_held(struct gt_session *session, const void *record);

/* Fetches a line that is to be written: for this processor alone, which gcc's builtin does not say.
 */
static inline void gt_prefetch_to_write(const uint8_t *at)
{
#ifdef __x86_64__
	__asm__ volatile("prefetchw %0" : : "m"(*at));
#else
	__builtin_prefetch(at, 1);
#endif
}

/* Whether the thread's slot has room for a record of so many bytes. */
static inline bool gt_emit_has_room(size_t bytes)
{
	return (size_t)(gt_own.end - gt_own.next) >=
	       sizeof(struct gt_entry) + ((bytes + 7) & ~(size_t)7);
}

/*
 * Room for a record of a kind and what lies behind it, at most GT_ENTRY_MAX_BYTES together. NULL,
 * and counted in the ledger, when there is none.
 */
static inline void *gt_emit_begin(struct gt_session *session, uint32_t kind, size_t bytes)
{
	const size_t whole = (bytes + 7) & ~(size_t)7;
	const size_t size = sizeof(struct gt_entry) + whole;
	struct gt_own *mine = &gt_own;
	struct gt_entry *entry;

	if (!gt_emit_has_room(bytes) && !gt_emit_make_room(session, kind, size))
		return NULL;
	entry = (struct gt_entry *)mine->next;
	*entry = (struct gt_entry){.kind = (uint16_t)kind, .bytes = (uint16_t)whole};
	mine->next += size;
	/* The writer had the slot last: by a later record its memory will be this thread's again. */
	gt_prefetch_to_write((uint8_t *)entry + GT_PREFETCH_BYTES);
	if (size > 64)
		gt_prefetch_to_write((uint8_t *)entry + GT_PREFETCH_BYTES + 64);
	return entry + 1;
}

/* Right after the record that was begun last is filled in. */
static inline void gt_emit_commit(void)
{
	const struct gt_own *mine = &gt_own;

	/* From here on a salvager sees it; pairs with the acquire of whoever drains the slot. */
	atomic_store_explicit(&mine->slot->used,
	                      (uint32_t)(GT_RECORD_BYTES - (mine->end - mine->next)),
	                      memory_order_release);
}

/* The same for a record that goes on: it may be written to until gt_emit_close. */
static inline void gt_emit_commit_open(void)
{
	gt_own.open++;
	gt_emit_commit();
}

/*
 * The end of a record that is kept open, a reading of gt_stamp, behind all else that the thread has
 * stored in it: at the end of a recording the slot is drained while the thread runs on, and a
 * record that has its end then is whole (format/arena/drain.c).
 */
static inline void gt_emit_set_end(uint64_t *end_ns, uint64_t reading)
{
	__atomic_store_n(end_ns, reading, __ATOMIC_RELEASE);
}

/* Whether a record that the thread began is open in the slot that it has now. */
static inline bool gt_emit_is_open(const void *record)
{
	return (size_t)(gt_own.end - (const uint8_t *)record) <= GT_RECORD_BYTES && gt_own.open;
}

/* Closes one for which that is so. */
static inline void gt_emit_close_open(void)
{
	gt_own.open--;
}

/* On the thread that began it. */
static inline void gt_emit_close(struct gt_session *session, const void *record)
{
	if (gt_emit_is_open(record))
		gt_emit_close_open();
	else
		gt_emit_close_held(session, record);
}

/*
 * For threads of ours that have much to record and can wait: whether half of the slots for records
 * are free, so that the program's threads find one. Counts nothing.
 */
bool gt_emit_has_plenty(const struct gt_session *session);

/* One sample of a series, with its values. */
void gt_emit_sample(struct gt_session *session, const struct gt_sample *sample);

/* Hands what the calling thread has emitted to the writer, but for what is open. */
void gt_emit_hand_over(struct gt_session *session);

/*
 * At the end of a recording: whether a record that this thread has committed is in the capture, or
 * will be. One that was committed when its slot was closed already is not.
 */
__attribute__((cold)) bool gt_emit_is_kept(struct gt_session *session, const void *record);

/* All that the calling thread has open will not be closed any more. */
void gt_emit_abandon(struct gt_session *session);

/* At the end of the calling thread its slots are handed over, and what is kept of it goes. */
void gt_emit_watch_end(struct gt_session *session);

/* In the child of a fork: the slots that the calling thread had are the parent's. */
void gt_emit_forget(void);

/*
 * Puts a text behind a record of record_bytes, which was begun with room for it: begin with
 * record_bytes + GT_TEXT_BYTES(size). Returns what its string field is to hold.
 */
#define GT_TEXT_BYTES(size) (sizeof(uint16_t) + (size))
uint32_t gt_emit_text(void *record, size_t record_bytes, const char *text, size_t size);

/* The same of one of several texts: bytes, of the record and the texts so far, grow by it. */
uint32_t gt_emit_add_text(void *record, size_t *bytes, const char *text);

#endif

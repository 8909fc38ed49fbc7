/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/session/notes.h"

#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "injection/process/thread.h"
#include "injection/session/services.h"
#include "injection/session/session.h"

enum { NOTE_FREE, NOTE_FILLING, NOTE_WAITING };

static void write_note(struct gt_session *session, const char *topic, const char *text)
{
	const struct gt_record_note note = {
		.topic = gt_intern(session, topic),
		.text = gt_intern(session, text),
	};
	const struct gt_origin none = {0};

	(void)gt_writer_records(&session->writer, GT_RECORD_note, &note, 1, none);
}

/* One that finds no place is dropped: it would be the fifth in a moment. */
static void leave_note(struct gt_notes *notes, const char *topic, const char *text)
{
	for (size_t i = 0; i < GT_WAITING_NOTES; i++) {
		uint32_t state = NOTE_FREE;

		if (!atomic_compare_exchange_strong_explicit(&notes->waiting[i].state, &state,
		                                             NOTE_FILLING, memory_order_acquire,
		                                             memory_order_relaxed))
			continue;
		snprintf(notes->waiting[i].topic, sizeof(notes->waiting[i].topic), "%s", topic);
		snprintf(notes->waiting[i].text, sizeof(notes->waiting[i].text), "%s", text);
		/* Pairs with the acquire in gt_notes_write. */
		atomic_store_explicit(&notes->waiting[i].state, NOTE_WAITING, memory_order_release);
		return;
	}
}

/* Where there is no session, and at its start beside the thread that starts it, nobody is. */
static bool is_writer(const struct gt_session *session)
{
	const uint32_t starter = atomic_load_explicit(&session->starter, memory_order_relaxed);

	return gt_thread_role() == GT_THREAD_WRITER ||
	       (starter && starter == (uint32_t)syscall(SYS_gettid));
}

void gt_note(struct gt_session *session, const char *topic, const char *text)
{
	if (is_writer(session))
		write_note(session, topic, text);
	else
		leave_note(&session->notes, topic, text);
}

void gt_notes_write(struct gt_session *session)
{
	for (size_t i = 0; i < GT_WAITING_NOTES; i++) {
		_Atomic uint32_t *state = &session->notes.waiting[i].state;

		if (atomic_load_explicit(state, memory_order_acquire) != NOTE_WAITING)
			continue;
		write_note(session, session->notes.waiting[i].topic,
		           session->notes.waiting[i].text);
		/* Pairs with the acquire in leave_note. */
		atomic_store_explicit(state, NOTE_FREE, memory_order_release);
	}
}

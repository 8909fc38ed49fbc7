/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SESSION_NOTES_H
#define GT_INJECTION_SESSION_NOTES_H

#include <stdatomic.h>
#include <stdint.h>

struct gt_session;

/*
 * Notes of threads that do not write the capture wait here for the one that does; the few that
 * there may be at once. See gt_note in injection/session/services.h.
 */
#define GT_WAITING_NOTES 4

struct gt_notes {
	struct {
		_Atomic uint32_t state; /* free, being filled, or waiting */
		char topic[32];
		char text[256]; /* longer ones are cut */
	} waiting[GT_WAITING_NOTES];
};

/* Writer thread. */
void gt_notes_write(struct gt_session *session);

#endif

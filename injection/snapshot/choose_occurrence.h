/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SNAPSHOT_CHOOSE_OCCURRENCE_H
#define GT_INJECTION_SNAPSHOT_CHOOSE_OCCURRENCE_H

#include "injection/calls/parameters.h"
#include "injection/snapshot/sequence.h"

struct gt_session;

/*
 * Occurrences of a range as sequences: all that the process has the GPU do while a range of the
 * name is open on any thread, with the memory that it reaches before its first step and after its
 * last.
 *
 * Each step waits for the GPU, as a single launch does that is captured (choose_launch.h), and has
 * the turn from its entry to its return, so that the steps are in the order in which they came to
 * the GPU. Memory is copied before the first step that reaches it; what is left in it at the end of
 * the range. Anything that no sequence can have ends it with the reason, and the rest of the
 * occurrence runs as if nobody looked.
 */

/* In the source's start, when its thread is ready: which calls and ranges it hears of. */
void gt_choose_occurrence_start(struct gt_session *session, struct gt_sequence *sequences);

/* At the entry of a call. Returns what source captures keeps until the call returns, or NULL. */
void *gt_choose_occurrence(struct gt_session *session, struct gt_sequence *sequences,
                           struct gt_call call);

/* Calls from here on are not heard: an occurrence that is open would lack them. */
void gt_choose_occurrence_pause(struct gt_session *session, struct gt_sequence *sequences);

/* The program ends: a range that it did not end is no occurrence. On our thread. */
void gt_choose_occurrence_end(struct gt_session *session, struct gt_sequence *sequences);

#endif

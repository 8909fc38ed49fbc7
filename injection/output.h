/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_OUTPUT_H
#define GT_INJECTION_OUTPUT_H

#include <stddef.h>

struct gt_error;
struct gt_session;

/*
 * Makes the files of this process in the recording folder: the capture, opened to append, and
 * the arena, allocated on the disk (so that touching it can never fail later), mapped and
 * locked. On failure nothing is left behind.
 */
int gt_capture_file_open(struct gt_session *session, struct gt_error *err);

/* Before anything is in them: both files go again. */
void gt_capture_file_remove(struct gt_session *session);

/*
 * Appends to the capture: 0 or a negative errno value. A program may close every descriptor it
 * did not open, and its own files then get the numbers; what is not our file is left alone.
 */
int gt_capture_file_write(struct gt_session *session, const void *data, size_t size);

/* In the child of a fork: closes its copy of the capture's descriptor. */
void gt_capture_file_forget(struct gt_session *session);

/* Gives the capture's and, unless something is left in it, the arena's file back. */
void gt_capture_file_close(struct gt_session *session, int remove_arena);

#endif

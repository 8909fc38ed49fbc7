/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_OUTPUT_H
#define GT_INJECTION_OUTPUT_H

#include <stddef.h>

struct gt_session;

/*
 * Makes the files of this process in the recording folder: the capture, opened to append, and
 * the arena, allocated on the disk (so that touching it can never fail later), mapped and
 * locked. On failure nothing is left behind; a sentence stands in why.
 */
int gt_output_open(struct gt_session *session, char *why, size_t why_size);

/* Gives the capture's and, unless something is left in it, the arena's file back. */
void gt_output_close(struct gt_session *session, int remove_arena);

#endif

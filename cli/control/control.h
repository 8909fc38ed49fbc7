/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_CONTROL_CONTROL_H
#define GT_CLI_CONTROL_CONTROL_H

#include <stdbool.h>

struct gt_error;

/* Recordings of programs that still run: gputrace start, stop and status. */

/*
 * The recording that a word names: a process id of this machine, or a recording as elsewhere; NULL
 * for the one that would be read. The caller frees it. Negative, with a sentence: there is none.
 */
int gt_control_find(const char *word, char **folder, struct gt_error *err);

/*
 * Has all processes of the recording on this machine record, or pause, and waits until each has
 * followed. Says how many did. Negative: nothing is recorded into it here, or some process did not
 * follow within five seconds.
 */
int gt_control_ask(const char *folder, bool record, struct gt_error *err);

/* Prints a line for each process of the recording on this machine, whether it is paused. */
int gt_control_print(const char *folder, struct gt_error *err);

#endif

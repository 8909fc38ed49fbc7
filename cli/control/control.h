/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_CONTROL_CONTROL_H
#define GT_CLI_CONTROL_CONTROL_H

struct gt_error;
struct gt_option;

/* Recordings of programs that still run: gputrace start, stop and status. */

/* Does something with a recording's folder and the values of the options; 0, or a negative errno
 * value with a sentence. */
typedef int gt_control_act(const char *folder, void *values, struct gt_error *err);

/*
 * The command of one of these acts: its operand is a recording, or the id of a process of this
 * machine that is recorded; without one it is the recording that would be read.
 */
int gt_control_run(const struct gt_option *options, void *values, int argc, char **argv,
                   gt_control_act *act, struct gt_error *err);

/*
 * Has all processes of the recording on this machine record, or pause, and waits until each has
 * followed. Says how many did. Fails where nothing is recorded into it here, or some process did
 * not follow within five seconds.
 */
gt_control_act gt_control_start;
gt_control_act gt_control_stop;

/* Prints a line for each process of the recording on this machine, whether it is paused. */
gt_control_act gt_control_print;

#endif

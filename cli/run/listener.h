/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_RUN_LISTENER_H
#define GT_CLI_RUN_LISTENER_H

#include <stdint.h>

struct gt_roll;

/*
 * How processes tell gputrace run that they cannot be recorded: the roll of the recording
 * (format/roll.h), which is there before the program starts, and, for those that cannot even reach
 * that, an address in no file system. Nothing of it is seen in the program: it inherits no
 * descriptor. A message waits in the socket until the listener is closed. A process of another
 * user is believed only with the token, which it has from the environment that the run gave it.
 */
struct gt_listener {
	struct gt_roll *roll; /* NULL: there is none */
	int fd;               /* -1: nobody can be heard */
	uint64_t token;       /* whoever sends another one is not of this run */
	char run[80];         /* for GPUTRACE_RUN: the address and the token; "" without one */
};

/* Works as far as it can; there is nothing to be done about the rest. */
void gt_listener_open(struct gt_listener *listener, const char *folder);

/* Enters what was sent into the roll. */
void gt_listener_close(struct gt_listener *listener);

#endif

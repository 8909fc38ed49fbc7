/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_PROCESS_CALM_H
#define GT_INJECTION_PROCESS_CALM_H

#include <signal.h>

/*
 * While we make files on a thread of the program, no signal may reach the program from that: a
 * file that grows past the limit of its shell (SIGXFSZ) is our trouble, and a handler of its own
 * must not run in here. Nor may the thread be cancelled at our file calls, in the middle of a call
 * of the driver.
 */

/* The signals and the cancellation that the thread had allowed. */
struct gt_calm {
	sigset_t signals;
	int cancel;
};

void gt_calm_begin(struct gt_calm *before);
void gt_calm_end(const struct gt_calm *before);

#endif

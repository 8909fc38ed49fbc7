/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_TOP_INTERRUPT_H
#define GT_CLI_TOP_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Ctrl-C and its like, for a command that waits again and again and leaves a terminal as it was. */
struct gt_interrupt {
	sigset_t wanted;
	sigset_t before; /* the mask of signals that there was */
};

/* From now on these signals end waiting, and nothing else. */
void gt_interrupt_begin(struct gt_interrupt *interrupt);
void gt_interrupt_end(const struct gt_interrupt *interrupt);

/* Waits; true: a signal came, then or before. */
bool gt_interrupt_wait(const struct gt_interrupt *interrupt, uint64_t duration_ns);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_PROCESS_PROCESS_H
#define GT_INJECTION_PROCESS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_meta;

/* Who the traced process is, as the kernel tells it; nothing is allocated. */

/* Clock ticks since boot when the process started: with the pid it names the process for ever. */
uint64_t gt_process_started(void);

/* Whether it is a copy of its parent by fork, and runs no program of its own since. */
bool gt_process_is_forked(void);

/*
 * Whether it has more rights than who started it (setuid, capabilities of its file): then what the
 * environment says is not to be trusted.
 */
bool gt_process_is_privileged(void);

/* The name of the executable's file, "program" when it cannot be told. */
void gt_process_program(char *name, size_t size);

/* Adds host, boot id, pids, program and command line. */
void gt_process_describe(struct gt_meta *meta, char *text, size_t size);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_DEVICE_EVENTS_NAMES_H
#define GT_INJECTION_DEVICE_EVENTS_NAMES_H

#include <stdint.h>

struct gt_session;

/*
 * Names of the events that kernels write, as the program tells them (gputrace_device_name): each is
 * recorded once. They are kept, since in the child of a fork a recording of its own needs them.
 */
#define GT_DEVICE_NAMES_KEPT 4096 /* others are refused */

/* When a session starts that records device events; in the child of a fork tells what it knows. */
void gt_device_names_start(struct gt_session *session);

/* In the child of a fork: threads that were at it are not here. */
void gt_device_names_forget(void);

/*
 * The id of a name, which is recorded where it is new and device events are; refused, and counted,
 * when it is empty, too long, one too many, or another name has the id. Any thread of the program.
 */
uint32_t gt_device_names_add(struct gt_session *session, const char *text);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_DEVICE_NAMES_H
#define GT_INJECTION_DEVICE_NAMES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct gt_device_name;
struct gt_session;

/*
 * Names of the events that kernels write, as the program tells them (gputrace_device_name): each is
 * recorded once. They are kept, since in the child of a fork a recording of its own needs them.
 */
struct gt_device_names {
	bool ready; /* the lock is there: from the start of a session that records such events */
	/* Guards the rest. Nothing is waited for while it is held. */
	pthread_mutex_t lock;
	struct gt_device_name *entries; /* GT_DEVICE_NAMES_KEPT of them; NULL: none was told yet */
	uint32_t count;
};

#define GT_DEVICE_NAMES_KEPT 4096 /* others are refused */

/* When a session starts that records device events; in the child of a fork tells what it knows. */
void gt_device_names_start(struct gt_session *session);

/* In the child of a fork: threads that were at it are not here. */
void gt_device_names_forget(struct gt_device_names *names);

/*
 * The id of a name, which is recorded where it is new and device events are; refused, and counted,
 * when it is empty, too long, one too many, or another name has the id. Any thread of the program.
 */
uint32_t gt_device_names_add(struct gt_session *session, const char *text);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SESSION_FORKS_H
#define GT_INJECTION_SESSION_FORKS_H

#include <stdbool.h>

struct gt_session;

/*
 * The fate of a session in the children of its process. The arena is not mapped in a child, and the
 * page of the session that all callbacks read first is zeroed there. The handlers of fork() restore
 * what a child needs to count what it does, or to begin a session of its own. clone and _Fork run
 * no handlers: their children stay as they are, until they are found.
 */

/* Before the session begins: has the page zeroed in children. */
void gt_forks_wipe(struct gt_session *session);

/* Once the router's wants are made, before it hears of anything. */
void gt_forks_keep_router(struct gt_session *session);

/* In the parent, right before a fork. Any thread. */
void gt_forks_prepare(struct gt_session *session);

/*
 * In the child of a fork: records nothing and touches nothing of the parent's. True when a session
 * may begin anew in it, as CUDA had not started.
 */
bool gt_forks_forget(struct gt_session *session);

/*
 * Where this is the child of a clone, in which nothing was restored, that is done now, and what it
 * does is counted from here on. Any thread, any number of times.
 */
void gt_forks_find_clone(struct gt_session *session);

/* Counts a call of NVTX or gputrace.h where a child has no session (yet). Any thread. */
__attribute__((cold)) void gt_forks_count(struct gt_session *session);

#endif

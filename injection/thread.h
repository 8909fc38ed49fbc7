/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_THREAD_H
#define GT_INJECTION_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/*
 * gputrace's own threads in a traced program. They block all signals, so that the program's
 * handlers never run on them, and what they do with CUDA is not the program's.
 */

enum gt_thread_role {
	GT_THREAD_PROGRAM, /* every thread that is not ours */
	GT_THREAD_WRITER,
	GT_THREAD_FLUSHER,
	GT_THREAD_SOURCE,
};

/* 0, or a positive errno value when a thread cannot be made. run begins with gt_thread_enter. */
int gt_thread_start(pthread_t *thread, void *(*run)(void *), void *context);

/* Says what the calling thread is from now on. */
void gt_thread_enter(enum gt_thread_role role);

/* initial-exec: no allocation at the first access of a thread, whatever it is in the middle of. */
extern __thread enum gt_thread_role gt_own_role
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

static inline enum gt_thread_role gt_thread_role(void)
{
	return gt_own_role;
}

static inline bool gt_thread_is_ours(void)
{
	return gt_own_role != GT_THREAD_PROGRAM;
}

#endif

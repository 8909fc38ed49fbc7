/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/thread.h"

#include <signal.h>
#include <stddef.h>

__thread struct gt_own gt_own __attribute__((tls_model("initial-exec")));

int gt_thread_start(pthread_t *thread, void *(*run)(void *), void *context)
{
	sigset_t all;
	sigset_t before;
	int result;

	/* A thread begins with the signal mask of the one that makes it. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	result = pthread_create(thread, NULL, run, context);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return result;
}

void gt_thread_enter(enum gt_thread_role role)
{
	gt_own.role = role;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/thread.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>

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
	gt_own.role = role & 0x7f;
	gt_own_leave_calls(0);
}

void gt_own_leave_calls(uint32_t times)
{
	gt_own.times = times;
	gt_own.correlation = 0;
	memset(gt_own.depths, 0, sizeof(gt_own.depths));
	memset(gt_own.keep, 0, sizeof(gt_own.keep));
	memset(gt_own.nested, 0, sizeof(gt_own.nested));
}

void gt_own_set_aside(struct gt_set_aside *calls)
{
	calls->times = gt_own.times;
	calls->correlation = gt_own.correlation;
	calls->role = gt_own.role;
	memcpy(calls->depths, gt_own.depths, sizeof(calls->depths));
	memcpy(calls->keep, gt_own.keep, sizeof(calls->keep));
	memcpy(calls->nested, gt_own.nested, sizeof(calls->nested));
	gt_thread_enter(GT_THREAD_ASIDE);
}

void gt_own_take_up(const struct gt_set_aside *calls)
{
	gt_own.times = calls->times;
	gt_own.correlation = calls->correlation;
	gt_own.role = (unsigned)calls->role & 0x7f;
	memcpy(gt_own.depths, calls->depths, sizeof(calls->depths));
	memcpy(gt_own.keep, calls->keep, sizeof(calls->keep));
	memcpy(gt_own.nested, calls->nested, sizeof(calls->nested));
}

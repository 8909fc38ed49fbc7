/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/process/thread.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

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
	gt_own.role = (uint8_t)role;
	gt_own_leave_calls(0);
}

void gt_own_leave_calls(uint32_t times)
{
	gt_own.times = times;
	gt_own.correlation = 0;
	gt_own.first = (struct gt_heard){0};
	if (!gt_own.rest)
		return;
	memset(gt_own.rest->heard, 0, sizeof(gt_own.rest->heard));
	memset(gt_own.rest->nested, 0, sizeof(gt_own.rest->nested));
}

bool gt_own_make_rest(void)
{
	const int saved = errno;
	void *memory = mmap(NULL, sizeof(*gt_own.rest), PROT_READ | PROT_WRITE,
	                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	errno = saved;
	gt_own.rest = memory == MAP_FAILED ? NULL : memory;
	return gt_own.rest != NULL;
}

void gt_own_drop_rest(void)
{
	if (!gt_own.rest)
		return;
	(void)munmap(gt_own.rest, sizeof(*gt_own.rest));
	gt_own.rest = NULL;
	gt_own.times = 0; /* it is heard no more without it */
}

void gt_own_set_aside(struct gt_set_aside *calls)
{
	calls->times = gt_own.times;
	calls->correlation = gt_own.correlation;
	calls->role = gt_own.role;
	calls->first = gt_own.first;
	if (gt_own.rest) {
		memcpy(calls->heard, gt_own.rest->heard, sizeof(calls->heard));
		memcpy(calls->nested, gt_own.rest->nested, sizeof(calls->nested));
	}
	gt_thread_enter(GT_THREAD_ASIDE);
}

void gt_own_take_up(const struct gt_set_aside *calls)
{
	gt_own.times = calls->times;
	gt_own.correlation = calls->correlation;
	gt_own.role = calls->role;
	gt_own.first = calls->first;
	if (gt_own.rest) {
		memcpy(gt_own.rest->heard, calls->heard, sizeof(calls->heard));
		memcpy(gt_own.rest->nested, calls->nested, sizeof(calls->nested));
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/process/calm.h"

#include <pthread.h>
#include <time.h>

void gt_calm_begin(struct gt_calm *before)
{
	sigset_t all;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before->cancel);

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before->signals);
}

/* A SIGXFSZ that is pending is from our writing: taken away before signals are let through. */
void gt_calm_end(const struct gt_calm *before)
{
	static const struct timespec now = {0};
	sigset_t size;

	sigemptyset(&size);
	sigaddset(&size, SIGXFSZ);
	if (!sigismember(&before->signals, SIGXFSZ))
		(void)sigtimedwait(&size, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &before->signals, NULL);
	pthread_setcancelstate(before->cancel, NULL);
}

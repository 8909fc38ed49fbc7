/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/process/wait.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "injection/process/now.h"

/* The thread sanitizer knows every wait for a semaphore but this one. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
void __tsan_acquire(void *address); /* NOLINT: its name */
#define ACQUIRED(semaphore) __tsan_acquire(semaphore)
#endif
#endif
#ifndef ACQUIRED
#define ACQUIRED(semaphore) (void)(semaphore)
#endif

bool gt_wait(sem_t *semaphore, uint64_t limit_ns)
{
	const int saved = errno;
	const uint64_t until = gt_monotonic() + limit_ns;
	const struct timespec deadline = {.tv_sec = (time_t)(until / 1000000000u),
	                                  .tv_nsec = (long)(until % 1000000000u)};
	int cancel;
	int result;

	/* The program's thread waits inside a call of the driver: it must not end there. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	do
		result = sem_clockwait(semaphore, CLOCK_MONOTONIC, &deadline);
	while (result < 0 && errno == EINTR);
	if (result == 0)
		ACQUIRED(semaphore);
	pthread_setcancelstate(cancel, NULL);
	errno = saved;
	return result == 0;
}

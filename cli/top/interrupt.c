/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/top/interrupt.h"

#include <errno.h>
#include <time.h>

#define SECOND_NS 1000000000u

void gt_interrupt_begin(struct gt_interrupt *interrupt)
{
	sigemptyset(&interrupt->wanted);
	sigaddset(&interrupt->wanted, SIGINT);
	sigaddset(&interrupt->wanted, SIGTERM);
	sigaddset(&interrupt->wanted, SIGHUP);
	(void)pthread_sigmask(SIG_BLOCK, &interrupt->wanted, &interrupt->before);
}

/* One that came last has done its part. */
void gt_interrupt_end(const struct gt_interrupt *interrupt)
{
	(void)gt_interrupt_wait(interrupt, 0);
	(void)pthread_sigmask(SIG_SETMASK, &interrupt->before, NULL);
}

bool gt_interrupt_wait(const struct gt_interrupt *interrupt, uint64_t duration_ns)
{
	const struct timespec duration = {.tv_sec = (time_t)(duration_ns / SECOND_NS),
	                                  .tv_nsec = (long)(duration_ns % SECOND_NS)};

	return sigtimedwait(&interrupt->wanted, NULL, &duration) > 0;
}

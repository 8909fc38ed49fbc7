/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/session/cost.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "injection/session/session.h"

/* Notes what a thread has used so far; one that has ended cannot be asked any more. */
static void measure(pthread_t thread, uint64_t *used_ns)
{
	struct timespec used;
	clockid_t clock;

	if (pthread_getcpuclockid(thread, &clock) == 0 && clock_gettime(clock, &used) == 0)
		*used_ns = (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

uint64_t gt_cost_measure(struct gt_session *session)
{
	struct gt_cost *cost = &session->cost;
	uint64_t sum;

	measure(session->writer_thread.thread, &cost->writer_ns);
	if (session->flushes)
		measure(session->flusher.thread, &cost->flusher_ns);
	sum = cost->writer_ns + cost->flusher_ns;
	for (uint32_t i = 0; i < session->sources.count; i++) {
		const struct gt_waiter *waiter = &session->sources.members[i].waiter;

		if (atomic_load_explicit(&waiter->runs, memory_order_acquire))
			measure(waiter->thread, &cost->sources_ns[i]);
		sum += cost->sources_ns[i];
	}
	return sum;
}

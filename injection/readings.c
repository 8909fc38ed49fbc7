/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/readings.h"

#include "injection/now.h"
#include "injection/wait.h"

#define APART_NS     10000000u /* readings that nobody waits for */
#define MOST_AWAITED 64

void gt_readings_init(struct gt_readings *readings)
{
	sem_init(&readings->done, 0, 0);
}

static void note_asked(struct gt_readings *readings, uint64_t now_ns)
{
	atomic_store_explicit(&readings->asked_ns, now_ns, memory_order_relaxed);
	atomic_store_explicit(&readings->asked, true, memory_order_release);
}

bool gt_readings_ask(struct gt_readings *readings)
{
	const uint64_t now_ns = gt_now();

	if (now_ns - atomic_load_explicit(&readings->asked_ns, memory_order_relaxed) < APART_NS)
		return false;
	note_asked(readings, now_ns);
	return true;
}

bool gt_readings_ask_to_wait(struct gt_readings *readings)
{
	if (!atomic_load_explicit(&readings->reads, memory_order_relaxed) ||
	    atomic_load_explicit(&readings->late, memory_order_relaxed) ||
	    atomic_fetch_add_explicit(&readings->awaited, 1, memory_order_relaxed) >= MOST_AWAITED)
		return false;
	atomic_fetch_add_explicit(&readings->waiting, 1, memory_order_relaxed);
	note_asked(readings, gt_now());
	return true;
}

void gt_readings_wait(struct gt_readings *readings, uint64_t limit_ns)
{
	if (!gt_wait(&readings->done, limit_ns))
		atomic_store_explicit(&readings->late, true, memory_order_relaxed);
}

void gt_readings_serve(struct gt_readings *readings, bool reads)
{
	atomic_store_explicit(&readings->reads, reads, memory_order_relaxed);
	if (!reads)
		gt_readings_tell(readings, atomic_exchange_explicit(&readings->waiting, 0,
		                                                    memory_order_relaxed));
}

bool gt_readings_take(struct gt_readings *readings, uint32_t *waiting)
{
	*waiting = 0;
	if (!atomic_load_explicit(&readings->asked, memory_order_relaxed) ||
	    !atomic_exchange_explicit(&readings->asked, false, memory_order_acquire))
		return false;
	*waiting = atomic_exchange_explicit(&readings->waiting, 0, memory_order_relaxed);
	return true;
}

void gt_readings_tell(struct gt_readings *readings, uint32_t waiting)
{
	while (waiting-- > 0)
		sem_post(&readings->done);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/pools/statistics.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "injection/process/thread.h"
#include "injection/process/wait.h"
#include "injection/session/columns.h"
#include "injection/session/services.h"
#include "injection/session/source.h"

#define LONGEST_WAIT_NS 100000000u /* after which pulls that were registered meanwhile are seen */
#define USUAL_PULL_NS   100000000u
#define LEAST_PULL_NS   1000000u
#define OVER_NS         10000000u /* that a pull is waited for, before it is looked at again */

enum stat {
#define POOL_STAT(name, unit, kind, help) STAT_##name,
#include "injection/pools/stats.def"
	STAT_COUNT
};

/* Members of the struct lie in the order of the list, behind its size. */
#define POOL_STAT(name, unit, kind, help)                                                          \
	_Static_assert(offsetof(struct gputrace_pool_stats, name) ==                               \
	                       sizeof(size_t) + STAT_##name * sizeof(uint64_t),                    \
	               #name);
#include "injection/pools/stats.def"

enum { LEVEL = 0, TOTAL = 1 }; /* kinds, as counter records have them */

#define BYTE  GT_BYTES
#define COUNT ""

static const struct gt_column_words columns[STAT_COUNT] = {
#define POOL_STAT(name, unit, kind, help) {#name, unit, help, kind},
#include "injection/pools/stats.def"
};

/* ---- told ---- */

/* Which of these columns nobody has announced of the pool; they count as announced from now on. */
static uint32_t claim(struct gt_pool_entry *entry, uint32_t number, uint32_t known)
{
	uint64_t state = atomic_load_explicit(&entry->state, memory_order_relaxed);

	do {
		if (state >> 32 != number)
			return 0;
		if ((known & ~(uint32_t)state) == 0)
			return 0;
	} while (!atomic_compare_exchange_weak_explicit(
		&entry->state, &state, state | known, memory_order_relaxed, memory_order_relaxed));
	return known & ~(uint32_t)state;
}

static void emit_stats(struct gt_session *session, uint64_t pool, const uint64_t values[STAT_COUNT])
{
	const uint32_t number = gt_pool_number(pool);
	struct gt_pool_entry *entry = gt_pool_entry_of(pool);
	union {
		struct gt_sample sample;
		uint8_t bytes[sizeof(struct gt_sample) + STAT_COUNT * sizeof(double)];
	} row = {.sample = {.time_ns = gt_now(),
	                    .series = (uint16_t)(GT_SERIES_POOLS + number - 1),
	                    .clock = GT_SERIES_HOST,
	                    .columns = STAT_COUNT}};
	uint32_t known = 0;

	if (!entry)
		return;
	if (number > UINT16_MAX - GT_SERIES_POOLS) {
		gt_pools_note_once(
			session, GT_POOLS_NOTED_SERIES,
			"the program has made more pools than there are series for: of later "
			"ones there are no statistics");
		return;
	}
	for (uint32_t i = 0; i < STAT_COUNT; i++) {
		known |= (uint32_t)(values[i] != GPUTRACE_UNKNOWN) << i;
		row.sample.values[i] = values[i] == GPUTRACE_UNKNOWN ? NAN : (double)values[i];
	}
	if (known == 0)
		return;
	for (uint32_t left = claim(entry, number, known); left; left &= left - 1) {
		const uint32_t stat = (uint32_t)__builtin_ctz(left);

		gt_column_announce(session, &columns[stat],
		                   (struct gt_column_place){.series = row.sample.series,
		                                            .place = stat,
		                                            .pool = number});
	}
	gt_emit_sample(session, &row.sample);
}

static void read_stats(const struct gputrace_pool_stats *stats, uint64_t values[STAT_COUNT])
{
	struct gputrace_pool_stats all;

	memset(&all, 0xff, sizeof(all)); /* GPUTRACE_UNKNOWN */
	gt_pools_read_struct(&all, sizeof(all), stats);
	memcpy(values, &all.num_allocs, STAT_COUNT * sizeof(*values));
}

void gt_pool_stats(uint64_t pool, const struct gputrace_pool_stats *stats)
{
	struct gt_session *session = gt_session_get();
	uint64_t values[STAT_COUNT];

	if (pool == 0 || !stats || !gt_is_recording(session))
		return;
	read_stats(stats, values);
	emit_stats(session, pool, values);
}

/* ---- pulls ---- */

/* With the lock, which is given up meanwhile: until no pull of the pool runs. */
void gt_pool_wait_for_pull(uint32_t number)
{
	/* A pull that ends its own pool does not wait for itself. */
	while (gt_pools.pulling == number && !gt_thread_is_ours()) {
		gt_pools.waiting++;
		pthread_mutex_unlock(&gt_pools.lock);
		(void)gt_wait(&gt_pools.pulled, OVER_NS);
		pthread_mutex_lock(&gt_pools.lock);
		gt_pools.waiting--;
	}
}

void gt_pool_pull(uint64_t pool, gputrace_pull *pull, void *user, uint64_t interval_ns)
{
	struct gt_session *session = gt_session_get();
	const int saved = errno;
	struct gt_pool_entry *entry;

	if (pool == 0 || !gt_pools_are_kept(session))
		return;
	pthread_mutex_lock(&gt_pools.lock);
	entry = gt_pool_entry_of(pool);
	if (entry) {
		entry->pull = NULL;
		gt_pool_wait_for_pull(gt_pool_number(pool));
		entry = gt_pool_entry_of(pool); /* it may have been destroyed meanwhile */
	}
	if (entry) {
		entry->user = user;
		entry->interval_ns = interval_ns ? interval_ns : USUAL_PULL_NS;
		if (entry->interval_ns < LEAST_PULL_NS)
			entry->interval_ns = LEAST_PULL_NS;
		entry->due_ns = 0;
		entry->pull = pull;
	}
	pthread_mutex_unlock(&gt_pools.lock);
	if (entry && pull)
		gt_want_thread(session, &gt_source_pools);
	errno = saved;
}

/* The program's function may end the thread, as Python does with threads that outlive it. */
static void end_pull(void *context)
{
	(void)context;
	pthread_mutex_lock(&gt_pools.lock);
	gt_pools.pulling = 0;
	for (uint32_t i = 0; i < gt_pools.waiting; i++)
		sem_post(&gt_pools.pulled);
	pthread_mutex_unlock(&gt_pools.lock);
}

static void call(gputrace_pull *pull, uint64_t pool, struct gputrace_pool_stats *stats, void *user)
{
	memset(stats, 0xff, sizeof(*stats)); /* GPUTRACE_UNKNOWN */
	stats->struct_size = sizeof(*stats);
	pthread_cleanup_push(end_pull, NULL);
	pull(pool, stats, user);
	pthread_cleanup_pop(1);
	stats->struct_size = sizeof(*stats);
}

/* Asks the pool if it is due; returns when it is next, gt_now. */
static uint64_t ask(uint32_t place)
{
	struct gt_pool_entry *entry = &gt_pools.entries[place];
	const uint64_t now_ns = gt_now();
	struct gputrace_pool_stats stats;
	gputrace_pull *pull;
	uint64_t next_ns = UINT64_MAX;
	uint64_t pool;
	void *user;

	pthread_mutex_lock(&gt_pools.lock);
	pool = gt_pool_id(place + 1, gt_pool_number_in(entry));
	pull = entry->pull;
	user = entry->user;
	if (pull && entry->due_ns > now_ns) {
		next_ns = entry->due_ns;
		pull = NULL;
	} else if (pull) {
		/* One that comes late makes those after it no later. */
		entry->due_ns += entry->interval_ns;
		if (entry->due_ns <= now_ns)
			entry->due_ns = now_ns + entry->interval_ns;
		next_ns = entry->due_ns;
		gt_pools.pulling = gt_pool_number(pool);
	}
	pthread_mutex_unlock(&gt_pools.lock);
	if (pull) {
		call(pull, pool, &stats, user);
		gt_pool_stats(pool, &stats);
	}
	return next_ns;
}

uint64_t gt_pools_pull(struct gt_session *session)
{
	const uint32_t used = atomic_load_explicit(&gt_pools.used, memory_order_relaxed);
	uint64_t next_ns = UINT64_MAX;
	uint64_t now_ns;

	for (uint32_t i = 0; i < used && gt_is_recording(session); i++) {
		const uint64_t own_ns = ask(i);

		if (own_ns < next_ns)
			next_ns = own_ns;
	}
	now_ns = gt_now();
	if (next_ns <= now_ns)
		return 0;
	return next_ns - now_ns < LONGEST_WAIT_NS ? next_ns - now_ns : LONGEST_WAIT_NS;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <time.h>

#include "injection/session.h"
#include "injection/source.h"
#include "injection/threads.h"

/*
 * Pairs of clock readings for the whole life of a capture: CUPTI's clock and the machine's are
 * put on one timeline offline, drift included, from these.
 */

#define TRIES       8
#define INTERVAL_NS 1000000000u
#define FIRST_COUNT 8 /* readings made at every tick, before the interval applies */

static uint64_t read_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* All clocks between two readings of the first one: their distance bounds the disagreement. */
static struct gt_record_clock read_once(struct gt_session *session)
{
	struct gt_record_clock clock = {0};
	const uint64_t before = read_clock(CLOCK_MONOTONIC);
	uint64_t after;

	if (session->cupti.cuptiGetTimestamp(&clock.cupti_ns) != CUPTI_SUCCESS)
		clock.cupti_ns = 0;
	clock.boottime_ns = read_clock(CLOCK_BOOTTIME);
	clock.realtime_ns = read_clock(CLOCK_REALTIME);
	after = read_clock(CLOCK_MONOTONIC);
	clock.monotonic_ns = before + (after - before) / 2;
	clock.bound_ns = after - before;
	return clock;
}

static void sample(struct gt_session *session)
{
	struct gt_arena_header *header = session->arena.header;
	const uint32_t count = atomic_load_explicit(&header->clock_count, memory_order_relaxed);
	struct gt_record_clock best = read_once(session);

	for (int i = 1; i < TRIES; i++) {
		const struct gt_record_clock next = read_once(session);

		if (next.bound_ns < best.bound_ns)
			best = next;
	}
	header->clocks[count % GT_ARENA_CLOCKS] = best;
	/* Pairs with the acquire in format/drain.c of a salvager. */
	atomic_store_explicit(&header->clock_count, count + 1, memory_order_release);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as gt_source has it */
static int start(struct gt_session *session, char *why, size_t why_size)
{
	(void)why;
	(void)why_size;
	sample(session);
	return 0;
}

static void tick(struct gt_session *session)
{
	const struct gt_arena_header *header = session->arena.header;
	const uint32_t count = atomic_load_explicit(&header->clock_count, memory_order_relaxed);
	const uint64_t last = header->clocks[(count - 1) % GT_ARENA_CLOCKS].monotonic_ns;

	if (count < FIRST_COUNT || gt_now() - last >= INTERVAL_NS ||
	    atomic_load_explicit(&session->stopping, memory_order_relaxed))
		sample(session);
}

const struct gt_source gt_source_clock = {.name = "clock", .start = start, .tick = tick};

/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <time.h>

#include "injection/cupti/cupti.h"
#include "injection/session/services.h"
#include "injection/session/source.h"

/*
 * Pairs of clock readings for the whole life of a capture: CUPTI's clock and the machine's are
 * put on one timeline offline, drift included, from these.
 */

#define TRIES 8
#define FIRST_NS                                                                                   \
	1000000u /* between readings; doubled each time, so that short programs have some */
#define INTERVAL_NS 1000000000u

struct clock {
	uint64_t interval_ns;
};

/* All clocks between two readings of our own: their distance bounds the disagreement. */
static struct gt_record_clock read_once(const struct gt_cupti *cupti)
{
	struct gt_record_clock clock = {0};
	const uint64_t before = gt_now();
	uint64_t after;

	if (!cupti->cuptiGetTimestamp || cupti->cuptiGetTimestamp(&clock.cupti_ns) != CUPTI_SUCCESS)
		clock.cupti_ns = 0;
	clock.boottime_ns = gt_read_clock(CLOCK_BOOTTIME);
	clock.realtime_ns = gt_read_clock(CLOCK_REALTIME);
	if (!gt_now_is_monotonic())
		clock.monotonic_ns = gt_read_clock(CLOCK_MONOTONIC);
	after = gt_now();
	clock.host_ns = before + (after - before) / 2;
	clock.bound_ns = after - before;
	return clock;
}

static void sample(struct gt_session *session)
{
	struct gt_record_clock best = read_once(gt_cupti_of(session));

	for (int i = 1; i < TRIES; i++) {
		const struct gt_record_clock next = read_once(gt_cupti_of(session));

		if (next.bound_ns < best.bound_ns)
			best = next;
	}
	gt_add_clock(session, &best);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as gt_source has it */
static int start(struct gt_session *session, void *state, struct gt_error *err)
{
	struct clock *clock = state;

	(void)err;
	clock->interval_ns = FIRST_NS;
	sample(session);
	return 0;
}

/* A program that is over soon has readings of CUPTI's clock all the same. */
static void cuda_starts(struct gt_session *session, void *state)
{
	struct clock *clock = state;

	clock->interval_ns = FIRST_NS;
	sample(session);
}

static uint64_t tick(struct gt_session *session, void *state)
{
	struct clock *clock = state;
	const uint64_t interval_ns = clock->interval_ns;

	sample(session);
	clock->interval_ns = interval_ns * 2 < INTERVAL_NS ? interval_ns * 2 : INTERVAL_NS;
	return interval_ns;
}

const struct gt_source gt_source_clock = {
	.name = "clock",
	.goes_on = true,
	.state_size = sizeof(struct clock),
	.alone = true,
	.start = start,
	.cuda_starts = cuda_starts,
	.tick = tick,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/process/now.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "support/check.h"

Test(now, is_clock_monotonic_before_the_start)
{
	const uint64_t before = gt_monotonic();
	const uint64_t now = gt_now();

	cr_expect(gt_now_is_monotonic());
	cr_expect(le(u64, before, now));
	cr_expect(le(u64, now, gt_monotonic()));
}

Test(now, goes_on_where_clock_monotonic_stood_and_about_as_fast)
{
	const uint64_t wait_ns = 20000000;
	uint64_t began;
	uint64_t monotonic;

	gt_now_init();
	monotonic = gt_monotonic();
	began = gt_now();
	/* Whatever is scheduled between the two readings counts against neither for long. */
	cr_expect(lt(i64, llabs((int64_t)(began - monotonic)), 10000000));
	while (gt_monotonic() - monotonic < wait_ns)
		;
	cr_expect(ge(u64, gt_now() - began, wait_ns - wait_ns / 50));
}

Test(now, never_goes_back)
{
	uint64_t before;

	gt_now_init();
	before = gt_now();
	for (int i = 0; i < 1000000; i++) {
		const uint64_t now = gt_now();

		cr_assert(ge(u64, now, before));
		before = now;
	}
}

struct turns {
	_Atomic uint32_t turn; /* whose it is: 0 or 1 */
	uint64_t last;         /* reading of the other */
	uint32_t backward;
};

static void take_turns(struct turns *turns, uint32_t own)
{
	for (int i = 0; i < 20000; i++) {
		uint64_t stamp;

		while (atomic_load_explicit(&turns->turn, memory_order_acquire) != own)
			sched_yield();
		stamp = gt_stamp_in_order();
		turns->backward += stamp < turns->last;
		turns->last = stamp;
		atomic_store_explicit(&turns->turn, 1 - own, memory_order_release);
	}
}

static void *take_second_turns(void *turns)
{
	take_turns(turns, 1);
	return NULL;
}

Test(now, never_goes_back_from_one_thread_to_another_that_waited_for_it)
{
	struct turns turns = {0};
	pthread_t second;

	gt_now_init();
	cr_assert(eq(int, pthread_create(&second, NULL, take_second_turns, &turns), 0));
	take_turns(&turns, 0);
	pthread_join(second, NULL);
	cr_expect(eq(u32, turns.backward, 0));
}

Test(now, is_what_a_stamp_says_in_nanoseconds)
{
	uint64_t before;
	uint64_t stamp;

	gt_now_init();
	before = gt_now();
	stamp = gt_ticks_ns(&gt_ticks, gt_stamp());
	cr_expect(le(u64, before, stamp));
	cr_expect(le(u64, stamp, gt_now()));
}

/* A day of ticks times the scale is more than 64 bits hold. */
Test(now, counts_scaled_ticks)
{
	const struct gt_ticks counter = {
		.scale = (uint64_t)1 << 31, .ticks = 500, .ns = 1000}; /* two ticks a nanosecond */
	const uint64_t day_ns = 86400000000000;

	cr_expect(eq(u64, gt_ticks_ns(&counter, 500), 1000));
	cr_expect(eq(u64, gt_ticks_ns(&counter, 502), 1001));
	cr_expect(eq(u64, gt_ticks_ns(&counter, 500 + 2 * day_ns), 1000 + day_ns));
	cr_expect(eq(u64, gt_ticks_ns(&(struct gt_ticks){0}, 4711), 4711));
}

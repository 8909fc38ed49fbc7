/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/now.h"

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

#ifdef __x86_64__
/* A day of ticks times the scale is more than 64 bits hold. */
Test(now, counts_scaled_ticks)
{
	const uint64_t day_ticks = 2100000000ull * 86400;
	uint64_t now;

	gt_counter.scale = (uint64_t)(4294967296.0 / 2.1);
	gt_counter.ticks = gt_ticks() - day_ticks;
	gt_counter.ns = 1000;
	now = gt_now();
	cr_expect(ge(u64, now, 86399999000000));
	cr_expect(lt(u64, now, 86400000000000 + 60000000000));
}
#endif

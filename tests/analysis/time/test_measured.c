/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/time/measured.h"

#include "model/names.h"
#include "support/check.h"
#include "support/scene.h"

/* Two processes read the same GPU's power, in turns: its values are those of both, in order. */
Test(measured, by_several_processes_is_in_order_of_time)
{
	const double first[] = {1, 3, 5};
	const double second[] = {2, 4};
	struct gt_measured measured;

	scene_begin(1000);
	trace_counter(&trace, device, "power", GT_COUNTER_GAUGE, 100, 200, first, 3);
	trace_counter(&trace, device, "power", GT_COUNTER_GAUGE, 200, 200, second, 2);
	measured = gt_measured_on(&trace, device, "power");
	cr_assert(eq(sz, measured.count, 5));
	for (size_t i = 0; i < 5; i++) {
		cr_expect(eq(i64, measured.times_ns[i], TRACE_START_NS + 100 + 100 * (gt_time)i));
		cr_expect(eq(dbl, measured.values[i], (double)i + 1));
	}
	gt_measured_release(&measured);
	gt_trace_release(&trace);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/control/control.h"

#include <time.h>

#include "injection/process/now.h"

/* A command is followed within so long: 50 looks a second cost a quarter of a millisecond. */
#define LOOK_NS 20000000u

static bool waits_for_somebody(const struct gt_settings *settings)
{
	return settings->start_paused || settings->profiler_api || *settings->record_range ||
	       settings->start_at_ns;
}

struct gt_order gt_control_begin(struct gt_control *control, const struct gt_roll *roll,
                                 const struct gt_settings *settings)
{
	const bool waits = waits_for_somebody(settings);
	struct gt_order order = {true, !waits, waits ? GT_CAUSE_OPTIONS : GT_CAUSE_UNKNOWN};
	struct gt_order later;

	*control = (struct gt_control){
		.roll = roll,
		.start_at_ns = settings->start_at_ns,
		.stop_at_ns = settings->stop_at_ns,
	};
	/* In a process that begins later, times may be over and orders given. */
	while ((later = gt_control_next(control)).is_one)
		order = later;
	return order;
}

static bool is_over(uint64_t *at_ns)
{
	if (*at_ns == 0 || gt_read_clock(CLOCK_REALTIME) < *at_ns)
		return false;
	*at_ns = 0;
	return true;
}

struct gt_order gt_control_next(struct gt_control *control)
{
	if (is_over(&control->start_at_ns))
		return (struct gt_order){true, true, GT_CAUSE_TIME};
	if (is_over(&control->stop_at_ns))
		return (struct gt_order){true, false, GT_CAUSE_TIME};
	if (control->roll) {
		const uint64_t order = gt_order_of(control->roll);

		if (order != control->followed) {
			control->followed = order;
			return (struct gt_order){true, gt_order_records(order), GT_CAUSE_COMMAND};
		}
	}
	return (struct gt_order){0};
}

static uint64_t least(uint64_t one, uint64_t other)
{
	return one < other ? one : other;
}

static uint64_t until(uint64_t at_ns, uint64_t most_ns)
{
	const uint64_t now = at_ns ? gt_read_clock(CLOCK_REALTIME) : 0;

	if (at_ns == 0)
		return most_ns;
	return at_ns > now ? least(at_ns - now, most_ns) : 0;
}

uint64_t gt_control_wait_ns(const struct gt_control *control, uint64_t most_ns)
{
	if (control->roll && gt_order_of(control->roll) != control->followed)
		return 0;
	if (control->roll)
		most_ns = least(most_ns, LOOK_NS);
	return until(control->stop_at_ns, until(control->start_at_ns, most_ns));
}

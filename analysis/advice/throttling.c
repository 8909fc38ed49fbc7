/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "analysis/advice.h"
#include "analysis/covered.h"
#include "analysis/facts.h"
#include "analysis/measured.h"
#include "model/throttle.h"
#include "model/view.h"

enum {
	/* Samples come every 100 ms: in a recording of seconds that is one or two of them. */
	LEAST_PERCENT = 1,
};

/* Counters are of the whole window, whichever ranges are chosen in it. */
static uint64_t sampled_ns(const struct gt_facts *facts)
{
	return (uint64_t)(facts->view->end_ns - facts->view->start_ns);
}

/* The reason that held longest of those that come and go; 0: none did. */
static uint64_t worst_reason(const struct gt_throttles *throttles, gt_id device)
{
	uint64_t reasons = gt_throttle_slowing(gt_throttles_seen(throttles, device));
	uint64_t most_ns = 0;
	uint64_t worst = 0;

	while (reasons) {
		const uint64_t reason = gt_throttle_next(&reasons);
		const uint64_t total_ns = gt_throttles_sum(throttles, device, reason).total_ns;

		if (total_ns > most_ns) {
			most_ns = total_ns;
			worst = reason;
		}
	}
	return worst;
}

/*
 * Time of kernels that the clock's fall below its peak accounts for, if they are bound by it and by
 * nothing else; NAN where the clock was not sampled.
 */
static double lost_ns(const struct gt_facts *facts, gt_id device, uint64_t reason)
{
	const struct gt_trace *trace = facts->view->trace;
	const struct gt_counter *clock = gt_counter_find(trace, device, "sm_clock_mhz");
	const double peak_mhz = trace->devices.rows[device].sm_clock_khz / 1000.0;
	double sum_ns = 0;

	if (!clock || peak_mhz <= 0)
		return NAN;

	struct gt_measured measured = gt_measured_of(trace, clock);

	gt_array_each(const struct gt_throttle_span, span,
	              &facts->throttles.devices[device].spans) {
		const struct gt_interval when = {span->start_ns, span->end_ns};
		const double mhz = gt_measured_at(&measured, span->start_ns);

		if (span->reasons & reason)
			sum_ns += (double)gt_covered_within(&facts->work[device], when) *
			          (1 - fmax(0, fmin(mhz / peak_mhz, 1)));
	}
	gt_measured_release(&measured);
	return sum_ns;
}

static void look(const struct gt_facts *facts, gt_id device, struct gt_advice *advice)
{
	const uint64_t why = worst_reason(&facts->throttles, device);
	const struct gt_throttle_sum sum = gt_throttles_sum(&facts->throttles, device, why);
	const double lost = lost_ns(facts, device, why);
	struct gt_advice_row *row;

	if (!gt_throttles_measured(&facts->throttles, device))
		gt_advice_unasked(advice, "no telemetry was recorded (run --telemetry)");
	if (!gt_is_share(sum.total_ns, sampled_ns(facts), LEAST_PERCENT))
		return;
	row = gt_advise(advice, GT_ADVICE_CHANGE,
	                "The clocks of GPU %lld were held down for %s (%s of the time): %s.",
	                gt_advice_gpu(facts, device), gt_advice_ns(sum.total_ns).text,
	                gt_advice_share(sum.total_ns, sampled_ns(facts)).text,
	                gt_throttle_help(why));
	gt_advice_cite(row, "telemetry", "throttles", "total_ns", "%s: %s", gt_throttle_name(why),
	               gt_advice_ns(sum.total_ns).text);
	if (!isnan(lost))
		gt_advice_gain(
			row, GT_GAIN_AT_MOST, (uint64_t)lost,
			"time of kernels while the reason held, times 1 - clock / peak clock");
}

const struct gt_advice_rule gt_advice_throttling = {
	.name = "throttling",
	.summary = "Clocks that power or heat held down",
	.report = "telemetry",
	.of_device = look,
};

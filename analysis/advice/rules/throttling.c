/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "analysis/advice/advice.h"
#include "analysis/advice/facts.h"
#include "analysis/time/covered.h"
#include "analysis/time/measured.h"
#include "model/gpu/throttle.h"
#include "model/view/view.h"

enum {
	/* Samples come every 100 ms: in a recording of seconds that is one or two of them. */
	LEAST_PERCENT = 1,
};

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

struct loss {
	double lost_ns;    /* of kernels, if they are bound by the clock and by nothing else */
	double known_ns;   /* time of the reason in which the clock is known, */
	double unknown_ns; /* and in which it is not */
};

static bool is_held(const struct gt_throttle_span *span, uint64_t reason)
{
	return (span->reasons & reason) && span->end_ns > span->start_ns;
}

/* A span in which the reason held: each reading of the clock holds until the next one. */
static void add_span(struct loss *loss, const struct gt_throttle_span *span,
                     const struct gt_measured *clock, const struct gt_covered *work,
                     double peak_mhz)
{
	double known_ns = 0;

	for (size_t i = gt_measured_first(clock, span->start_ns);
	     i < clock->count && clock->times_ns[i] < span->end_ns; i++) {
		const gt_time until_ns = gt_measured_until(clock, i);
		const struct gt_interval when = {
			clock->times_ns[i] > span->start_ns ? clock->times_ns[i] : span->start_ns,
			until_ns < span->end_ns ? until_ns : span->end_ns,
		};

		if (when.end_ns <= when.start_ns)
			continue;
		known_ns += (double)(when.end_ns - when.start_ns);
		loss->lost_ns += (double)gt_covered_within(work, when) *
		                 (1 - fmax(0, fmin(clock->values[i] / peak_mhz, 1)));
	}
	loss->known_ns += known_ns;
	loss->unknown_ns += (double)(span->end_ns - span->start_ns) - known_ns;
}

static struct loss loss_of(const struct gt_facts *facts, gt_id device, uint64_t reason)
{
	const struct gt_trace *trace = facts->view->trace;
	const double peak_mhz = trace->devices.rows[device].sm_clock_khz / 1000.0;
	struct gt_measured clock = gt_measured_on(trace, device, "sm_clock_mhz");
	struct loss loss = {0};

	if (peak_mhz > 0)
		gt_array_each(const struct gt_throttle_span, span,
		              &facts->throttles.devices[device].spans)
			if (is_held(span, reason))
				add_span(&loss, span, &clock, &facts->work[device], peak_mhz);
	gt_measured_release(&clock);
	return loss;
}

/* From when the reason held first to its last end. */
static void place(struct gt_advice_row *row, const struct gt_throttled *throttled, uint64_t reason)
{
	struct gt_interval when = {0, 0};

	gt_array_each(const struct gt_throttle_span, span, &throttled->spans) {
		if (!is_held(span, reason))
			continue;
		if (when.end_ns == 0)
			when.start_ns = span->start_ns;
		when.end_ns = span->end_ns;
	}
	gt_advice_when(row, when.start_ns, when.end_ns);
}

static void say(const struct gt_facts *facts, struct gt_advice *advice, uint64_t why,
                const struct gt_share *held)
{
	const struct loss loss = loss_of(facts, advice->device, why);
	struct gt_advice_row *row;
	char unknown[96] = "";

	if (loss.known_ns > 0 && loss.unknown_ns > 0)
		snprintf(unknown, sizeof(unknown), " The clock is not known for %s of that.",
		         gt_advice_ns((uint64_t)loss.unknown_ns).text);
	row = gt_advise(advice, GT_ADVICE_CHANGE,
	                "The clocks of GPU %lld were held down for %s (%s of the time): %s.%s",
	                gt_advice_gpu(facts, advice->device), gt_advice_ns(held->ns).text,
	                gt_advice_percent(held).text, gt_throttle_help(why), unknown);
	place(row, &facts->throttles.devices[advice->device], why);
	gt_advice_cite(row, "telemetry", "throttles", "total_ns", (double)held->ns, "%s: %s",
	               gt_throttle_name(why), gt_advice_ns(held->ns).text);
	if (loss.known_ns > 0)
		gt_advice_gain_apart(row, facts, (uint64_t)(loss.lost_ns + 0.5),
		                     "time of kernels while the reason held and the clock is "
		                     "known, times 1 - clock / peak clock");
}

static void look(const struct gt_facts *facts, gt_id device, struct gt_advice *advice)
{
	const uint64_t why = worst_reason(&facts->throttles, device);
	const struct gt_throttle_sum sum = gt_throttles_sum(&facts->throttles, device, why);
	/* Counters are of the whole window, whichever ranges are chosen in it. */
	const struct gt_wall window = gt_wall_of_window(facts->view);
	const struct gt_share held = gt_share_of_apart(&window, sum.total_ns, GT_OF_GPU, device);

	if (!gt_throttles_measured(&facts->throttles, device))
		gt_advice_unasked(advice, "no telemetry was recorded (run --telemetry)");
	if (why && gt_share_reaches(&held, LEAST_PERCENT))
		say(facts, advice, why, &held);
}

const struct gt_advice_rule gt_advice_throttling = {
	.name = "throttling",
	.summary = "Clocks that power or heat held down",
	.report = "telemetry",
	.of_device = look,
};

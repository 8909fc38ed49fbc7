/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/replay/apart.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/result.h"
#include "base/units.h"
#include "cli/replay/outcome.h"
#include "cli/replay/request.h"
#include "model/bundle/bundle.h"

#define FAR_PERCENT   15.0
#define CLOCK_PERCENT 5.0 /* by which clocks differ, where they are a reason */

static const char *const l2_words[] = {GT_L2_WORDS};

_Static_assert(GT_COUNT_OF(l2_words) == GT_COUNT_OF(((struct gt_outcome *)NULL)->by_state),
               "states");

/* On a scale on which half as long is as far away as twice as long. */
static double distance(double ns, double job_ns)
{
	return ns > 0 && job_ns > 0 ? fabs(log(ns / job_ns)) : NAN;
}

void gt_apart_choose(struct gt_outcome *outcome, unsigned asked)
{
	unsigned best = asked;

	for (unsigned i = 0; i < GT_COUNT_OF(l2_words); i++)
		if (distance(outcome->by_state[i], outcome->job_ns) <
		    distance(outcome->by_state[best], outcome->job_ns))
			best = i;
	if (isnan(distance(outcome->by_state[best], outcome->job_ns)))
		return;
	outcome->fits_ns = outcome->by_state[best];
	snprintf(outcome->fits, sizeof(outcome->fits), "%s", l2_words[best]);
}

bool gt_apart_is_far(const struct gt_outcome *outcome)
{
	return fabs(gt_outcome_off(outcome)) > FAR_PERCENT;
}

/* ---- why ---- */

struct reasons {
	char *text;
	size_t size;
	size_t used;
};

__attribute__((format(printf, 2, 3))) static void add(struct reasons *reasons, const char *format,
                                                      ...)
{
	va_list args;

	if (reasons->used > 0 && reasons->used < reasons->size)
		reasons->used += (size_t)snprintf(reasons->text + reasons->used,
		                                  reasons->size - reasons->used, "; ");
	if (reasons->used >= reasons->size)
		return;
	va_start(args, format);
	reasons->used += (size_t)vsnprintf(reasons->text + reasons->used,
	                                   reasons->size - reasons->used, format, args);
	va_end(args);
}

/* A lower clock makes it longer, and a higher one shorter. */
static void add_clocks(struct reasons *reasons, const struct gt_outcome *outcome,
                       const struct gt_bundle_origin *origin)
{
	const double off = 100 * (origin->sm_clock_mhz / outcome->sm_mhz - 1);

	if (origin->sm_clock_mhz > 0 && fabs(off) >= CLOCK_PERCENT &&
	    (off > 0) == (gt_outcome_off(outcome) > 0))
		add(reasons, "the SM clock was %u MHz in the program and is %.0f here",
		    origin->sm_clock_mhz, outcome->sm_mhz);
}

bool gt_apart_reason(const struct gt_outcome *outcome, const struct gt_bundle *bundle, char *text,
                     size_t size)
{
	const struct gt_bundle_origin *origin = &bundle->origin;
	struct reasons reasons = {text, size, 0};

	*text = '\0';
	if (*origin->uuid && *outcome->uuid && strcmp(origin->uuid, outcome->uuid) != 0)
		add(&reasons, "it was recorded on another GPU (%s)", origin->device);
	add_clocks(&reasons, outcome, origin);
	if (outcome->job_launches == 0)
		add(&reasons, "its time in the program is of the captured launch itself, which ran "
		              "after a pause of the GPU");
	if (!strstr(outcome->conditions, "inputs=recorded"))
		add(&reasons, "its inputs are others");
	if (!strstr(outcome->conditions, "form=recorded"))
		add(&reasons, "its form is another one");
	if (gt_outcome_differs(outcome))
		add(&reasons, "its outputs are not what was recorded");
	if (outcome->others_plus_one > 1)
		add(&reasons, "other processes use the GPU");
	return reasons.used > 0;
}

/* ---- what is said ---- */

bool gt_apart_warn(const struct gt_outcome *outcome, const struct gt_bundle *bundle, char *text,
                   size_t size)
{
	const double off = gt_outcome_off(outcome);
	char reason[512];
	bool known;

	if (!gt_apart_is_far(outcome))
		return false;
	known = gt_apart_reason(outcome, bundle, reason, sizeof(reason));
	snprintf(text, size,
	         "with %s caches, which fit best, it takes %s: %.0f%% %s than in the program; %s",
	         outcome->fits, gt_figure_ns(llround(outcome->fits_ns)).text, fabs(off),
	         off > 0 ? "more" : "less",
	         known ? reason
	               : "nothing is known of the reason, which may be work beside it in the "
	                 "program");
	return true;
}

static void remark_on_states(struct gt_result *result, const struct gt_outcome *outcome)
{
	char text[200] = "";
	size_t used = 0;

	for (size_t i = 0; i < GT_COUNT_OF(l2_words); i++) {
		const double ns = outcome->by_state[i];

		if (!(ns > 0) || used >= sizeof(text))
			continue;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s %s (%+.1f%%)",
		                         used ? ", " : "", l2_words[i],
		                         gt_figure_ns(llround(ns)).text,
		                         100 * (ns / outcome->job_ns - 1));
	}
	if (*outcome->fits)
		gt_result_remark_on(
			result, "job_percent fits",
			"against the time in the program, by the state of the caches: %s; "
			"%s fits best",
			text, outcome->fits);
}

void gt_apart_remark(struct gt_result *result, const struct gt_outcome *outcome,
                     const struct gt_bundle *bundle)
{
	char text[800];

	remark_on_states(result, outcome);
	if (gt_apart_warn(outcome, bundle, text, sizeof(text)))
		gt_result_remark(result, "%s", text);
}

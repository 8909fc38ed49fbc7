/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/replay/limit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/units.h"
#include "cli/replay/outcome.h"

bool gt_percent_parse(const char *text, double *share)
{
	char *end;
	const double number = strtod(text, &end);

	if (strspn(text, "0123456789.") != (size_t)(end - text) || end == text ||
	    strcmp(end, "%") != 0 || !(number >= 0) || number > 1000)
		return false;
	*share = number / 100;
	return true;
}

int gt_limit_parse(struct gt_limit *limit, const char *text, struct gt_error *err)
{
	static const char result[] = "slower:";
	static const char job[] = "slower-than-job:";
	struct gt_limit parsed = {.given = true};

	parsed.of_job = strncmp(text, job, strlen(job)) == 0;
	if ((!parsed.of_job && strncmp(text, result, strlen(result)) != 0) ||
	    !gt_percent_parse(strchr(text, ':') + 1, &parsed.share))
		return gt_fail(err, EINVAL,
		               "--fail-if takes slower:5%% or slower-than-job:5%%, and not '%s'",
		               text);
	*limit = parsed;
	return 0;
}

static void say(char *sentence, size_t size, const struct gt_limit *limit,
                const struct gt_outcome *outcome, double before_ns, const char *what)
{
	snprintf(sentence, size,
	         "%s: %s, which is %.1f%% slower than %s (%s); --fail-if allows %g%%",
	         outcome->variant, gt_figure_ns(llround(outcome->median_ns)).text,
	         100 * (outcome->median_ns / before_ns - 1), what,
	         gt_figure_ns(llround(before_ns)).text, 100 * limit->share);
}

bool gt_limit_is_crossed(const struct gt_limit *limit, const struct gt_outcome *outcome,
                         const struct gt_outcome *newest, char *sentence, size_t size)
{
	const bool of_job = limit->of_job || !newest;
	const double before_ns = of_job ? outcome->job_ns : newest->median_ns;
	char what[96] = "in the program";

	if (!limit->given)
		return false;
	if (!isfinite(outcome->median_ns) || !(before_ns > 0)) {
		snprintf(sentence, size, "%s: %s, so that --fail-if compares nothing",
		         outcome->variant,
		         isfinite(outcome->median_ns)
		                 ? "its time in the program is not known, and no result is kept"
		                 : "it was not timed");
		return true;
	}
	if (!of_job && strcmp(newest->variant, outcome->variant) == 0)
		snprintf(what, sizeof(what), "the result of %.19s", newest->date);
	else if (!of_job)
		snprintf(what, sizeof(what), "%.80s", newest->variant);
	if (outcome->median_ns <= before_ns * (1 + limit->share))
		return false;
	say(sentence, size, limit, outcome, before_ns, what);
	return true;
}

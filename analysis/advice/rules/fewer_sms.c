/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "analysis/advice/advice.h"
#include "analysis/advice/facts.h"
#include "base/parse.h"

/* Percent of the multiprocessors that MPS gives, as a variable says; 0: it does not. */
static uint64_t share_of(const struct gt_variable *variable)
{
	static const char name[] = "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=";
	const size_t length = sizeof(name) - 1;
	char digits[8] = "";
	uint64_t percent = 0;

	if (variable->length <= length || variable->length - length >= sizeof(digits) ||
	    strncmp(variable->text, name, length) != 0)
		return 0;
	memcpy(digits, variable->text + length, variable->length - length);
	digits[strcspn(digits, ".")] = '\0';
	return gt_parse_count(digits, &percent) == 0 ? percent : 0;
}

/* The program cannot use the rest, so peaks and shares of the whole GPU say too little of it. */
static void look(const struct gt_facts *facts, struct gt_advice *advice)
{
	gt_array_each(const struct gt_variable, variable, &facts->variables.list) {
		const uint64_t percent = share_of(variable);

		if (percent == 0 || percent >= 100)
			continue;
		gt_advice_cite(
			gt_advise(advice, GT_ADVICE_KNOW,
		                  "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=%u: MPS gave %s %s about that "
		                  "share of the multiprocessors. Waves and shares of a peak are of "
		                  "the whole GPU.",
		                  (unsigned)percent, gt_grouped(variable->processes).text,
		                  gt_plural(variable->processes, "process", "processes")),
			"summary", "overview", "text", NAN, "%.*s", (int)variable->length,
			variable->text);
	}
}

const struct gt_advice_rule gt_advice_fewer_sms = {
	.name = "fewer_sms",
	.summary = "Programs that may use a part of the GPU alone",
	.report = "summary",
	.of_recording = look,
};

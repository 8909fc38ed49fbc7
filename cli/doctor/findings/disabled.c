/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/finding.h"
#include "cli/doctor/world.h"
#include "format/settings.h"

static void say_nothing(void *context, const char *sentence)
{
	(void)context;
	(void)sentence;
}

static void find(struct gt_findings *findings, const struct gt_world *world)
{
	struct gt_settings settings;

	gt_settings_read(&settings, world->environment, say_nothing, NULL);
	if (!settings.disable)
		return;
	gt_found(findings, GT_SEVERITY_ERROR, "GPUTRACE_DISABLE is set in the environment.");
	gt_costs(findings, "gputrace's library is loaded and records nothing.");
	gt_mend(findings, "unset GPUTRACE_DISABLE");
}

const struct gt_finder gt_finder_disabled = {
	.explains = true,
	.find = find,
};

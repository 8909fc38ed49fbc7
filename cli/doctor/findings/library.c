/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/finding.h"
#include "cli/doctor/world.h"

static void find(struct gt_findings *findings, const struct gt_world *world)
{
	if (world->library.code == 0)
		return;
	gt_found(findings, GT_SEVERITY_ERROR, "%s.", world->library.text);
	gt_costs(findings, "gputrace run does not start the program.");
	gt_mend(findings,
	        "Copy lib/ with bin/ from where gputrace was installed, or name the file: export "
	        "GPUTRACE_INJECTION=FILE");
}

const struct gt_finder gt_finder_library = {
	.explains = true,
	.find = find,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cli/doctor/finding.h"
#include "cli/doctor/world.h"

static const char *const dcgm[] = {"nv-hostengine", "dcgm-exporter", "dcgmproftester1", NULL};
static const char *const nsight[] = {"ncu", "nv-nsight-cu-cl", "nsys", NULL};

static void may_hold(struct gt_findings *findings, const char *name, pid_t process,
                     const char *mend)
{
	gt_found(findings, GT_SEVERITY_WARNING,
	         "%s runs (process %d) and may hold the GPUs' hardware counters.", name,
	         (int)process);
	gt_costs(findings, "A GPU's counters have one reader: while it holds them, --counters and "
	                   "--kernel-counters read none. Everything else is recorded.");
	gt_mend(findings, "%s", mend);
}

static void find(struct gt_findings *findings, const struct gt_world *world)
{
	const char *name;
	pid_t process = gt_world_process(world, dcgm, &name);

	if (process)
		may_hold(findings, name, process,
		         "Before the run: dcgmi profile --pause; after it: dcgmi profile --resume");
	process = gt_world_process(world, nsight, &name);
	if (process)
		may_hold(findings, name, process, "Wait until it has ended.");
}

const struct gt_finder gt_finder_counter_holders = {
	.find = find,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/finding.h"
#include "cli/doctor/world.h"

/* gputrace sees NCCL through kernels and NVTX: another tool may have the plugin's place. */
static void find(struct gt_findings *findings, const struct gt_world *world)
{
	const char *plugin = gt_world_variable(world, "NCCL_PROFILER_PLUGIN");

	if (plugin && *plugin)
		gt_found(findings, GT_SEVERITY_OK,
		         "NCCL_PROFILER_PLUGIN names %s, which gputrace does not need and leaves "
		         "alone.",
		         plugin);
}

const struct gt_finder gt_finder_nccl = {
	.find = find,
};

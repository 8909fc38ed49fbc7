/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/path.h"
#include "cli/doctor/finding.h"
#include "cli/doctor/world.h"

static bool is_ours(const char *library)
{
	return strcmp(gt_path_name(library), "libgputrace-injection.so") == 0;
}

static void find(struct gt_findings *findings, const struct gt_world *world)
{
	const char *cuda = gt_world_variable(world, "CUDA_INJECTION64_PATH");
	const char *nvtx = gt_world_variable(world, "NVTX_INJECTION64_PATH");

	if (cuda && *cuda && !is_ours(cuda)) {
		gt_found(findings, GT_SEVERITY_WARNING, "CUDA_INJECTION64_PATH names %s.", cuda);
		gt_costs(findings, "gputrace run puts its own library there: the other one is not "
		                   "loaded.");
		gt_mend(findings, "Use one tool at a time: unset CUDA_INJECTION64_PATH");
	}
	if (nvtx && *nvtx && !is_ours(nvtx))
		gt_found(findings, GT_SEVERITY_OK,
		         "NVTX_INJECTION64_PATH names %s, which hears of NVTX's calls through "
		         "gputrace.",
		         nvtx);
}

const struct gt_finder gt_finder_injection = {
	.find = find,
};

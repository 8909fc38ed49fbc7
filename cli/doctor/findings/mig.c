/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cli/doctor/finding.h"
#include "cli/doctor/world.h"

/* CUDA names a part as "NVIDIA A100-SXM4-40GB MIG 1g.5gb". */
static const char *find_part(const struct gt_gpus *gpus)
{
	for (unsigned i = 0; i < gpus->count; i++)
		if (strstr(gpus->names[i], " MIG "))
			return gpus->names[i];
	return NULL;
}

static void find(struct gt_findings *findings, const struct gt_world *world)
{
	const char *part = find_part(&world->answer.gpus);
	const size_t parts =
		gt_world_count(world, "proc/driver/nvidia/capabilities/gpu[0-9]*/mig/gi[0-9]*");

	if (!part && parts == 0)
		return;
	if (part)
		gt_found(findings, GT_SEVERITY_WARNING, "CUDA uses a part of a GPU (MIG): %s.",
		         part);
	else
		gt_found(findings, GT_SEVERITY_WARNING, "GPUs are divided into %zu part%s (MIG).",
		         parts, parts == 1 ? "" : "s");
	gt_costs(findings, "A part has no hardware counters for --counters and --kernel-counters, "
	                   "and NVML tells less of its power and clocks. Everything else is "
	                   "recorded.");
	gt_mend(findings, "Use a whole GPU, or have an administrator end the division while "
	                  "nothing runs: sudo nvidia-smi -i GPU -mig 0");
}

const struct gt_finder gt_finder_mig = {
	.find = find,
};

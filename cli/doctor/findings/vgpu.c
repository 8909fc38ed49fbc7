/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <string.h>

#include "cli/doctor/finding.h"
#include "cli/doctor/world.h"

/* A virtual GPU has its profile in its name: "NVIDIA A40-48Q", "GRID T4-16C". */
static bool is_virtual(const char *name)
{
	const char *profile = strrchr(name, '-');
	size_t digits;

	if (!profile)
		return false;
	digits = strspn(profile + 1, "0123456789");
	return digits > 0 && profile[1 + digits] && strchr("ABCQ", profile[1 + digits]) &&
	       !profile[2 + digits];
}

static void find(struct gt_findings *findings, const struct gt_world *world)
{
	const struct gt_gpus *gpus = &world->answer.gpus;

	for (unsigned i = 0; i < gpus->count; i++) {
		if (!is_virtual(gpus->names[i]))
			continue;
		gt_found(findings, GT_SEVERITY_WARNING, "GPU %u is virtual, by its name: %s.", i,
		         gpus->names[i]);
		gt_costs(findings,
		         "It has no hardware counters for --counters and "
		         "--kernel-counters, and NVML tells less of its power and clocks. "
		         "Everything else is recorded.");
		gt_mend(findings, "Ask who runs the hypervisor for a whole GPU (passthrough).");
		return;
	}
}

const struct gt_finder gt_finder_vgpu = {
	.find = find,
};

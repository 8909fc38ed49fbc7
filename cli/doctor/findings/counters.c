/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/doctor/finding.h"
#include "cli/doctor/world.h"

enum { CAP_SYS_ADMIN_BIT = 21, CAP_PERFMON_BIT = 38 }; /* linux/capability.h */

static bool has_capability(const struct gt_world *world)
{
	char text[64];
	unsigned long long bits;

	(void)gt_world_line(world, "proc/self/status", "CapEff:", text, sizeof(text));
	bits = strtoull(text, NULL, 16);
	return (bits >> CAP_SYS_ADMIN_BIT | bits >> CAP_PERFMON_BIT) & 1;
}

/* Inside of a user namespace, as of a rootless container, capabilities mean nothing to the driver. */
static bool is_in_user_namespace(const struct gt_world *world)
{
	char text[128];

	return gt_world_line(world, "proc/self/uid_map", "", text, sizeof(text)) &&
	       !strstr(text, " 4294967295");
}

static void find(struct gt_findings *findings, const struct gt_world *world)
{
	char text[32];

	if (!gt_world_line(world, "proc/driver/nvidia/params", "RmProfilingAdminOnly:", text,
	                   sizeof(text)))
		return; /* nobody knows: WSL has no such file */
	if (strcmp(text, "1") != 0 || (has_capability(world) && !is_in_user_namespace(world))) {
		gt_found(findings, GT_SEVERITY_OK, "Hardware counters may be read.");
		return;
	}
	gt_found(findings, GT_SEVERITY_WARNING,
	         "The driver lets only administrators read hardware counters.");
	gt_costs(findings,
	         "--counters and --kernel-counters read none. Everything else is recorded.");
	gt_mend(findings,
	        "For all users: echo options nvidia NVreg_RestrictProfilingToAdminUsers=0 | sudo tee "
	        "/etc/modprobe.d/gputrace.conf, and restart; else sudo gputrace run, in a container "
	        "--cap-add SYS_ADMIN.");
}

const struct gt_finder gt_finder_counters = {
	.find = find,
};

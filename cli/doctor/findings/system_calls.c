/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/finding.h"
#include "cli/doctor/world.h"

/* Only calls that gputrace makes, tried out: a filter (seccomp) may be there and allow them. */
static void find(struct gt_findings *findings, const struct gt_world *world)
{
	if (world->move_pages_code != 0) {
		gt_found(findings, GT_SEVERITY_WARNING, "The kernel refuses move_pages: %s.",
		         gt_errno_text(world->move_pages_code));
		gt_costs(findings, "--numa cannot tell where the host's memory lies. Everything "
		                   "else is recorded.");
		gt_mend(findings, "In a container: docker run --cap-add SYS_NICE");
	}
	if (world->read_memory_code != 0) {
		gt_found(findings, GT_SEVERITY_WARNING, "The kernel refuses process_vm_readv: %s.",
		         gt_errno_text(world->read_memory_code));
		gt_costs(
			findings,
			"Names of kernels whose module is unloaded may be missing, and --memory-libraries tells "
			"nothing. Everything else is recorded.");
		gt_mend(findings, "In a container: docker run --cap-add SYS_PTRACE");
	}
}

const struct gt_finder gt_finder_system_calls = {
	.find = find,
};

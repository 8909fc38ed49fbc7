/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "cli/doctor/finding.h"
#include "cli/doctor/world.h"

static void is_refused(struct gt_findings *findings, const char *call, int code,
                       const char *capability)
{
	gt_found(findings, GT_SEVERITY_WARNING, "The kernel refuses %s: %s.", call,
	         gt_errno_text(code));
	if (code == EPERM)
		gt_mend(findings, "In a container: docker run --cap-add %s", capability);
	else
		gt_mend(findings, "Run it outside of this sandbox, which does not have the call.");
}

/* Only calls that gputrace makes, tried out: a filter (seccomp) may be there and allow them. */
static void find(struct gt_findings *findings, const struct gt_world *world)
{
	if (world->move_pages_code != 0) {
		is_refused(findings, "move_pages", world->move_pages_code, "SYS_NICE");
		gt_costs(findings, "--numa cannot tell where the host's memory lies. Everything "
		                   "else is recorded.");
	}
	if (world->read_memory_code != 0) {
		is_refused(findings, "process_vm_readv", world->read_memory_code, "SYS_PTRACE");
		gt_costs(findings,
		         "Names of kernels whose module is unloaded may be missing, and "
		         "--memory-libraries tells nothing. Everything else is recorded.");
	}
}

const struct gt_finder gt_finder_system_calls = {
	.find = find,
};

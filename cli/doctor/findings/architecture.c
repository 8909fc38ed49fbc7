/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/finding.h"
#include "cli/doctor/world.h"

static void find(struct gt_findings *findings, const struct gt_world *world)
{
	const struct gt_program *program = &world->program;
	const uint16_t here = gt_elf_machine_here();
	char theirs[32];
	char ours[32];

	if (program->elf.machine == 0 || program->elf.machine == here)
		return;
	gt_elf_machine_name(program->elf.machine, theirs, sizeof(theirs));
	gt_elf_machine_name(here, ours, sizeof(ours));
	gt_found(findings, GT_SEVERITY_ERROR,
	         "%s is for %s, and this machine's driver and gputrace "
	         "are for %s.",
	         program->runs, theirs, ours);
	gt_costs(findings, "It cannot use the driver, nor load gputrace's library.");
	gt_mend(findings, "Build it for %s.", ours);
}

const struct gt_finder gt_finder_architecture = {
	.explains = true,
	.find = find,
};

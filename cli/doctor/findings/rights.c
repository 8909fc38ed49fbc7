/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <sys/stat.h>

#include "cli/doctor/finding.h"
#include "cli/doctor/world.h"

/* The kernel's rules of when a program starts with more rights than its user (AT_SECURE). */
static const char *reason_of(const struct gt_program *program, const struct gt_world *world)
{
	if (program->rights_ignored)
		return NULL;
	if ((program->mode & S_ISUID) && program->owner != world->user)
		return "as its owner (setuid)";
	if ((program->mode & S_ISGID) && (program->mode & S_IXGRP) &&
	    program->group != world->group)
		return "as its group (setgid)";
	return program->has_capabilities && world->user != 0 ? "with capabilities of its file"
	                                                     : NULL;
}

static void find(struct gt_findings *findings, const struct gt_world *world)
{
	const struct gt_program *program = &world->program;
	const char *reason = reason_of(program, world);

	if (!program->name || program->problem.code != 0 || !reason)
		return;
	gt_found(findings, GT_SEVERITY_ERROR, "%s starts with more rights than its user: %s.",
	         program->runs, reason);
	gt_costs(findings, "No library that a variable names is loaded into such a program: it is "
	                   "not recorded.");
	gt_mend(findings,
	        "Start it as the user whose rights it takes: sudo gputrace run; or record a copy "
	        "without them: cp %s COPY",
	        program->runs);
}

const struct gt_finder gt_finder_rights = {
	.explains = true,
	.find = find,
};

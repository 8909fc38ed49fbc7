/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "cli/doctor/finding.h"
#include "cli/doctor/world.h"

static const char *mend_of(int code)
{
	switch (code) {
	case EACCES:
		return "Make it a program: chmod +x FILE; or name the one that runs it, as in "
		       "gputrace run python3 FILE";
	case ENOEXEC:
		return "Install what runs it, or correct its first line.";
	default:
		return "Check the name, or give the path: gputrace run ./app";
	}
}

static void find(struct gt_findings *findings, const struct gt_world *world)
{
	const struct gt_program *program = &world->program;

	if (!program->name)
		return;
	if (program->problem.code != 0) {
		gt_found(findings, GT_SEVERITY_ERROR, "%s.", program->problem.text);
		gt_costs(findings, "gputrace run does not start the program.");
		gt_mend(findings, "%s", mend_of(program->problem.code));
	} else if (program->is_script) {
		gt_found(findings, GT_SEVERITY_OK, "%s is a script that %s runs.", program->name,
		         program->runs);
	} else {
		gt_found(findings, GT_SEVERITY_OK, "The program is %s.", program->runs);
	}
}

const struct gt_finder gt_finder_program = {
	.explains = true,
	.find = find,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/path.h"
#include "cli/doctor/finding.h"
#include "cli/doctor/world.h"

/* A program that no shared library can be put into may start others that are recorded. */
static void find(struct gt_findings *findings, const struct gt_world *world)
{
	const struct gt_program *program = &world->program;
	const char *loader = gt_path_name(program->elf.loader);
	const bool of_musl = strncmp(loader, "ld-musl", strlen("ld-musl")) == 0;

	if (!program->elf.has_segments || (program->elf.is_dynamic && !of_musl))
		return;
	if (of_musl)
		gt_found(findings, GT_SEVERITY_WARNING,
		         "%s is for the C library musl, and CUDA's driver for glibc.",
		         program->runs);
	else
		gt_found(findings, GT_SEVERITY_WARNING,
		         "%s is linked statically: no shared library can be loaded into it.",
		         program->runs);
	gt_costs(findings, "It is not recorded itself; only programs that it starts are.");
	gt_mend(findings,
	        "Build it without -static and with glibc, or start with gputrace run the program "
	        "that uses CUDA.");
}

const struct gt_finder gt_finder_linking = {
	.explains = true,
	.find = find,
};

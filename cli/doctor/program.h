/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_DOCTOR_PROGRAM_H
#define GT_CLI_DOCTOR_PROGRAM_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "cli/doctor/elf_head.h"

/*
 * A program as the kernel would start it: its file, the program that runs it where it is a script,
 * and the rights that it starts with. The ELF header and the rights are those of the file that
 * runs in the end.
 */
struct gt_program {
	const char *name;        /* as it was typed; NULL: there is no program */
	struct gt_error problem; /* why it cannot be run; code 0: it can, and the rest is known */
	char runs[PATH_MAX];     /* the file that runs: its own, or that of its interpreter */
	bool is_script;
	struct gt_elf_head elf;
	mode_t mode;
	uid_t owner;
	gid_t group;
	bool has_capabilities; /* of the file */
	bool rights_ignored;   /* its file system is mounted without setuid */
};

void gt_program_read(struct gt_program *program, const char *name);

/* Whether what runs is Python, by the name of its file. */
bool gt_program_is_python(const struct gt_program *program);

#endif

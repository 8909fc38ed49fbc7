/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/program.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/path.h"
#include "cli/output/process.h"

enum { MOST_SCRIPTS = 4, LINE = 256 }; /* as the kernel follows, and reads */

/* The first line of a file, with a carriage return, as the kernel reads it; "": it cannot be read. */
static void read_line(const char *path, char line[LINE])
{
	FILE *file = fopen(path, "re");

	if (!file || !fgets(line, LINE, file))
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	if (file)
		(void)fclose(file);
}

/* The next word of a line, cut off; "" at its end. */
static char *next_word(char **line)
{
	char *word = *line + strspn(*line, " \t");
	char *end = word + strcspn(word, " \t");

	*line = *end ? end + 1 : end;
	*end = '\0';
	return word;
}

/* env finds its program along PATH, behind options and variables. */
static const char *word_of_env(char *rest)
{
	const char *word;

	do
		word = next_word(&rest);
	while (*word == '-' || strchr(word, '='));
	return word;
}

/* Puts the file that runs the script at path in its place. 0, or -ENOEXEC: it is not there. */
static int take_interpreter(struct gt_program *program, char *line)
{
	const char *word = next_word(&line);
	const char *wanted = word;

	if (strcmp(gt_path_name(word), "env") == 0)
		wanted = word_of_env(line);
	if (!*wanted)
		wanted = word;
	if (gt_process_path(wanted, program->runs) == 0)
		return 0;
	return gt_fail(&program->problem, ENOEXEC, "cannot run %s: its interpreter %s is not there",
	               program->name, wanted);
}

/* Follows scripts that can be read to what runs them. execvp gives text without a first line to the
 * shell. */
static void follow_scripts(struct gt_program *program)
{
	char line[LINE] = "";

	for (int i = 0; i < MOST_SCRIPTS && access(program->runs, R_OK) == 0 &&
	                gt_elf_head_read(&program->elf, program->runs) == 0;
	     i++) {
		program->is_script = true;
		read_line(program->runs, line);
		if (strncmp(line, "#!", 2) != 0)
			snprintf(line, sizeof(line), "#!/bin/sh");
		if (take_interpreter(program, line + 2) < 0)
			return;
	}
	if (*program->elf.loader && program->elf.machine == gt_elf_machine_here() &&
	    access(program->elf.loader, F_OK) < 0)
		(void)gt_fail(&program->problem, ENOEXEC,
		              "cannot run %s: its loader %s is not there", program->name,
		              program->elf.loader);
}

static void read_rights(struct gt_program *program)
{
	struct stat status;
	struct statvfs system;

	if (stat(program->runs, &status) < 0)
		return;
	program->mode = status.st_mode;
	program->owner = status.st_uid;
	program->group = status.st_gid;
	program->has_capabilities = getxattr(program->runs, "security.capability", NULL, 0) > 0;
	program->rights_ignored =
		statvfs(program->runs, &system) == 0 && (system.f_flag & ST_NOSUID);
}

void gt_program_read(struct gt_program *program, const char *name)
{
	*program = (struct gt_program){.name = name};
	if (gt_process_find(name, &program->problem) < 0)
		return;
	(void)gt_process_path(name, program->runs);
	follow_scripts(program);
	if (program->problem.code == 0)
		read_rights(program);
}

bool gt_program_is_python(const struct gt_program *program)
{
	return strncmp(gt_path_name(program->runs), "python", strlen("python")) == 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/world.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/parse.h"
#include "base/path.h"
#include "cli/run/library.h"
#include "format/settings.h"

enum { LINE = 1024, FILE_LINES = 4096 };

const char *gt_world_variable(const struct gt_world *world, const char *name)
{
	const size_t length = strlen(name);

	for (char *const *row = world->environment; *row; row++)
		if (strncmp(*row, name, length) == 0 && (*row)[length] == '=')
			return *row + length + 1;
	return NULL;
}

bool gt_world_path(const struct gt_world *world, const char *file, char path[PATH_MAX])
{
	return snprintf(path, PATH_MAX, "%s/%s", world->root, file) < PATH_MAX;
}

/* Without blanks before it and behind it. */
static void take_text(const char *line, char *text, size_t size)
{
	size_t length;

	line += strspn(line, " \t");
	length = strcspn(line, "\n");
	while (length > 0 && strchr(" \t", line[length - 1]))
		length--;
	snprintf(text, size, "%.*s", (int)length, line);
}

bool gt_world_line(const struct gt_world *world, const char *file, const char *key, char *text,
                   size_t size)
{
	char path[PATH_MAX];
	char line[LINE];
	bool found = false;
	FILE *stream = gt_world_path(world, file, path) ? fopen(path, "re") : NULL;

	*text = '\0';
	for (int i = 0; stream && !found && i < FILE_LINES && fgets(line, sizeof(line), stream);
	     i++) {
		found = strncmp(line, key, strlen(key)) == 0;
		if (found)
			take_text(line + strlen(key), text, size);
	}
	if (stream)
		(void)fclose(stream);
	return found;
}

size_t gt_world_count(const struct gt_world *world, const char *pattern)
{
	char path[PATH_MAX];
	glob_t found;
	size_t count;

	// NOLINTNEXTLINE(concurrency-mt-unsafe): the program has one thread
	if (!gt_world_path(world, pattern, path) || glob(path, 0, NULL, &found) != 0)
		return 0;
	count = found.gl_pathc;
	globfree(&found);
	return count;
}

static bool has_name(const struct gt_world *world, const char *pid, const char *const *names,
                     const char **name)
{
	char file[64];
	char comm[64];

	snprintf(file, sizeof(file), "proc/%.32s/comm", pid);
	if (!gt_world_line(world, file, "", comm, sizeof(comm)))
		return false;
	for (; *names; names++)
		if (strcmp(comm, *names) == 0) {
			if (name)
				*name = *names;
			return true;
		}
	return false;
}

pid_t gt_world_process(const struct gt_world *world, const char *const *names, const char **name)
{
	char path[PATH_MAX];
	DIR *processes = gt_world_path(world, "proc", path) ? opendir(path) : NULL;
	const struct dirent *entry;
	uint64_t pid = 0;
	bool found = false;

	// NOLINTNEXTLINE(concurrency-mt-unsafe): the program has one thread
	while (processes && !found && (entry = readdir(processes)))
		found = gt_parse_count(entry->d_name, &pid) == 0 &&
		        has_name(world, entry->d_name, names, name);
	if (processes)
		(void)closedir(processes);
	return found ? (pid_t)pid : 0;
}

/* ---- facts that no file holds ---- */

static void say_nothing(void *context, const char *sentence)
{
	(void)context;
	(void)sentence;
}

/* The folder that a path is in, in the path's place. */
static void cut_name(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash)
		snprintf(path, sizeof("."), ".");
	else
		slash[slash == path] = '\0';
}

/*
 * Where --output says nothing: the folder of GPUTRACE_OUTPUT, else the current one. gputrace run
 * makes a folder that ends with a slash. Patterns are not expanded.
 */
static void choose_folder(struct gt_world *world)
{
	const char *output = gt_world_variable(world, "GPUTRACE_OUTPUT");
	size_t length;

	if (!output || strchr(output, '%'))
		output = "";
	snprintf(world->folder, sizeof(world->folder), "%s", output);
	length = strlen(world->folder);
	if (length > 0 && output[length - 1] == '/' && gt_path_is_folder(output))
		return;
	while (length > 1 && world->folder[length - 1] == '/')
		world->folder[--length] = '\0';
	cut_name(world->folder);
}

static void look_at_folder(struct gt_world *world)
{
	struct gt_settings settings;

	gt_settings_read(&settings, world->environment, say_nothing, NULL);
	choose_folder(world);
	world->folder_code = access(world->folder, W_OK | X_OK) == 0 ? 0 : errno;
	world->room = gt_room_of(world->folder, &settings);
}

/* The calls that the injection library makes, on memory of our own. */
static void try_system_calls(struct gt_world *world)
{
	char from = 0;
	char to;
	void *page = &from;
	int node;
	const struct iovec source = {&from, 1};
	const struct iovec target = {&to, 1};

	if (process_vm_readv(getpid(), &target, 1, &source, 1, 0) < 0)
		world->read_memory_code = errno;
	if (syscall(SYS_move_pages, 0, 1UL, &page, NULL, &node, 0) < 0)
		world->move_pages_code = errno;
}

void gt_world_look(struct gt_world *world, const struct gt_world_choice *choice)
{
	const char *cupti;
	char *library = NULL;

	*world = (struct gt_world){
		.root = choice->root,
		.environment = choice->environment,
		.user = getuid(),
		.group = getgid(),
	};
	cupti = gt_world_variable(world, "GPUTRACE_CUPTI");
	gt_answer_get(&world->answer, cupti ? cupti : "");
	if (choice->program)
		gt_program_read(&world->program, choice->program);
	(void)gt_library_find(&library, &world->library);
	free(library);
	look_at_folder(world);
	if (!*choice->root)
		try_system_calls(world);
}

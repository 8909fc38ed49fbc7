/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recording/of_process.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/parse.h"
#include "base/path.h"
#include "cli/recording/recording.h"
#include "format/recording.h"

/* Programs start programs through shells and launchers. */
enum { MOST_GENERATIONS = 16 };

bool gt_recording_is_pid(const char *word)
{
	uint64_t pid;
	char *recording = gt_recording_find(word);
	const bool found = recording;

	free(recording);
	return !found && gt_parse_count(word, &pid) == 0 && pid > 0 && pid <= INT_MAX;
}

/* The folder that a file is in, as this process reaches it: the other may have another root. */
static char *folder_of(const char *pid, char *file)
{
	char root[64];
	char *folder;

	*strrchr(file, '/') = '\0';
	if (gt_path_is_folder(file))
		return gt_recording_path(file, "");
	snprintf(root, sizeof(root), "/proc/%.20s/root", pid);
	folder = gt_recording_path(root, file);
	if (!gt_path_is_folder(folder)) {
		free(folder);
		folder = NULL;
	}
	return folder;
}

/* The folder of the arena in a memory map, whose lines end with paths; NULL: there is none. */
static char *find_in_map(const char *pid, FILE *map)
{
	char *folder = NULL;
	char *line = NULL;
	size_t size = 0;
	ssize_t length;

	while (!folder && (length = getline(&line, &size, map)) > 0) {
		char *path = strchr(line, '/');

		if (line[length - 1] == '\n')
			line[length - 1] = '\0';
		if (path && gt_has_suffix(path, GT_ARENA_SUFFIX))
			folder = folder_of(pid, path);
	}
	free(line);
	return folder;
}

/* NULL, and errno, where there is none. */
static char *find_in(const char *pid)
{
	char path[64];
	char *folder;
	FILE *map;

	snprintf(path, sizeof(path), "/proc/%.20s/maps", pid);
	map = fopen(path, "re");
	if (!map)
		return NULL;
	folder = find_in_map(pid, map);
	(void)fclose(map);
	if (!folder)
		errno = ENODATA;
	return folder;
}

static char *find_among(const char *pid, int generation);

/* Among the processes that a thread has started. */
static char *find_children(const char *pid, const char *tid, int generation)
{
	char path[96];
	char child[24];
	char *folder = NULL;
	FILE *children;

	snprintf(path, sizeof(path), "/proc/%.20s/task/%.20s/children", pid, tid);
	children = fopen(path, "re");
	while (children && !folder && fscanf(children, "%20s", child) == 1)
		folder = find_among(child, generation + 1);
	if (children)
		(void)fclose(children);
	return folder;
}

/* In a process, else in those that it has started; NULL: none of them is recorded. */
static char *find_among(const char *pid, int generation)
{
	char *folder = find_in(pid);
	const struct dirent *entry;
	char path[64];
	DIR *tasks;

	if (folder || generation == MOST_GENERATIONS)
		return folder;
	snprintf(path, sizeof(path), "/proc/%.20s/task", pid);
	tasks = opendir(path);
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): nobody else reads this stream */
	while (tasks && !folder && (entry = readdir(tasks)))
		if (entry->d_name[0] != '.')
			folder = find_children(pid, entry->d_name, generation);
	if (tasks)
		closedir(tasks);
	return folder;
}

int gt_recording_of_process(const char *pid, char **path, struct gt_error *err)
{
	int why;

	*path = find_in(pid);
	why = errno;
	if (!*path && (why == ENOENT || why == ESRCH))
		return gt_fail(err, ESRCH, "no recording '%s', and no process of that number", pid);
	if (!*path)
		*path = find_among(pid, 0);
	if (*path)
		return 0;
	if (why == EACCES || why == EPERM)
		return gt_fail(err, why,
		               "process %s is another user's: give the recording that it writes",
		               pid);
	return gt_fail(err, ENODATA,
	               "neither process %s nor one that it started writes a recording now", pid);
}

int gt_recording_being_written(const char *word, char **folder, struct gt_error *err)
{
	int result;

	*folder = NULL;
	if (word && gt_recording_is_pid(word))
		return gt_recording_of_process(word, folder, err);
	result = gt_recording_choose(word, folder, err);
	if (result == 0 && !gt_path_is_folder(*folder))
		result = gt_fail(err, EINVAL, "%s is no recording's folder", *folder);
	return result;
}

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_STRESS_FOLDER_H
#define GT_TESTS_STRESS_FOLDER_H

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include "stress/stress.h"

/* Removes a folder with the files in it. */
static inline void remove_all(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	char path[512];

	MUST(dir);
	while ((entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (entry->d_name[0] != '.')
			unlink(path);
	}
	closedir(dir);
	rmdir(folder);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "support/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool folder_remove(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	char below[PATH_MAX];

	if (!dir)
		return false;
	while ((entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		    unlinkat(dirfd(dir), entry->d_name, 0) == 0)
			continue;
		snprintf(below, sizeof(below), "%s/%s", path, entry->d_name);
		(void)folder_remove(below);
	}
	closedir(dir);
	return rmdir(path) == 0;
}

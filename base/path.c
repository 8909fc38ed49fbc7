/* SPDX-License-Identifier: Apache-2.0 */
#include "base/path.h"

#include <string.h>
#include <sys/stat.h>

const char *gt_path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

const char *gt_path_ending(const char *path)
{
	const char *name = gt_path_name(path);
	const char *dot = strrchr(name, '.');

	return dot && dot > name ? dot : name + strlen(name);
}

bool gt_path_is_folder(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

bool gt_has_suffix(const char *name, const char *suffix)
{
	const size_t length = strlen(name);
	const size_t tail = strlen(suffix);

	return length > tail && strcmp(name + length - tail, suffix) == 0;
}

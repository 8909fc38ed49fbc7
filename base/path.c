/* SPDX-License-Identifier: Apache-2.0 */
#include "base/path.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"

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

const char *gt_path_problem(const char *path, int code, char *text, size_t size)
{
	size_t length = (size_t)(gt_path_name(path) - path);

	while (length > 1 && path[length - 1] == '/')
		length--;
	snprintf(text, size, "%.*s", (int)length, path);
	if (code != ENOENT || length == 0 || length >= size || gt_path_is_folder(text))
		return gt_errno_text(code);
	snprintf(text, size, "there is no folder %.*s", (int)length, path);
	return text;
}

bool gt_has_suffix(const char *name, const char *suffix)
{
	const size_t length = strlen(name);
	const size_t tail = strlen(suffix);

	return length > tail && strcmp(name + length - tail, suffix) == 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/dump/dump.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/path.h"
#include "cli/recording/recording.h"
#include "format/arena/dump.h"
#include "format/recording.h"

#define PART_SUFFIX ".part" /* behind the folder's name until it is whole */

/* A file that nobody writes any more, or only as a whole. */
static int copy_file(const char *from, const char *into, struct gt_error *err)
{
	struct gt_content content = {0};
	struct gt_error why = {0};
	int result = gt_load_file(&content, from, &why);
	int fd;

	if (result < 0)
		return gt_fail(err, why.code, "cannot read %s: %s", from, why.text);
	fd = open(into, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	result = fd < 0 ? -errno : gt_write_all(fd, content.bytes, content.size);
	if (fd >= 0)
		close(fd);
	gt_unload(&content);
	return result < 0
	               ? gt_fail(err, -result, "cannot write %s: %s", into, gt_errno_text(-result))
	               : 0;
}

/* Kept modules and captured launches never change once they are there. */
static int link_file(const char *from, const char *into, struct gt_error *err)
{
	char folder[PATH_MAX];

	for (const char *slash = strchr(into + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(folder, sizeof(folder), "%.*s", (int)(slash - into), into);
		(void)mkdir(folder, 0700);
	}
	return link(from, into) == 0 ? 0 : copy_file(from, into, err);
}

static bool is_passing(const char *name)
{
	return gt_has_suffix(name, GT_ARENA_SUFFIX) || gt_has_suffix(name, GT_TRIMMED_SUFFIX) ||
	       strcmp(name, GT_PYTHON_ARCHIVE) == 0;
}

static int dump_file(const char *folder, const char *name, const char *part, struct gt_error *err)
{
	char from[PATH_MAX];
	char into[PATH_MAX];
	char arena[PATH_MAX];

	if (snprintf(from, sizeof(from), "%s/%s", folder, name) >= (int)sizeof(from) ||
	    snprintf(into, sizeof(into), "%s/%s", part, name) >= (int)sizeof(into))
		return gt_fail(err, ENAMETOOLONG, "the path of %s is too long", name);
	if (is_passing(name))
		return 0;
	if (strchr(name, '/'))
		return link_file(from, into, err);
	if (!gt_has_suffix(name, GT_CAPTURE_SUFFIX))
		return copy_file(from, into, err);
	snprintf(arena, sizeof(arena), "%.*s" GT_ARENA_SUFFIX,
	         (int)(strlen(from) - strlen(GT_CAPTURE_SUFFIX)), from);
	return gt_dump_capture(from, arena, into, err);
}

static int dump_files(const char *folder, const char *part, struct gt_error *err)
{
	struct gt_recording_files files = {0};
	int result = gt_recording_list(&files, folder, err);

	for (size_t i = 0; result == 0 && i < files.list.count; i++)
		result = dump_file(folder, files.list.rows[i].name, part, err);
	gt_recording_files_release(&files);
	return result;
}

int gt_recording_dump(const char *folder, const char *into, struct gt_error *err)
{
	char part[PATH_MAX];
	int result;

	if (snprintf(part, sizeof(part), "%s" PART_SUFFIX, into) >= (int)sizeof(part))
		return gt_fail(err, ENAMETOOLONG, "%s is too long a name", into);
	if (access(into, F_OK) == 0)
		return gt_fail(err, EEXIST, "%s exists: give another name with -o", into);
	result = gt_recording_make(part, err);
	if (result < 0)
		return result;
	result = dump_files(folder, part, err);
	if (result == 0 && rename(part, into) < 0)
		result = gt_fail(err, errno, "cannot make %s: %s", into, gt_errno_text(errno));
	if (result < 0)
		(void)gt_recording_remove(part, NULL);
	return result;
}

char *gt_recording_dump_name(const char *folder)
{
	char *stem = gt_recording_stem(folder);
	char *path = NULL;

	for (unsigned number = 1; number < UINT_MAX; number++) {
		char suffix[64];

		snprintf(suffix, sizeof(suffix), ".dump-%u" GT_RECORDING_SUFFIX, number);
		path = gt_recording_path(stem, suffix);
		if (access(path, F_OK) < 0)
			break;
		free(path);
	}
	free(stem);
	return path;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"

static int exists(const char *path, struct gt_error *err)
{
	return gt_fail(err, EEXIST, "%s exists already; overwrite it with --force", path);
}

static int open_file(struct gt_output *output, const char *path, int flags, struct gt_error *err)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);

	output->file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!output->file)
		return gt_fail(err, errno, "cannot write %s: %s", output->path,
		               gt_errno_text(errno));
	return 0;
}

int gt_output_open(struct gt_output *output, const char *path, bool replace, struct gt_error *err)
{
	struct stat status;
	size_t size;

	if (!path || strcmp(path, "-") == 0) {
		*output = (struct gt_output){.file = stdout, .path = "standard output"};
		return 0;
	}
	*output = (struct gt_output){.path = path, .replace = replace};
	if (stat(path, &status) == 0) {
		if (S_ISDIR(status.st_mode))
			return gt_fail(err, EISDIR, "cannot write %s: it is a folder", path);
		/* Replacing /dev/null by a file would be a bad surprise. */
		if (!S_ISREG(status.st_mode))
			return open_file(output, path, 0, err);
		if (!replace)
			return exists(path, err);
	}
	size = strlen(path) + sizeof(".-2147483648.partial");
	output->temporary = gt_allocate(size);
	snprintf(output->temporary, size, "%s.%d.partial", path, (int)getpid());
	return open_file(output, output->temporary, O_TRUNC, err);
}

/* Not every file system knows "rename, but never over a file": then look before the rename. */
static int give_name(const struct gt_output *output)
{
	if (output->replace)
		return rename(output->temporary, output->path);
	if (renameat2(AT_FDCWD, output->temporary, AT_FDCWD, output->path, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	if (access(output->path, F_OK) == 0) {
		errno = EEXIST;
		return -1;
	}
	return rename(output->temporary, output->path);
}

int gt_output_commit(struct gt_output *output, struct gt_error *err)
{
	const bool failed_before = ferror(output->file);
	bool failed;

	errno = 0;
	failed = fflush(output->file) != 0 || failed_before;
	if (output->file != stdout) {
		failed = fclose(output->file) != 0 || failed;
		output->file = NULL;
	}
	if (failed)
		return gt_fail(err, errno ? errno : EIO, "cannot write %s: %s", output->path,
		               errno ? gt_errno_text(errno) : "a write failed");
	if (!output->temporary)
		return 0;
	if (give_name(output) < 0)
		return errno == EEXIST ? exists(output->path, err)
		                       : gt_fail(err, errno, "cannot write %s: %s", output->path,
		                                 gt_errno_text(errno));
	free(output->temporary);
	output->temporary = NULL;
	return 0;
}

void gt_output_release(struct gt_output *output)
{
	if (output->file && output->file != stdout)
		(void)fclose(output->file);
	if (output->temporary) {
		(void)unlink(output->temporary);
		free(output->temporary);
	}
	output->file = NULL;
	output->temporary = NULL;
}

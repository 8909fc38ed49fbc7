/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/path.h"
#include "base/units.h"
#include "cli/output/partial.h"
#include "cli/output/say.h"

#define TEMPORARY_TRIES 100

static int exists(const char *path, struct gt_error *err)
{
	return gt_fail(err, EEXIST, "%s exists already; overwrite it with --force", path);
}

/* Takes over the descriptor, which may be a negative errno value. */
static int use(struct gt_output *output, int fd, struct gt_error *err)
{
	char text[PATH_MAX];
	int code;

	output->file = fd < 0 ? NULL : fdopen(fd, "w");
	if (output->file)
		return 0;
	code = fd < 0 ? -fd : errno;
	return gt_fail(err, code, "cannot write %s: %s", output->path,
	               gt_path_problem(output->path, code, text, sizeof(text)));
}

static int open_in_place(struct gt_output *output, struct gt_error *err)
{
	const int fd = open(output->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

	return use(output, fd < 0 ? -errno : fd, err);
}

/*
 * A name of its own beside the file. It may be taken all the same: by a process of the same number
 * on another machine, or on purpose.
 */
static int open_temporary(struct gt_output *output, struct gt_error *err)
{
	const size_t size = strlen(output->path) + sizeof(".-2147483648-100.partial");
	char *name = gt_allocate(size);
	int fd = -EEXIST;

	for (int i = 1; fd == -EEXIST && i <= TEMPORARY_TRIES; i++) {
		if (i == 1)
			snprintf(name, size, "%s.%d.partial", output->path, (int)getpid());
		else
			snprintf(name, size, "%s.%d-%d.partial", output->path, (int)getpid(), i);
		fd = gt_partial_create(name);
	}
	if (fd >= 0)
		output->temporary = name;
	else
		free(name); /* whatever has that name is not ours */
	return use(output, fd, err);
}

int gt_output_open(struct gt_output *output, const char *path, bool replace, struct gt_error *err)
{
	struct stat status;

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
			return open_in_place(output, err);
		if (!replace)
			return exists(path, err);
	}
	return open_temporary(output, err);
}

/*
 * A name, but never another file's. Not every file system can rename like that, but then most can
 * give a file a second name; where neither goes, we look before the rename.
 */
static int give_new_name(const struct gt_output *output)
{
	if (renameat2(AT_FDCWD, output->temporary, AT_FDCWD, output->path, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	if (link(output->temporary, output->path) == 0)
		return unlink(output->temporary);
	if (errno == EEXIST || access(output->path, F_OK) == 0) {
		errno = EEXIST;
		return -1;
	}
	return rename(output->temporary, output->path);
}

static int give_name(const struct gt_output *output)
{
	return output->replace ? rename(output->temporary, output->path) : give_new_name(output);
}

int gt_output_commit(struct gt_output *output, struct gt_error *err)
{
	const bool failed_before = ferror(output->file);
	struct stat status;
	bool failed;

	errno = 0;
	failed = fflush(output->file) != 0 || failed_before;
	if (output->file != stdout) {
		if (fstat(fileno(output->file), &status) == 0)
			output->bytes = (uint64_t)status.st_size;
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
	gt_partial_forget(output->temporary);
	free(output->temporary);
	output->temporary = NULL;
	return 0;
}

void gt_output_say(const struct gt_output *output, const char *what)
{
	if (output->file != stdout)
		gt_say("wrote %s (%s)%s%s", output->path,
		       gt_figure_bytes((int64_t)output->bytes).text, what ? ": " : "",
		       what ? what : "");
}

void gt_output_release(struct gt_output *output)
{
	if (output->file && output->file != stdout)
		(void)fclose(output->file);
	if (output->temporary) {
		(void)unlink(output->temporary);
		gt_partial_forget(output->temporary);
		free(output->temporary);
	}
	output->file = NULL;
	output->temporary = NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "format/recording.h"
#include "injection/output/output.h"
#include "injection/process/calm.h"
#include "injection/session/services.h"
#include "injection/session/session.h"

/* Files that a recording keeps beside its captures. */

#define PART_BYTES ((size_t)8 << 20) /* that are written before the file is looked at again */

/* Where the arena is: its path does not depend on the working folder, which a program changes. */
int gt_kept_path(const struct gt_session *session, const char *name, char *path, size_t size)
{
	const char *slash = strrchr(session->output.arena_path, '/');
	const int length = slash ? (int)(slash - session->output.arena_path) : 0;

	return snprintf(path, size, "%.*s/%s", length, session->output.arena_path, name) < (int)size
	               ? 0
	               : -ENAMETOOLONG;
}

/* A program may close every descriptor, and its own files then get the numbers. */
static bool is_still(int fd, const struct stat *made)
{
	struct stat status;

	return fstat(fd, &status) == 0 && status.st_dev == made->st_dev &&
	       status.st_ino == made->st_ino;
}

static int write_parts(int fd, const struct gt_kept_file *file)
{
	const uint8_t *bytes = file->bytes;
	struct stat made;
	int result = fstat(fd, &made) == 0 ? 0 : -errno;

	for (size_t done = 0; result == 0 && done < file->size;) {
		const size_t rest = file->size - done;
		const size_t part = rest < PART_BYTES ? rest : PART_BYTES;

		if (!is_still(fd, &made))
			return -ESTALE;
		result = gt_write_all(fd, bytes + done, part);
		done += part;
	}
	if (is_still(fd, &made))
		close(fd);
	return result;
}

/* Under a name of this thread's own, then under its own: nobody ever sees half of it. */
static int write_file(int folder, const struct gt_kept_file *file)
{
	char name[NAME_MAX];
	int result;
	int fd;

	if (snprintf(name, sizeof(name), "%s.%d-%ld.part", file->name, (int)getpid(),
	             syscall(SYS_gettid)) >= (int)sizeof(name))
		return -ENAMETOOLONG;
	fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0)
		fd = gt_move_up(fd);
	if (fd < 0)
		return -errno;
	result = write_parts(fd, file);
	if (result == 0 && renameat(folder, name, folder, file->name) < 0)
		result = -errno;
	if (result < 0)
		(void)unlinkat(folder, name, 0);
	return result;
}

static int keep(const struct gt_session *session, const struct gt_kept_file *file)
{
	char path[PATH_MAX];
	int result = gt_kept_path(session, file->folder, path, sizeof(path));
	int folder;

	if (result < 0)
		return result;
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return -errno;
	folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder >= 0)
		folder = gt_move_up(folder);
	if (folder < 0)
		return -errno;
	result = write_file(folder, file);
	close(folder);
	return result;
}

bool gt_is_kept(const struct gt_session *session, const struct gt_kept_file *file)
{
	const int saved = errno;
	char path[PATH_MAX];
	struct stat status;
	size_t used;
	bool is_there;

	if (gt_kept_path(session, file->folder, path, sizeof(path)) < 0)
		return false;
	used = strlen(path);
	snprintf(path + used, sizeof(path) - used, "/%s", file->name);
	is_there = lstat(path, &status) == 0 && S_ISREG(status.st_mode) &&
	           (uint64_t)status.st_size == file->size;
	errno = saved;
	return is_there;
}

struct job {
	const struct gt_session *session;
	const struct gt_kept_file *file;
};

static int do_keep(void *context)
{
	const struct job *job = context;

	return keep(job->session, job->file);
}

int gt_keep_file(struct gt_session *session, const struct gt_kept_file *file)
{
	const int saved = errno;
	struct gt_calm before;
	int result;

	gt_calm_begin(&before);
	result = gt_files_do(&session->output.files, do_keep, &(struct job){session, file});
	gt_calm_end(&before);
	errno = saved;
	return result;
}

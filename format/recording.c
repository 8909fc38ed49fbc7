/* SPDX-License-Identifier: Apache-2.0 */
#include "format/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

bool gt_has_suffix(const char *name, const char *suffix)
{
	const size_t length = strlen(name);
	const size_t tail = strlen(suffix);

	return length > tail && strcmp(name + length - tail, suffix) == 0;
}

static const char *kind_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFIFO:
		return "a FIFO";
	case S_IFSOCK:
		return "a socket";
	case S_IFDIR:
		return "a folder";
	case S_IFLNK:
		return "a symbolic link";
	default:
		return "a device";
	}
}

static int check_kind(const struct stat *status, struct gt_error *err)
{
	if (S_ISREG(status->st_mode))
		return 0;
	return gt_fail(err, EBADMSG, "it is %s, not a file", kind_of(status->st_mode));
}

int gt_check_file(int folder, const char *path, struct gt_error *err)
{
	struct stat status;

	return fstatat(folder, path, &status, 0) < 0 ? 0 : check_kind(&status, err);
}

int gt_open_file(int folder, const char *path, int flags, struct gt_error *err)
{
	const int how = flags & O_NOFOLLOW ? AT_SYMLINK_NOFOLLOW : 0;
	struct stat status;
	int result = 0;
	int fd;

	if (fstatat(folder, path, &status, how) == 0)
		result = check_kind(&status, err);
	if (result < 0)
		return result;
	/* It may have become something else since: then not to wait is all that can be done. */
	fd = openat(folder, path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
	if (fd < 0)
		return gt_fail(err, errno, "cannot open it: %s", gt_errno_text(errno));
	if (fstat(fd, &status) < 0)
		result = gt_fail(err, errno, "cannot read it: %s", gt_errno_text(errno));
	else
		result = check_kind(&status, err);
	if (result == 0)
		return fd;
	close(fd);
	return result;
}

int gt_map_fd(struct gt_mapping *mapping, int fd, bool privately, struct gt_error *err)
{
	const int protection = privately ? PROT_READ | PROT_WRITE : PROT_READ;
	struct stat status;
	void *bytes;

	*mapping = (struct gt_mapping){0};
	if (fstat(fd, &status) < 0)
		return gt_fail(err, errno, "cannot read it: %s", gt_errno_text(errno));
	if (status.st_size == 0)
		return 0;
	bytes = mmap(NULL, (size_t)status.st_size, protection, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return gt_fail(err, errno, "cannot map it: %s", gt_errno_text(errno));
	*mapping = (struct gt_mapping){bytes, (size_t)status.st_size};
	return 0;
}

int gt_map_file(struct gt_mapping *mapping, const char *path, bool privately, struct gt_error *err)
{
	const int fd = gt_open_file(AT_FDCWD, path, O_RDONLY, err);
	int result;

	*mapping = (struct gt_mapping){0};
	if (fd < 0)
		return fd;
	result = gt_map_fd(mapping, fd, privately, err);
	close(fd);
	return result;
}

void gt_unmap(struct gt_mapping *mapping)
{
	if (mapping->bytes)
		munmap(mapping->bytes, mapping->size);
	*mapping = (struct gt_mapping){0};
}

int gt_write_all(int fd, const void *data, size_t size)
{
	const uint8_t *at = data;

	while (size > 0) {
		const ssize_t written = write(fd, at, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		at += written;
		size -= (size_t)written;
	}
	return 0;
}

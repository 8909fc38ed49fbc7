/* SPDX-License-Identifier: Apache-2.0 */
#include "format/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"

#define HOLD_TRIES 100

bool gt_has_suffix(const char *name, const char *suffix)
{
	const size_t length = strlen(name);
	const size_t tail = strlen(suffix);

	return length > tail && strcmp(name + length - tail, suffix) == 0;
}

int gt_map_fd(struct gt_mapping *mapping, int fd, bool privately, struct gt_error *err)
{
	const int protection = privately ? PROT_READ | PROT_WRITE : PROT_READ;
	struct stat status;
	void *bytes;

	*mapping = (struct gt_mapping){0};
	if (fstat(fd, &status) < 0)
		return gt_fail(err, errno, "cannot read it: %s", gt_errno_text(errno));
	if (!S_ISREG(status.st_mode))
		return gt_fail(err, EBADMSG, "it is not a regular file");
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
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	int result;

	*mapping = (struct gt_mapping){0};
	if (fd < 0)
		return gt_fail(err, errno, "cannot open it: %s", gt_errno_text(errno));
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

/* Whether the path still leads to what is open: it may have been moved before it was locked. */
static bool is_at(int fd, const char *path)
{
	struct stat opened;
	struct stat named;

	return fstat(fd, &opened) == 0 && lstat(path, &named) == 0 &&
	       opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

int gt_folder_hold(const char *path, enum gt_hold hold)
{
	const struct timespec moment = {.tv_nsec = 5000000};
	const int lock = hold == GT_HOLD_ALONE ? LOCK_EX : LOCK_SH;
	int result = -EWOULDBLOCK;

	for (int i = 0; result == -EWOULDBLOCK && i < HOLD_TRIES; i++) {
		const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (fd < 0)
			return errno == ELOOP ? -ENOTDIR : -errno;
		result = flock(fd, lock | LOCK_NB) < 0 ? -errno : 0;
		if (result == 0 && is_at(fd, path))
			return fd;
		if (result == 0)
			result = -EWOULDBLOCK;
		gt_folder_leave(fd);
		if (i + 1 < HOLD_TRIES)
			nanosleep(&moment, NULL);
	}
	return result;
}

void gt_folder_leave(int fd)
{
	if (fd < 0)
		return;
	(void)flock(fd, LOCK_UN);
	close(fd);
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

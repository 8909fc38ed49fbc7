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

#define PAGE_BYTES 4096 /* or a part of one */
#define READ_BYTES ((size_t)1 << 20)
#define HOLD_TRIES 100
#define HIGH_FD    500 /* the low numbers are the program's: it closes and replaces them */

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
	const int how = (flags & O_NOFOLLOW) ? AT_SYMLINK_NOFOLLOW : 0;
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

int gt_move_up(int fd)
{
	int up = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);

	if (up < 0)
		up = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	close(fd);
	return up;
}

/* The next part of the file that is no hole, from *at on and before size: *at and its end. */
static size_t next_data(int fd, size_t *at, size_t size)
{
	const off_t begin = lseek(fd, (off_t)*at, SEEK_DATA);
	const off_t end = begin < 0 ? -1 : lseek(fd, begin, SEEK_HOLE);

	if (begin < 0 && errno == ENXIO)
		*at = size; /* nothing but a hole is left */
	else if (begin >= 0)
		*at = (size_t)begin < size ? (size_t)begin : size;
	/* A file system that knows of no holes has none. */
	return end < 0 || (size_t)end > size ? size : (size_t)end;
}

static bool has_page(const struct gt_content *content, size_t page)
{
	return content->pages[page / 8] >> page % 8 & 1;
}

/* Pages of these bytes that hold anything are there; the memory of others is given back. */
static void look_at_pages(struct gt_content *content, size_t begin, size_t end)
{
	static const uint8_t zeros[PAGE_BYTES];

	for (size_t page = begin / PAGE_BYTES; page * PAGE_BYTES < end; page++) {
		const size_t at = page * PAGE_BYTES;
		const size_t size = end - at < PAGE_BYTES ? end - at : PAGE_BYTES;

		if (has_page(content, page))
			continue;
		if (memcmp(content->bytes + at, zeros, size) == 0) {
			(void)madvise(content->bytes + at, PAGE_BYTES, MADV_DONTNEED);
			continue;
		}
		content->pages[page / 8] |= (uint8_t)(1u << page % 8);
		content->there += size;
	}
}

/* Reads from *at to end; ends early at the end of the file, which may have come nearer. */
static int read_part(struct gt_content *content, int fd, size_t *at, size_t end)
{
	while (*at < end) {
		const size_t left = end - *at;
		const ssize_t got = pread(fd, content->bytes + *at,
		                          left < READ_BYTES ? left : READ_BYTES, (off_t)*at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return 0;
		look_at_pages(content, *at, *at + (size_t)got);
		*at += (size_t)got;
	}
	return 0;
}

/* Fills zeroed memory; the size becomes what the file still had. */
static int read_all(struct gt_content *content, int fd)
{
	struct stat status;
	size_t at = 0;

	while (at < content->size) {
		const size_t end = next_data(fd, &at, content->size);
		const int result = read_part(content, fd, &at, end);

		if (result < 0)
			return result;
		if (at < end)
			break;
	}
	if (fstat(fd, &status) == 0 && (size_t)status.st_size < content->size)
		content->size = (size_t)status.st_size;
	return 0;
}

size_t gt_content_part(const struct gt_content *content, size_t *at)
{
	const size_t pages = (content->size + PAGE_BYTES - 1) / PAGE_BYTES;
	size_t page = *at / PAGE_BYTES;
	size_t end;

	while (page < pages && !has_page(content, page))
		page += page % 8 == 0 && content->pages[page / 8] == 0 ? 8 : 1;
	if (page * PAGE_BYTES > *at)
		*at = page < pages ? page * PAGE_BYTES : content->size;
	while (page < pages && has_page(content, page))
		page++;
	end = page * PAGE_BYTES;
	return end < content->size ? end : content->size;
}

int gt_load_fd(struct gt_content *content, int fd, struct gt_error *err)
{
	struct stat status;
	size_t whole;
	size_t reserved;
	size_t size;
	void *bytes;
	int result;

	*content = (struct gt_content){0};
	if (fstat(fd, &status) < 0)
		return gt_fail(err, errno, "cannot read it: %s", gt_errno_text(errno));
	if (status.st_size == 0)
		return 0;
	size = (size_t)status.st_size;
	whole = (size + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	reserved = whole + whole / PAGE_BYTES / 8 + 1;
	/* As much as the file claims: it is taken only as far as something is there. */
	bytes = mmap(NULL, reserved, PROT_READ | PROT_WRITE,
	             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (bytes == MAP_FAILED)
		return gt_fail(err, errno, "its %zu bytes do not fit in memory: %s", size,
		               gt_errno_text(errno));
	*content = (struct gt_content){.bytes = bytes,
	                               .size = size,
	                               .pages = (uint8_t *)bytes + whole,
	                               .reserved = reserved};
	result = read_all(content, fd);
	if (result == 0)
		return 0;
	gt_unload(content);
	return gt_fail(err, -result, "cannot read it: %s", gt_errno_text(-result));
}

int gt_load_file(struct gt_content *content, const char *path, struct gt_error *err)
{
	const int fd = gt_open_file(AT_FDCWD, path, O_RDONLY, err);
	int result;

	*content = (struct gt_content){0};
	if (fd < 0)
		return fd;
	result = gt_load_fd(content, fd, err);
	close(fd);
	return result;
}

void gt_unload(struct gt_content *content)
{
	if (content->bytes)
		munmap(content->bytes, content->reserved);
	*content = (struct gt_content){0};
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

int gt_file_lock(int fd, enum gt_hold hold)
{
	struct flock lock = {.l_type = hold == GT_HOLD_ALONE ? F_WRLCK : F_RDLCK,
	                     .l_whence = SEEK_SET};

	if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
		return 0;
	if (errno != EINVAL)
		return -errno;
	/* A system without such locks. */
	return flock(fd, (hold == GT_HOLD_ALONE ? LOCK_EX : LOCK_SH) | LOCK_NB) < 0 ? -errno : 0;
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

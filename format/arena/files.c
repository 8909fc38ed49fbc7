/* SPDX-License-Identifier: Apache-2.0 */
#include "format/arena/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/path.h"
#include "format/arena/arena.h"
#include "format/arena/salvage.h"
#include "format/file/writer.h"
#include "format/recording.h"

#define LOCK_TRIES  20
#define BEGIN_TRIES 10

/* Where locks do not work nobody can tell: the arena is then left alone. */
bool gt_arena_is_live(const char *path)
{
	const int fd = gt_open_file(AT_FDCWD, path, O_RDONLY, NULL);
	bool live;

	if (fd < 0)
		return false;
	live = gt_file_lock(fd, GT_HOLD_SHARED) < 0;
	close(fd);
	return live;
}

bool gt_arena_is_unused(const char *path)
{
	const int fd = gt_open_file(AT_FDCWD, path, O_RDONLY, NULL);
	uint64_t magic = 0;
	bool unused;

	if (fd < 0)
		return false;
	unused = pread(fd, &magic, sizeof(magic), 0) >= 0 && magic == 0 &&
	         gt_file_lock(fd, GT_HOLD_SHARED) == 0;
	close(fd);
	return unused;
}

/* A capture that is being appended to. */
struct output {
	int fd;
	int error; /* the first that a write met, negative */
};

static int append(void *context, const void *data, size_t size)
{
	struct output *output = context;
	const int result = gt_write_all(output->fd, data, size);

	if (result < 0 && output->error == 0)
		output->error = result;
	return result;
}

/* Appends the arena's chunks behind the first own bytes of the capture, or changes nothing. */
static int append_arena(const struct gt_content *arena, const struct gt_content *capture,
                        size_t own, struct output *output, struct gt_error *err)
{
	const struct gt_sink sink = {append, output};
	struct gt_writer begin = {.sink = sink};
	int result;

	if (own < capture->size && ftruncate(output->fd, (off_t)own) < 0)
		return gt_fail(err, errno, "cannot repair its capture: %s", gt_errno_text(errno));
	if (own == 0)
		(void)gt_writer_file_header(&begin);
	result = gt_salvage_arena(arena->bytes, arena->size, capture->bytes, own, sink, err);
	if (output->error < 0)
		result = gt_fail(err, -output->error, "cannot append to its capture: %s",
		                 gt_errno_text(-output->error));
	/* Back to what it was; the arena stays for another try. */
	if (result < 0)
		(void)!ftruncate(output->fd, (off_t)own);
	return result;
}

/* Whether an arena names the capture beside it: nothing else is made or appended to. */
static bool names_its_capture(const struct gt_arena_header *header, const char *arena_name)
{
	const size_t stem = strlen(arena_name) - strlen(GT_ARENA_SUFFIX);

	return memchr(header->capture, '\0', sizeof(header->capture)) &&
	       strlen(header->capture) == stem + strlen(GT_CAPTURE_SUFFIX) &&
	       memcmp(header->capture, arena_name, stem) == 0 &&
	       gt_has_suffix(header->capture, GT_CAPTURE_SUFFIX);
}

static int salvage_into(int folder, const struct gt_content *arena, struct gt_salvage *salvage,
                        struct gt_error *err)
{
	const char *name = ((const struct gt_arena_header *)arena->bytes)->capture;
	struct gt_content capture = {0};
	struct output output = {0};
	struct gt_error why = {0};
	size_t own = 0;
	int result;

	output.fd = gt_open_file(folder, name, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, &why);
	if (output.fd < 0)
		return gt_fail(err, why.code, "its capture %s cannot be completed: %s", name,
		               why.text);
	result = gt_load_fd(&capture, output.fd, err);
	if (result == 0)
		result = gt_capture_own_bytes(capture.bytes, capture.size, &own, err);
	if (result == 0)
		result = append_arena(arena, &capture, own, &output, err);
	if (result == 0) {
		salvage->arenas++;
		salvage->bytes += (uint64_t)lseek(output.fd, 0, SEEK_END) - own;
	}
	gt_unload(&capture);
	close(output.fd);
	return result;
}

/* A copy of the capture that the process had not come to the end of: all is in the capture. */
static void remove_copy(int folder, const char *arena_name)
{
	char name[NAME_MAX + 32];

	snprintf(name, sizeof(name), "%.*s" GT_CAPTURE_SUFFIX GT_TRIMMED_SUFFIX,
	         (int)(strlen(arena_name) - strlen(GT_ARENA_SUFFIX)), arena_name);
	(void)unlinkat(folder, name, 0);
}

/* The arena file is open and locked: its process is gone and nobody else salvages it. */
static int salvage_locked(int folder, int fd, const char *name, struct gt_salvage *salvage,
                          struct gt_error *err)
{
	struct gt_content content = {0};
	struct gt_arena arena;
	int result = gt_load_fd(&content, fd, err);

	if (result == 0)
		result = gt_arena_open(&arena, content.bytes, content.size, err);
	if (result == 0 && !names_its_capture(arena.header, name))
		result = gt_fail(err, EBADMSG, "it is of another capture than the one beside it");
	if (result == 0)
		result = salvage_into(folder, &content, salvage, err);
	gt_unload(&content);
	if (result == 0)
		remove_copy(folder, name);
	if (result < 0 && result != -ENODATA) /* never used: nothing to keep */
		return result;
	if (unlinkat(folder, name, 0) < 0)
		return gt_fail(err, errno, "cannot remove it: %s", gt_errno_text(errno));
	return 0;
}

/* The kernel drops the lock with the last of a process, a moment after it can be waited for. */
static bool lock(int fd)
{
	const struct timespec moment = {.tv_nsec = 5000000};

	for (int i = 0; i < LOCK_TRIES; i++) {
		if (gt_file_lock(fd, GT_HOLD_ALONE) == 0)
			return true;
		nanosleep(&moment, NULL);
	}
	return false;
}

/* A process that begins has a lock on its arena at once and space for it a moment later. */
static bool is_empty(int fd)
{
	const struct timespec moment = {.tv_nsec = 5000000};
	struct stat status = {0};

	for (int i = 0; i < BEGIN_TRIES; i++) {
		if (fstat(fd, &status) < 0 || status.st_size > 0)
			return false;
		nanosleep(&moment, NULL);
	}
	return true;
}

/* A process lets nobody write its arena, itself included: its owner may again. */
static int open_arena(int folder, const char *name, struct gt_error *err)
{
	int fd = gt_open_file(folder, name, O_RDWR | O_NOFOLLOW, err);

	if (fd != -EACCES)
		return fd;
	fd = gt_open_file(folder, name, O_RDONLY | O_NOFOLLOW, err);
	if (fd < 0)
		return fd;
	(void)fchmod(fd, S_IRUSR | S_IWUSR);
	close(fd);
	return gt_open_file(folder, name, O_RDWR | O_NOFOLLOW, err);
}

static int salvage_one(int folder, const char *name, struct gt_salvage *salvage,
                       struct gt_error *err)
{
	struct gt_error why = {0};
	const int fd = open_arena(folder, name, &why);
	const bool empty = fd >= 0 && is_empty(fd);
	struct stat status;
	int result = 0;

	if (fd < 0) {
		result = fd;
	} else if (!lock(fd) || fstat(fd, &status) < 0) {
		salvage->running++;
	} else if (empty && status.st_size == 0) { /* it died before it had an arena */
		if (unlinkat(folder, name, 0) < 0)
			result = gt_fail(&why, errno, "cannot remove it: %s", gt_errno_text(errno));
	} else if (status.st_nlink > 0) { /* else somebody else has just salvaged it */
		result = salvage_locked(folder, fd, name, salvage, &why);
	}
	if (fd >= 0)
		close(fd);
	if (result == 0)
		return 0;
	salvage->failed++;
	return gt_fail(err, why.code, "%s: %s", name, why.text);
}

static int look_at_one(int folder, const char *name, struct gt_salvage *found, struct gt_error *err)
{
	const int fd = gt_open_file(folder, name, O_RDONLY | O_NOFOLLOW, NULL);

	(void)err;
	if (fd < 0) {
		found->failed++;
		return 0;
	}
	if (gt_file_lock(fd, GT_HOLD_SHARED) < 0)
		found->running++;
	else
		found->arenas++;
	close(fd);
	return 0;
}

/* Calls one() for each arena; goes on after a failure and returns the last. */
static int each_arena(const char *folder, struct gt_salvage *salvage, struct gt_error *err,
                      int (*one)(int, const char *, struct gt_salvage *, struct gt_error *))
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int result = 0;

	*salvage = (struct gt_salvage){0};
	if (!dir)
		return gt_fail(err, errno, "cannot read %s: %s", folder, gt_errno_text(errno));
	while ((entry = readdir(dir))) { // NOLINT(concurrency-mt-unsafe): the stream is our own
		if (!gt_has_suffix(entry->d_name, GT_ARENA_SUFFIX))
			continue;

		const int done = one(dirfd(dir), entry->d_name, salvage, err);

		if (done < 0)
			result = done;
	}
	closedir(dir);
	return result;
}

int gt_salvage_folder(const char *folder, struct gt_salvage *salvage, struct gt_error *err)
{
	return each_arena(folder, salvage, err, salvage_one);
}

int gt_salvage_look(const char *folder, struct gt_salvage *found, struct gt_error *err)
{
	return each_arena(folder, found, err, look_at_one);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/host.h"
#include "format/name.h"
#include "format/recording.h"
#include "injection/process.h"
#include "injection/session.h"

#define MAX_FOLDERS 1000 /* NAME.gputrace, NAME.2.gputrace, ... */
#define HOLD_TRIES  10   /* folders that are gone again at once */

static int make_named_folder(struct gt_session *session)
{
	char program[NAME_MAX];

	gt_process_program(program, sizeof(program));
	for (int i = 1; i <= MAX_FOLDERS; i++) {
		if (i == 1)
			snprintf(session->folder, sizeof(session->folder), "%s" GT_RECORDING_SUFFIX,
			         program);
		else
			snprintf(session->folder, sizeof(session->folder),
			         "%s.%d" GT_RECORDING_SUFFIX, program, i);
		if (mkdir(session->folder, 0700) == 0)
			return 0;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

/*
 * A folder that the user named is joined when it exists: the other processes of a job are in it.
 * With %n in its name it is one that does not exist yet.
 */
static int make_chosen_folder(struct gt_session *session, struct gt_error *err)
{
	const char *pattern = session->settings.output;
	const bool numbered = gt_name_is_numbered(pattern);
	char host[HOST_NAME_MAX + 1];
	struct gt_name_facts facts = {
		.pid = (int)getpid(), .host = host, .environment = environ, .number = 1};

	gt_host_name(host, sizeof(host));
	for (; facts.number <= MAX_FOLDERS; facts.number++) {
		const int result = gt_name_expand(pattern, &facts, session->folder,
		                                  sizeof(session->folder), err);

		if (result < 0)
			return result;
		if (mkdir(session->folder, 0700) == 0 || (errno == EEXIST && !numbered))
			return 0;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

static int make_folder(struct gt_session *session, struct gt_error *err)
{
	return *session->settings.output ? make_chosen_folder(session, err)
	                                 : make_named_folder(session);
}

/* The calling thread may not make each system call: the program filters them. */
static bool is_filtered(const struct gt_session *session)
{
	return gt_host_filters() > session->filters;
}

/*
 * Makes the folder and holds it until capture and arena are in it: no gputrace run --force moves
 * it meanwhile, and from then on the arena's lock keeps it. One that may not be read cannot be
 * held (fd is -1): whether it can be written shows soon enough.
 */
static int hold_folder(struct gt_session *session, int *fd, struct gt_error *err)
{
	int held = -ENOENT;

	*fd = -1;
	/* Then gputrace run, which holds it too, is enough. */
	if (*session->settings.run && is_filtered(session))
		return make_folder(session, err);
	for (int i = 0; held == -ENOENT && i < HOLD_TRIES; i++) {
		const int result = make_folder(session, err);

		if (result < 0)
			return result;
		held = gt_folder_hold(session->folder, GT_HOLD_SHARED);
	}
	if (held >= 0)
		*fd = held;
	return held < 0 && held != -EACCES && held != -ENOTDIR ? held : 0;
}

static bool is_capture(const struct gt_session *session, int fd)
{
	struct stat status;

	return fd >= 0 && fstat(fd, &status) == 0 && status.st_dev == session->capture_device &&
	       status.st_ino == session->capture_inode;
}

/* Opens the capture again, beside the arena, whose path does not depend on the working folder. */
static int reopen_capture(struct gt_session *session)
{
	const size_t stem = strlen(session->arena_path) - strlen(GT_ARENA_SUFFIX);
	char path[PATH_MAX + NAME_MAX + 2];
	int fd;

	session->capture_fd = -1;
	snprintf(path, sizeof(path), "%.*s" GT_CAPTURE_SUFFIX, (int)stem, session->arena_path);
	fd = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!is_capture(session, fd)) {
		close(fd);
		return -ESTALE;
	}
	session->capture_fd = gt_move_up(fd);
	return session->capture_fd < 0 ? -errno : 0;
}

static int identify_capture(struct gt_session *session)
{
	struct stat status;

	session->capture_fd = gt_move_up(session->capture_fd);
	if (session->capture_fd < 0 || fstat(session->capture_fd, &status) < 0)
		return -errno;
	session->capture_device = status.st_dev;
	session->capture_inode = status.st_ino;
	return 0;
}

/* A process that calls exec keeps pid and start time: its next program gets the next number. */
static int open_capture(struct gt_session *session)
{
	char host[HOST_NAME_MAX + 1];
	char path[PATH_MAX + NAME_MAX + 2];

	gt_host_name(host, sizeof(host));
	for (int i = 1; i <= MAX_FOLDERS; i++) {
		char number[16] = "";

		if (i > 1)
			snprintf(number, sizeof(number), "-%d", i);
		snprintf(session->capture_name, sizeof(session->capture_name),
		         "%s-%d-%llu%s" GT_CAPTURE_SUFFIX, host, (int)getpid(),
		         (unsigned long long)gt_process_started(), number);
		snprintf(path, sizeof(path), "%s/%s", session->folder, session->capture_name);
		session->capture_fd =
			open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
		if (session->capture_fd >= 0)
			return identify_capture(session);
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

/* Where a file system cannot reserve space, writing zeros does; a hole could end the program later.
 */
static int reserve(int fd, size_t size)
{
	static const uint8_t zeros[1 << 16];

	if (fallocate(fd, 0, 0, (off_t)size) == 0)
		return 0;
	if (errno != EOPNOTSUPP && errno != ENOSYS)
		return -errno;
	for (size_t done = 0; done < size; done += sizeof(zeros)) {
		const size_t rest = size - done;
		const int result =
			gt_write_all(fd, zeros, rest < sizeof(zeros) ? rest : sizeof(zeros));

		if (result < 0)
			return result;
	}
	return 0;
}

/* The file is new and open: locked, then filled, then mapped. */
static int map_arena(struct gt_session *session, int fd, const struct gt_arena_config *config)
{
	const size_t size = gt_arena_bytes(config);
	void *memory;
	int result;

	/* Before anything is in it: a salvager takes a file without a lock for a dead process's. */
	result = gt_file_lock(fd, GT_HOLD_ALONE);
	if (result == 0)
		result = reserve(fd, size);
	if (result < 0)
		return result;
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return -errno;
	/* A forked child has no use for it, and its mapping would keep the lock when we are gone. */
	(void)madvise(memory, size, MADV_DONTFORK);
	/* Who made the file shorter would end the program by SIGBUS: nobody is to write it. */
	(void)fchmod(fd, S_IRUSR);
	session->arena_bytes = size;
	gt_arena_format(&session->arena, memory, config);
	return 0;
}

static int open_arena(struct gt_session *session, const struct gt_arena_config *config)
{
	const size_t stem = strlen(session->capture_name) - strlen(GT_CAPTURE_SUFFIX);
	char here[PATH_MAX] = "";
	int result;
	int fd;

	/* The program may change its folder before we remove the file. */
	if (session->folder[0] != '/' && !getcwd(here, sizeof(here)))
		return -errno;
	if (snprintf(session->arena_path, sizeof(session->arena_path),
	             "%s%s%s/%.*s" GT_ARENA_SUFFIX, here, *here ? "/" : "", session->folder,
	             (int)stem, session->capture_name) >= (int)sizeof(session->arena_path))
		return -ENAMETOOLONG;
	fd = open(session->arena_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	result = map_arena(session, fd, config);
	if (result < 0)
		unlink(session->arena_path);
	/* The mapping keeps file and lock: no descriptor that the program could close. */
	close(fd);
	return result;
}

static void remove_all(struct gt_session *session)
{
	if (session->capture_fd >= 0) {
		char path[PATH_MAX + NAME_MAX + 2];

		snprintf(path, sizeof(path), "%s/%s", session->folder, session->capture_name);
		unlink(path);
		close(session->capture_fd);
	}
	session->capture_fd = -1;
	if (!*session->settings.output)
		rmdir(session->folder);
}

static int open_files(struct gt_session *session, struct gt_error *err)
{
	const struct gt_arena_config config =
		gt_arena_config_of(session->settings.buffer_count, session->settings.buffer_bytes,
	                           session->capture_name);
	const char *what = "recording folder";
	int result;
	int folder;

	session->capture_fd = -1;
	result = hold_folder(session, &folder, err);
	if (result < 0 && err && err->code)
		return result; /* its name is none: that was said */
	if (result == 0) {
		gt_roll_join(session);
		what = "capture file";
		result = open_capture(session);
	}
	if (result == 0) {
		what = "arena";
		result = open_arena(session, &config);
	}
	if (result < 0) {
		char why[144];

		result = gt_fail(err, -result, "cannot make the %s in %s: %s", what,
		                 session->folder, gt_errno_text(-result));
		snprintf(why, sizeof(why), "cannot make the %s: %s", what, gt_errno_text(-result));
		remove_all(session);
		gt_roll_enter(session, why);
	}
	gt_folder_leave(folder);
	return result;
}

/* A request to the thread for files. */
struct job {
	struct gt_session *session;
	struct gt_error *err;
	const void *data;
	size_t size;
	bool remove_arena;
};

static int do_open(void *context)
{
	const struct job *job = context;

	return open_files(job->session, job->err);
}

int gt_capture_file_open(struct gt_session *session, struct gt_error *err)
{
	return gt_files_do(&session->files, do_open, &(struct job){session, .err = err});
}

static int do_remove(void *context)
{
	struct gt_session *session = ((const struct job *)context)->session;

	unlink(session->arena_path);
	remove_all(session);
	return 0;
}

void gt_capture_file_remove(struct gt_session *session)
{
	(void)gt_files_do(&session->files, do_remove, &(struct job){session});
	gt_files_stop(&session->files);
}

static int do_write(void *context)
{
	const struct job *job = context;
	struct gt_session *session = job->session;
	const int result = is_capture(session, session->capture_fd) ? 0 : reopen_capture(session);

	return result < 0 ? result : gt_write_all(session->capture_fd, job->data, job->size);
}

int gt_capture_file_write(struct gt_session *session, const void *data, size_t size)
{
	return gt_files_do(&session->files, do_write,
	                   &(struct job){session, .data = data, .size = size});
}

static void close_capture(struct gt_session *session)
{
	if (is_capture(session, session->capture_fd))
		close(session->capture_fd);
	session->capture_fd = -1;
}

void gt_capture_file_forget(struct gt_session *session)
{
	const int saved = errno;

	/* A fork copies neither the thread for files nor its descriptors. */
	if (atomic_exchange(&session->files.runs, false))
		session->capture_fd = -1;
	close_capture(session);
	errno = saved;
}

static int do_close(void *context)
{
	const struct job *job = context;
	struct gt_session *session = job->session;

	if (job->remove_arena) {
		/* Where the file cannot be removed any more (chroot, setuid) nothing is salvaged. */
		atomic_store_explicit(&session->arena.header->magic, 0, memory_order_release);
		if (!is_filtered(session))
			unlink(session->arena_path); /* else who finishes the recording does */
	}
	close_capture(session);
	return 0;
}

void gt_capture_file_close(struct gt_session *session, int remove_arena)
{
	(void)gt_files_do(&session->files, do_close,
	                  &(struct job){session, .remove_arena = remove_arena != 0});
	gt_files_stop(&session->files);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/output/output.h"

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
#include "format/arena/arena.h"
#include "format/name.h"
#include "format/recording.h"
#include "format/settings.h"
#include "injection/process/process.h"

#define MAX_FOLDERS 1000 /* NAME.gputrace, NAME.2.gputrace, ... */
#define HOLD_TRIES  10   /* folders that are gone again at once */

static int make_named_folder(struct gt_output *output)
{
	char program[NAME_MAX];

	gt_process_program(program, sizeof(program));
	for (int i = 1; i <= MAX_FOLDERS; i++) {
		if (i == 1)
			snprintf(output->folder, sizeof(output->folder), "%s" GT_RECORDING_SUFFIX,
			         program);
		else
			snprintf(output->folder, sizeof(output->folder),
			         "%s.%d" GT_RECORDING_SUFFIX, program, i);
		if (mkdir(output->folder, 0700) == 0)
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
static int make_chosen_folder(struct gt_output *output, struct gt_error *err)
{
	const char *pattern = output->settings->output;
	const bool numbered = gt_name_is_numbered(pattern);
	char host[HOST_NAME_MAX + 1];
	struct gt_name_facts facts = {
		.pid = (int)getpid(), .host = host, .environment = environ, .number = 1};

	gt_host_name(host, sizeof(host));
	for (; facts.number <= MAX_FOLDERS; facts.number++) {
		const int result = gt_name_expand(pattern, &facts, output->folder,
		                                  sizeof(output->folder), err);

		if (result < 0)
			return result;
		if (mkdir(output->folder, 0700) == 0 || (errno == EEXIST && !numbered))
			return 0;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

static int make_folder(struct gt_output *output, struct gt_error *err)
{
	return *output->settings->output ? make_chosen_folder(output, err)
	                                 : make_named_folder(output);
}

/* The calling thread may not make each system call: the program filters them. */
static bool is_filtered(const struct gt_output *output)
{
	return gt_host_filters() > output->filters;
}

/*
 * Makes the folder and holds it until capture and arena are in it: no gputrace run --force moves
 * it meanwhile, and from then on the arena's lock keeps it. One that may not be read cannot be
 * held (fd is -1): whether it can be written shows soon enough.
 */
static int hold_folder(struct gt_output *output, int *fd, struct gt_error *err)
{
	int held = -ENOENT;

	*fd = -1;
	/* Then gputrace run, which holds it too, is enough. */
	if (*output->settings->run && is_filtered(output))
		return make_folder(output, err);
	for (int i = 0; held == -ENOENT && i < HOLD_TRIES; i++) {
		const int result = make_folder(output, err);

		if (result < 0)
			return result;
		held = gt_folder_hold(output->folder, GT_HOLD_SHARED);
	}
	if (held >= 0)
		*fd = held;
	return held < 0 && held != -EACCES && held != -ENOTDIR ? held : 0;
}

bool gt_capture_file_is(int fd, dev_t device, ino_t inode)
{
	struct stat status;

	return fd >= 0 && fstat(fd, &status) == 0 && status.st_dev == device &&
	       status.st_ino == inode;
}

static bool is_capture(const struct gt_output *output, int fd)
{
	return gt_capture_file_is(fd, output->capture_device, output->capture_inode);
}

/* Opens the capture again, beside the arena, whose path does not depend on the working folder. */
static int reopen_capture(struct gt_output *output)
{
	const size_t stem = strlen(output->arena_path) - strlen(GT_ARENA_SUFFIX);
	char path[PATH_MAX + NAME_MAX + 2];
	int fd;

	output->capture_fd = -1;
	snprintf(path, sizeof(path), "%.*s" GT_CAPTURE_SUFFIX, (int)stem, output->arena_path);
	fd = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!is_capture(output, fd)) {
		close(fd);
		return -ESTALE;
	}
	output->capture_fd = gt_move_up(fd);
	return output->capture_fd < 0 ? -errno : 0;
}

static int identify_capture(struct gt_output *output)
{
	struct stat status;

	output->capture_fd = gt_move_up(output->capture_fd);
	if (output->capture_fd < 0 || fstat(output->capture_fd, &status) < 0)
		return -errno;
	output->capture_device = status.st_dev;
	output->capture_inode = status.st_ino;
	return 0;
}

/* A process that calls exec keeps pid and start time: its next program gets the next number. */
static int open_capture(struct gt_output *output)
{
	char host[HOST_NAME_MAX + 1];
	char path[PATH_MAX + NAME_MAX + 2];

	gt_host_name(host, sizeof(host));
	for (int i = 1; i <= MAX_FOLDERS; i++) {
		char number[16] = "";

		if (i > 1)
			snprintf(number, sizeof(number), "-%d", i);
		snprintf(output->capture_name, sizeof(output->capture_name),
		         "%s-%d-%llu%s" GT_CAPTURE_SUFFIX, host, (int)getpid(),
		         (unsigned long long)gt_process_started(), number);
		snprintf(path, sizeof(path), "%s/%s", output->folder, output->capture_name);
		output->capture_fd =
			open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
		if (output->capture_fd >= 0)
			return identify_capture(output);
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
static int map_arena(struct gt_output *output, int fd, const struct gt_arena_config *config)
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
	output->arena_bytes = size;
	gt_arena_format(output->arena, memory, config);
	return 0;
}

static int open_arena(struct gt_output *output, const struct gt_arena_config *config)
{
	const size_t stem = strlen(output->capture_name) - strlen(GT_CAPTURE_SUFFIX);
	char here[PATH_MAX] = "";
	int result;
	int fd;

	/* The program may change its folder before we remove the file. */
	if (output->folder[0] != '/' && !getcwd(here, sizeof(here)))
		return -errno;
	if (snprintf(output->arena_path, sizeof(output->arena_path), "%s%s%s/%.*s" GT_ARENA_SUFFIX,
	             here, *here ? "/" : "", output->folder, (int)stem,
	             output->capture_name) >= (int)sizeof(output->arena_path))
		return -ENAMETOOLONG;
	fd = open(output->arena_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	result = map_arena(output, fd, config);
	if (result < 0)
		unlink(output->arena_path);
	/* The mapping keeps file and lock: no descriptor that the program could close. */
	close(fd);
	return result;
}

static void remove_all(struct gt_output *output)
{
	if (output->capture_fd >= 0) {
		char path[PATH_MAX + NAME_MAX + 2];

		snprintf(path, sizeof(path), "%s/%s", output->folder, output->capture_name);
		unlink(path);
		close(output->capture_fd);
	}
	output->capture_fd = -1;
	if (!*output->settings->output)
		rmdir(output->folder);
}

static int open_files(struct gt_output *output, struct gt_error *err)
{
	const struct gt_arena_config config =
		gt_arena_config_of(output->settings->buffer_count, output->settings->buffer_bytes,
	                           output->capture_name);
	const char *what = "recording folder";
	int result;
	int folder;

	output->capture_fd = -1;
	gt_trim_init(&output->trim, output->settings);
	result = hold_folder(output, &folder, err);
	if (result < 0 && err && err->code)
		return result; /* its name is none: that was said */
	if (result == 0) {
		gt_roll_join(output);
		what = "capture file";
		result = open_capture(output);
	}
	if (result == 0) {
		what = "arena";
		result = open_arena(output, &config);
	}
	if (result < 0) {
		char why[144];

		result = gt_fail(err, -result, "cannot make the %s in %s: %s", what, output->folder,
		                 gt_errno_text(-result));
		snprintf(why, sizeof(why), "cannot make the %s: %s", what, gt_errno_text(-result));
		remove_all(output);
		gt_roll_enter(output, why);
	}
	gt_folder_leave(folder);
	return result;
}

/* A request to the thread for files. */
struct job {
	struct gt_output *output;
	struct gt_error *err;
	const void *data;
	size_t size;
	bool remove_arena;
};

static int do_open(void *context)
{
	const struct job *job = context;

	return open_files(job->output, job->err);
}

int gt_capture_file_open(struct gt_output *output, struct gt_error *err)
{
	return gt_files_do(&output->files, do_open, &(struct job){output, .err = err});
}

static int do_remove(void *context)
{
	struct gt_output *output = ((const struct job *)context)->output;

	unlink(output->arena_path);
	remove_all(output);
	return 0;
}

void gt_capture_file_remove(struct gt_output *output)
{
	(void)gt_files_do(&output->files, do_remove, &(struct job){output});
	gt_files_stop(&output->files);
}

static int do_write(void *context)
{
	const struct job *job = context;
	struct gt_output *output = job->output;
	int result;

	if (output->trim.takes_writes)
		return gt_trim_write(&output->trim, job->data, job->size);
	result = is_capture(output, output->capture_fd) ? 0 : reopen_capture(output);
	if (result == 0)
		result = gt_write_all(output->capture_fd, job->data, job->size);
	if (result == 0)
		output->trim.bytes += job->size;
	return result;
}

int gt_capture_file_write(struct gt_output *output, const void *data, size_t size)
{
	return gt_files_do(&output->files, do_write,
	                   &(struct job){output, .data = data, .size = size});
}

void gt_capture_file_replace(struct gt_output *output, int fd, dev_t device, ino_t inode)
{
	if (is_capture(output, output->capture_fd))
		close(output->capture_fd);
	output->capture_fd = fd;
	output->capture_device = device;
	output->capture_inode = inode;
}

static void close_capture(struct gt_output *output)
{
	if (is_capture(output, output->capture_fd))
		close(output->capture_fd);
	output->capture_fd = -1;
}

void gt_capture_file_forget(struct gt_output *output)
{
	const int saved = errno;

	/* A fork copies neither the thread for files nor its descriptors. */
	if (atomic_exchange(&output->files.runs, false))
		output->capture_fd = -1;
	gt_trim_forget(&output->trim);
	close_capture(output);
	errno = saved;
}

static int do_close(void *context)
{
	const struct job *job = context;
	struct gt_output *output = job->output;

	if (job->remove_arena) {
		/* Where the file cannot be removed any more (chroot, setuid) nothing is salvaged. */
		atomic_store_explicit(&output->arena->header->magic, 0, memory_order_release);
		if (!is_filtered(output))
			unlink(output->arena_path); /* else who finishes the recording does */
	}
	close_capture(output);
	return 0;
}

void gt_capture_file_close(struct gt_output *output, int remove_arena)
{
	gt_trim_stop(output);
	(void)gt_files_do(&output->files, do_close,
	                  &(struct job){output, .remove_arena = remove_arena != 0});
	gt_files_stop(&output->files);
}

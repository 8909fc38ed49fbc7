/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/replay/again.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/parse.h"
#include "cli/output/variable.h"
#include "format/recording.h"

/* For the process that it becomes: how often it began again, and the file with what is left. */
#define VARIABLE "GPUTRACE_REPLAY_AGAIN"
#define LEFT     "GPUTRACE_REPLAY_LEFT"

enum { MOST_LEFT = 256 << 20 };

unsigned gt_begun_again(void)
{
	const char *text = gt_variable(VARIABLE);
	uint64_t times = 0;

	if (text && gt_parse_count(text, &times) < 0)
		return 0;
	return times > GT_AGAIN_MOST ? GT_AGAIN_MOST : (unsigned)times;
}

/* The words that it was started with, each with a zero behind it. */
struct words {
	gt_array(char *) list;
};

static void read_words(struct words *words)
{
	FILE *file = fopen("/proc/self/cmdline", "re");
	char *word = NULL;
	size_t size = 0;

	while (file && getdelim(&word, &size, '\0', file) > 0) {
		*gt_array_push(&words->list) = word;
		word = NULL;
	}
	free(word);
	if (file)
		(void)fclose(file);
}

static void release_words(struct words *words)
{
	gt_array_each(char *, word, &words->list)
		free(*word);
	gt_array_release(&words->list);
}

/* With what the driver has open the GPU's work goes, also where that never ends. */
static void close_devices_at_exec(void)
{
	DIR *folder = opendir("/proc/self/fd");
	const struct dirent *entry;

	while (folder && (entry = readdir(folder)) != NULL) { // NOLINT(concurrency-mt-unsafe)
		char path[64] = "";
		uint64_t file = 0;

		if (gt_parse_count(entry->d_name, &file) < 0 || file > INT32_MAX ||
		    readlinkat(dirfd(folder), entry->d_name, path, sizeof(path) - 1) < 0)
			continue;
		if (strncmp(path, "/dev/nvidia", strlen("/dev/nvidia")) == 0)
			(void)fcntl((int)file, F_SETFD, FD_CLOEXEC);
	}
	if (folder)
		(void)closedir(folder);
}

/* As another process; returns where it cannot. */
static void become(void)
{
	struct words words = {0};

	close_devices_at_exec();
	read_words(&words);
	*gt_array_push(&words.list) = NULL;
	if (words.list.rows[0])
		(void)execv("/proc/self/exe", words.list.rows);
	release_words(&words);
}

/* In memory that the other process has as a file, of which it is told the number. */
static int leave(const void *left, size_t size)
{
	char text[16];
	const int file = memfd_create("gputrace-replay", 0);

	if (file < 0)
		return -errno;
	if (gt_write_all(file, left, size) < 0 || lseek(file, 0, SEEK_SET) < 0) {
		(void)close(file);
		return -EIO;
	}
	snprintf(text, sizeof(text), "%d", file);
	(void)setenv(LEFT, text, 1); // NOLINT(concurrency-mt-unsafe)
	return file;
}

static void become_with(const void *left, size_t size)
{
	const int file = size > 0 ? leave(left, size) : -1;

	if (size > 0 && file < 0)
		return;
	become();
	(void)unsetenv(LEFT); // NOLINT(concurrency-mt-unsafe)
	if (file >= 0)
		(void)close(file);
}

void gt_begin_again(const void *left, size_t size)
{
	const unsigned times = gt_begun_again() + 1;
	char text[16];

	if (times > GT_AGAIN_MOST)
		return;
	snprintf(text, sizeof(text), "%u", times);
	(void)setenv(VARIABLE, text, 1); // NOLINT(concurrency-mt-unsafe)
	if (times == GT_AGAIN_MOST)
		(void)personality(ADDR_NO_RANDOMIZE);
	become_with(left, size);
}

void gt_go_on_elsewhere(const void *left, size_t size)
{
	become_with(left, size);
}

/* All of a file that no one else has. */
static int read_left(int file, void **left, size_t *size)
{
	struct stat status;
	uint8_t *bytes;
	size_t got = 0;

	if (fstat(file, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size <= 0 ||
	    status.st_size > MOST_LEFT)
		return -EBADMSG;
	bytes = gt_allocate((size_t)status.st_size);
	while (got < (size_t)status.st_size) {
		const ssize_t more = read(file, bytes + got, (size_t)status.st_size - got);

		if (more < 0 && errno == EINTR)
			continue;
		if (more <= 0)
			break;
		got += (size_t)more;
	}
	if (got < (size_t)status.st_size) {
		free(bytes);
		return -EBADMSG;
	}
	*left = bytes;
	*size = got;
	return 0;
}

int gt_take_left(void **left, size_t *size, struct gt_error *err)
{
	const char *text = gt_variable(LEFT);
	uint64_t file = 0;
	int result;

	*left = NULL;
	*size = 0;
	if (!text)
		return 0;
	result = gt_parse_count(text, &file) < 0 || file <= STDERR_FILENO || file > INT32_MAX
	                 ? -EBADMSG
	                 : read_left((int)file, left, size);
	if (result == 0)
		(void)close((int)file);
	(void)unsetenv(LEFT); // NOLINT(concurrency-mt-unsafe)
	return result < 0 ? gt_fail(err, EBADMSG,
	                            "what the process before this one left cannot be read; " LEFT
	                            " is set by gputrace alone")
	                  : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/machine/kernel_log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/host.h"
#include "cli/output/variable.h"
#include "cli/recording/recording.h"
#include "format/recording.h"
#include "model/trace.h"

#define DEVICE "/dev/kmsg"

enum {
	MOST_LINES = 1 << 18,  /* that are looked at: a log holds fewer */
	MOST_MESSAGES = 100,   /* that are kept: one GPU may repeat itself without end */
	LINE_BYTES = 400,      /* of a message */
	READ_BYTES = 16 << 10, /* more than a record of the kernel has */
};

void gt_kernel_log_open(struct gt_kernel_log *log)
{
	const char *named = gt_variable(GT_KERNEL_LOG_VARIABLE);

	log->fd = open(named ? named : DEVICE, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (log->fd >= 0 && lseek(log->fd, 0, SEEK_END) < 0) {
		log->code = errno;
		close(log->fd);
		log->fd = -1;
	} else if (log->fd < 0) {
		log->code = errno;
	}
}

void gt_kernel_log_close(struct gt_kernel_log *log)
{
	if (log->fd >= 0)
		close(log->fd);
	log->fd = -1;
}

/* The lines that a recording gets. */
struct lines {
	gt_array(char) text;
	unsigned messages;
	bool overwritten; /* messages were, before they were read */
};

__attribute__((format(printf, 2, 3))) static void add(struct lines *lines, const char *fmt, ...)
{
	char line[LINE_BYTES];
	va_list args;
	size_t length;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line) - 1, fmt, args);
	va_end(args);
	length = strlen(line);
	line[length++] = '\n';
	lines->text.rows = gt_array_resize(lines->text.rows, lines->text.count + length, 1);
	memcpy(lines->text.rows + lines->text.count, line, length);
	lines->text.count += length;
}

/* A record of the log: PRIORITY,NUMBER,MICROSECONDS,FLAGS;MESSAGE. Others of it are of no use. */
static void see(struct lines *lines, char *record)
{
	char *message = strchr(record, ';');
	unsigned long long us;
	char *end;

	if (!message || !strstr(message, "NVRM: Xid (") || lines->messages == MOST_MESSAGES)
		return;
	*message++ = '\0';
	message[strcspn(message, "\n")] = '\0';
	record = strchr(record, ',');
	record = record ? strchr(record + 1, ',') : NULL;
	us = record ? strtoull(record + 1, &end, 10) : 0;
	lines->messages++;
	add(lines, "[%5llu.%06llu] %s", us / 1000000, us % 1000000, message);
}

/* Reads records until there are none. The kernel says EPIPE where it has overwritten some. */
static int read_all(struct lines *lines, FILE *log)
{
	char *record = NULL;
	size_t size = 0;

	for (int i = 0; i < MOST_LINES; i++) {
		errno = 0;
		if (getline(&record, &size, log) >= 0) {
			see(lines, record);
			continue;
		}
		if (errno != EPIPE && errno != EINTR)
			break;
		lines->overwritten = lines->overwritten || errno == EPIPE;
		clearerr(log);
	}
	free(record);
	return feof(log) || errno == EAGAIN || errno == 0 ? 0 : errno;
}

/* Returns why it could not be read: an errno value. */
static int read_log(struct gt_kernel_log *log, struct lines *lines)
{
	char buffer[READ_BYTES];
	FILE *stream;
	int code;

	if (log->fd < 0)
		return log->code;
	stream = fdopen(log->fd, "r");
	if (!stream)
		return errno;
	log->fd = -1;
	(void)setvbuf(stream, buffer, _IOFBF, sizeof(buffer));
	code = read_all(lines, stream);
	(void)fclose(stream);
	return code;
}

/* Behind what another run has written. All lines go in at once. */
static void store(const struct lines *lines, const char *folder)
{
	char host[HOST_NAME_MAX + 1];
	char path[PATH_MAX];
	int fd;

	gt_host_name(host, sizeof(host));
	if (snprintf(path, sizeof(path), "%s/%s" GT_KERNEL_LOG_SUFFIX, folder, host) >=
	    (int)sizeof(path))
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	(void)gt_write_all(fd, lines->text.rows, lines->text.count);
	(void)close(fd);
}

void gt_kernel_log_record(struct gt_kernel_log *log, const char *folder)
{
	struct lines lines = {0};

	if (gt_recording_has_captures(folder)) {
		const int code = read_log(log, &lines);

		if (code)
			add(&lines, "is not readable: %s", gt_errno_text(code));
		else if (lines.overwritten)
			add(&lines, "was overwritten in part before it was read");
		else
			add(&lines, GT_KERNEL_LOG_READ);
		store(&lines, folder);
	}
	gt_kernel_log_close(log);
	gt_array_release(&lines.text);
}

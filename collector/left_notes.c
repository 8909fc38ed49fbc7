/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/left_notes.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/parse.h"
#include "base/utf8.h"
#include "format/recording.h"
#include "model/trace.h"

/* The host, which may have dashes, and the process id of HOST-PID.notes. */
static bool read_name(struct gt_left_note *note, const char *name)
{
	const char *dash = strrchr(name, '-');
	const size_t length = dash ? (size_t)(dash - name) : 0;
	char digits[16];
	uint64_t pid;

	if (length == 0 || length >= sizeof(note->host))
		return false;
	snprintf(digits, sizeof(digits), "%.*s", (int)strcspn(dash + 1, "."), dash + 1);
	if (gt_parse_count(digits, &pid) < 0 || pid > UINT32_MAX)
		return false;
	memcpy(note->host, name, length);
	note->host[length] = '\0';
	note->pid = (uint32_t)pid;
	note->topic = "python";
	return true;
}

/* The host of HOST.kernel-log. */
static bool read_log_name(struct gt_left_note *note, const char *name)
{
	const size_t length = strlen(name) - strlen(GT_KERNEL_LOG_SUFFIX);

	if (length == 0 || length >= sizeof(note->host))
		return false;
	memcpy(note->host, name, length);
	note->topic = GT_KERNEL_LOG_TOPIC;
	return true;
}

/* The number behind "pid=" in a message of the kernel; 0: there is none. */
static uint32_t pid_of(const char *line)
{
	const char *found = strstr(line, ", pid=");
	char digits[16];
	uint64_t pid;

	if (!found)
		return 0;
	found += strlen(", pid=");
	snprintf(digits, sizeof(digits), "%.*s", (int)strspn(found, "0123456789"), found);
	return gt_parse_count(digits, &pid) == 0 && pid <= UINT32_MAX ? (uint32_t)pid : 0;
}

/* The file is anybody's: what is no printable UTF-8 is a question mark. */
static void copy_text(struct gt_left_note *note, const char *line)
{
	size_t used = 0;

	while (*line && used + 4 < sizeof(note->text)) {
		const size_t size = gt_utf8_size(line);

		if (size == 0 || gt_utf8_misleads(line)) {
			note->text[used++] = '?';
			line += size ? size : 1;
			continue;
		}
		memcpy(note->text + used, line, size);
		used += size;
		line += size;
	}
	note->text[used] = '\0';
}

static size_t read_bytes(int folder, const char *name, char *bytes, size_t size)
{
	const int fd = gt_open_file(folder, name, O_RDONLY | O_NOFOLLOW, NULL);
	size_t used = 0;
	ssize_t got = 1;

	if (fd < 0)
		return 0;
	while (got > 0 && used < size - 1) {
		got = read(fd, bytes + used, size - 1 - used);
		used += got > 0 ? (size_t)got : 0;
	}
	close(fd);
	bytes[used] = '\0';
	return used;
}

/* The lines of a file, each with what is known of all of them. */
static void read_lines(struct gt_left_notes *notes, int folder, const char *name,
                       struct gt_left_note *note)
{
	char bytes[GT_LEFT_NOTES_BYTES];
	char *rest = bytes;

	if (read_bytes(folder, name, bytes, sizeof(bytes)) == 0)
		return;
	for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
		if (!*line || notes->list.count >= GT_LEFT_NOTES_MOST)
			continue;
		copy_text(note, line);
		*gt_array_push(&notes->list) = *note;
	}
}

void gt_left_notes_read(struct gt_left_notes *notes, int folder, const char *name)
{
	struct gt_left_note note = {0};

	if (read_name(&note, name))
		read_lines(notes, folder, name, &note);
}

void gt_left_notes_read_log(struct gt_left_notes *notes, int folder, const char *name)
{
	struct gt_left_note note = {0};
	const size_t before = notes->list.count;

	if (read_log_name(&note, name))
		read_lines(notes, folder, name, &note);
	for (size_t i = before; i < notes->list.count; i++)
		notes->list.rows[i].pid = pid_of(notes->list.rows[i].text);
}

void gt_left_notes_release(struct gt_left_notes *notes)
{
	gt_array_release(&notes->list);
}

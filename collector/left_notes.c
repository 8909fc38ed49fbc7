/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/left_notes.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/parse.h"
#include "base/utf8.h"
#include "format/recording.h"

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
	return true;
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

void gt_left_notes_read(struct gt_left_notes *notes, int folder, const char *name)
{
	char bytes[GT_LEFT_NOTES_BYTES];
	struct gt_left_note note = {0};
	char *rest = bytes;

	if (!read_name(&note, name) || read_bytes(folder, name, bytes, sizeof(bytes)) == 0)
		return;
	for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
		if (!*line || notes->list.count >= GT_LEFT_NOTES_MOST)
			continue;
		copy_text(&note, line);
		*gt_array_push(&notes->list) = note;
	}
}

void gt_left_notes_release(struct gt_left_notes *notes)
{
	gt_array_release(&notes->list);
}

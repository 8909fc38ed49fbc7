/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/process/mapping_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *skip_words(const char *text, int words)
{
	while (words-- > 0) {
		text += strcspn(text, " ");
		text += strspn(text, " ");
	}
	return text;
}

/* start-end rwxp offset device inode path */
static bool read_line(const char *text, struct gt_mapping_line *line)
{
	char *end = NULL;

	line->start = (uintptr_t)strtoull(text, &end, 16);
	if (end == text || *end != '-')
		return false;
	text = end + 1;
	line->end = (uintptr_t)strtoull(text, &end, 16);
	if (end == text || *end != ' ' || strlen(end) < 5)
		return false;
	line->is_writable = end[1] == 'r' && end[2] == 'w';
	line->is_code = end[3] == 'x';
	line->path = skip_words(text, 5);
	return true;
}

bool gt_is_passed_over(const char *path)
{
	/* libc and the loader are only left over on the stack: neither asks CUDA for anything. */
	static const char *const names[] = {"libcuda.so",    "libcudart.so",
	                                    "libcupti.so",   "libgputrace-injection.so",
	                                    "libc.so",       "ld-linux",
	                                    "libpthread.so", "libcudadebugger.so"};
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* The whole lines of the text, which are cut at their ends; returns the bytes that are left over. */
static size_t use_lines(char *text, size_t size, gt_use_mapping *use, void *context)
{
	char *at = text;
	char *end;

	while ((end = memchr(at, '\n', size - (size_t)(at - text)))) {
		struct gt_mapping_line line;

		*end = '\0';
		if (read_line(at, &line))
			use(context, &line);
		at = end + 1;
	}
	memmove(text, at, size - (size_t)(at - text));
	return size - (size_t)(at - text);
}

bool gt_mapping_lines_each(char *text, size_t size, gt_use_mapping *use, void *context)
{
	const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t held = 0;
	ssize_t got = 0;

	if (fd < 0)
		return false;
	while (held < size &&
	       ((got = read(fd, text + held, size - held)) > 0 || (got < 0 && errno == EINTR)))
		if (got > 0)
			held = use_lines(text, held + (size_t)got, use, context);
	(void)close(fd);
	return got == 0;
}

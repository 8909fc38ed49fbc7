/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/terminal.h"

#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/parse.h"
#include "cli/output/variable.h"

bool gt_terminal_obeys(int fd)
{
	const char *term = gt_variable("TERM");

	return term && strcmp(term, "dumb") != 0 && isatty(fd);
}

bool gt_terminal_is_colourful(int fd)
{
	return !gt_variable("NO_COLOR") && gt_terminal_obeys(fd);
}

struct gt_terminal_size gt_terminal_size(int fd)
{
	struct winsize window = {0};

	if (!isatty(fd) || ioctl(fd, TIOCGWINSZ, &window) < 0)
		return (struct gt_terminal_size){0};
	return (struct gt_terminal_size){.rows = window.ws_row, .columns = window.ws_col};
}

static uint64_t wanted_width(int fd, size_t usual)
{
	const char *columns = gt_variable("COLUMNS");
	uint64_t width = gt_terminal_size(fd).columns;

	if (width > 0)
		return width;
	if (columns && gt_parse_count(columns, &width) == 0 && width > 0)
		return width;
	return usual;
}

size_t gt_page_width(int fd, size_t usual)
{
	const uint64_t width = wanted_width(fd, usual);

	return width < GT_PAGE_NARROWEST ? GT_PAGE_NARROWEST : (size_t)width;
}

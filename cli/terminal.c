/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/terminal.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/variable.h"

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

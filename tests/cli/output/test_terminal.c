/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/terminal.h"

#include <stdlib.h>
#include <sys/ioctl.h>

#include "support/check.h"
#include "support/terminal.h"

static void with(const char *term, const char *no_colour)
{
	setenv("TERM", term, 1);
	setenv("NO_COLOR", no_colour, 1);
}

Test(terminal, obeys_when_TERM_names_one_that_can)
{
	FILE *terminal = open_terminal();

	with("xterm", "");
	cr_expect(gt_terminal_obeys(fileno(terminal)));
	with("dumb", "");
	cr_expect(not(gt_terminal_obeys(fileno(terminal))));
	with("", "");
	cr_expect(not(gt_terminal_obeys(fileno(terminal))));
	(void)fclose(terminal);
}

Test(terminal, is_colourful_unless_that_is_refused)
{
	FILE *terminal = open_terminal();

	with("xterm", "");
	cr_expect(gt_terminal_is_colourful(fileno(terminal)));
	with("xterm", "1");
	cr_expect(not(gt_terminal_is_colourful(fileno(terminal))));
	cr_expect(gt_terminal_obeys(fileno(terminal)));
	(void)fclose(terminal);
}

Test(terminal, tells_its_size)
{
	const struct winsize window = {.ws_row = 24, .ws_col = 80};
	FILE *terminal = open_terminal();

	cr_assert(eq(int, ioctl(fileno(terminal), TIOCSWINSZ, &window), 0));
	cr_expect(eq(sz, gt_terminal_size(fileno(terminal)).rows, 24));
	cr_expect(eq(sz, gt_terminal_size(fileno(terminal)).columns, 80));
	(void)fclose(terminal);
}

Test(terminal, is_none_for_a_file)
{
	FILE *file = fopen("/dev/null", "w");

	with("xterm", "");
	cr_expect(not(gt_terminal_obeys(fileno(file))));
	cr_expect(eq(sz, gt_terminal_size(fileno(file)).rows, 0));
	(void)fclose(file);
}

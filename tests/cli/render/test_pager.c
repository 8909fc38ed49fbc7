/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/render/pager.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "support/check.h"
#include "support/terminal.h"

/* Whether it is where standard output is that file. */
static bool is_needed(const char *text, FILE *out)
{
	const int before = dup(STDOUT_FILENO);
	bool needed;

	cr_assert(eq(int, dup2(fileno(out), STDOUT_FILENO), STDOUT_FILENO));
	needed = gt_pager_is_needed(text, strlen(text));
	cr_assert(eq(int, dup2(before, STDOUT_FILENO), STDOUT_FILENO));
	close(before);
	return needed;
}

/* The prompt comes after it: of as many lines as there are rows the first would be gone. */
Test(pager, is_needed_where_a_line_would_scroll_away)
{
	const struct winsize window = {.ws_row = 3, .ws_col = 80};
	FILE *terminal = open_terminal();

	cr_assert(eq(int, ioctl(fileno(terminal), TIOCSWINSZ, &window), 0));
	cr_expect(not(is_needed("", terminal)));
	cr_expect(not(is_needed("one\ntwo\n", terminal)));
	cr_expect(is_needed("one\ntwo\nthree\n", terminal));
	(void)fclose(terminal);
}

Test(pager, is_not_needed_for_a_file)
{
	FILE *file = tmpfile();

	cr_expect(not(is_needed("one\ntwo\nthree\n", file)));
	(void)fclose(file);
}

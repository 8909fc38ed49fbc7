/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/hyperlink.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/output/say.h"
#include "support/check.h"
#include "support/terminal.h"

static void clear(void)
{
	static const char *const names[] = {"NO_COLOR",   "TERM_PROGRAM",    "VTE_VERSION",
	                                    "WT_SESSION", "KONSOLE_VERSION", "KITTY_WINDOW_ID",
	                                    "DOMTERM"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
	setenv("TERM", "xterm-256color", 1);
}

static bool works_with(const char *name, const char *value)
{
	FILE *terminal = open_terminal();
	bool works;

	clear();
	if (name)
		setenv(name, value, 1);
	works = gt_hyperlink_works(terminal);
	(void)fclose(terminal);
	return works;
}

Test(hyperlink, works_on_terminals_that_are_known_to_show_it)
{
	cr_expect(works_with("VTE_VERSION", "6800"));
	cr_expect(works_with("KONSOLE_VERSION", "220401"));
	cr_expect(works_with("WT_SESSION", "a-b-c"));
	cr_expect(works_with("TERM", "xterm-kitty"));
	cr_expect(works_with("TERM", "foot-extra"));
	cr_expect(works_with("TERM_PROGRAM", "vscode"));
}

Test(hyperlink, does_not_on_others_which_would_hide_the_address)
{
	cr_expect(works_with(NULL, NULL) == false);
	cr_expect(works_with("VTE_VERSION", "4200") == false);
	cr_expect(works_with("VTE_VERSION", "new") == false);
	cr_expect(works_with("TERM_PROGRAM", "Apple_Terminal") == false);
}

Test(hyperlink, is_not_for_those_who_want_plain_text)
{
	FILE *terminal = open_terminal();

	clear();
	setenv("VTE_VERSION", "6800", 1);
	cr_expect(gt_hyperlink_works(terminal));
	setenv("NO_COLOR", "1", 1);
	cr_expect(gt_hyperlink_works(terminal) == false);
	setenv("NO_COLOR", "", 1);
	cr_expect(gt_hyperlink_works(terminal));
	for (const char *const *term =
	             (const char *const[]){"dumb", "tmux-256color", "screen", "", NULL};
	     *term; term++) {
		setenv("TERM", *term, 1);
		cr_expect(gt_hyperlink_works(terminal) == false, "%s", *term);
	}
	(void)fclose(terminal);
}

Test(hyperlink, is_not_written_into_files)
{
	FILE *file = tmpfile();

	clear();
	setenv("VTE_VERSION", "6800", 1);
	cr_expect(gt_hyperlink_works(file) == false);
	(void)fclose(file);
}

/* The link goes to standard error, wherever standard output goes. */
Test(hyperlink, is_not_said_into_a_file)
{
	const int out = dup(STDOUT_FILENO);
	const int err = dup(STDERR_FILENO);
	FILE *terminal = open_terminal();
	FILE *file = tmpfile();
	char text[128] = "";

	clear();
	setenv("VTE_VERSION", "6800", 1);
	dup2(fileno(terminal), STDOUT_FILENO);
	dup2(fileno(file), STDERR_FILENO);
	gt_say_link("name", "https://address", "it is in ");
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	rewind(file);
	cr_assert(ne(ptr, fgets(text, sizeof(text), file), NULL));
	expect_text(text, "gputrace: it is in name\n");
	(void)fclose(terminal);
	(void)fclose(file);
}

Test(hyperlink, is_the_text_between_two_marks)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	gt_hyperlink_print("name", "https://address", out);
	(void)fclose(out);
	expect_text(text, "\033]8;;https://address\033\\name\033]8;;\033\\");
	free(text);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/hyperlink.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/parse.h"

#define FIRST_VTE 5000 /* 0.50, of GNOME Terminal and its like */

/* "" for one that is not set. */
static const char *variable(const char *name)
{
	const char *value = getenv(name); // NOLINT(concurrency-mt-unsafe): there is one thread

	return value ? value : "";
}

static bool begins_with_one_of(const char *text, const char *const *beginnings)
{
	for (; *beginnings; beginnings++)
		if (strncmp(text, *beginnings, strlen(*beginnings)) == 0)
			return true;
	return false;
}

static bool is_known_terminal(void)
{
	static const char *const terms[] = {"xterm-kitty", "xterm-ghostty", "alacritty", "foot",
	                                    "wezterm",     "contour",       NULL};
	static const char *const programs[] = {"iTerm.app", "WezTerm", "vscode", "ghostty",
	                                       "Hyper",     "mintty",  "rio",    NULL};
	static const char *const marks[] = {"WT_SESSION", "KONSOLE_VERSION", "KITTY_WINDOW_ID",
	                                    "DOMTERM", NULL};
	uint64_t vte = 0;

	for (const char *const *mark = marks; *mark; mark++)
		if (*variable(*mark))
			return true;
	if (gt_parse_count(variable("VTE_VERSION"), &vte) == 0 && vte >= FIRST_VTE)
		return true;
	return begins_with_one_of(variable("TERM"), terms) ||
	       begins_with_one_of(variable("TERM_PROGRAM"), programs);
}

bool gt_hyperlink_works(FILE *out)
{
	/* These stand between us and the terminal whose variables they leave as they were. */
	static const char *const between[] = {"screen", "tmux", "dumb", NULL};
	const char *term = variable("TERM");

	if (!isatty(fileno(out)) || *variable("NO_COLOR") || !*term ||
	    begins_with_one_of(term, between))
		return false;
	return is_known_terminal();
}

void gt_hyperlink_print(const char *text, const char *address, FILE *out)
{
	fprintf(out, "\033]8;;%s\033\\%s\033]8;;\033\\", address, text);
}

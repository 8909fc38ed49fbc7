/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/hyperlink.h"

#include <string.h>

#include "base/parse.h"
#include "cli/output/terminal.h"
#include "cli/output/variable.h"

#define FIRST_VTE 5000 /* 0.50, of GNOME Terminal and its like */

static bool begins_with_one_of(const char *text, const char *const *beginnings)
{
	for (; text && *beginnings; beginnings++)
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
	const char *named_vte = gt_variable("VTE_VERSION");
	uint64_t vte = 0;

	for (const char *const *mark = marks; *mark; mark++)
		if (gt_variable(*mark))
			return true;
	if (named_vte && gt_parse_count(named_vte, &vte) == 0 && vte >= FIRST_VTE)
		return true;
	return begins_with_one_of(gt_variable("TERM"), terms) ||
	       begins_with_one_of(gt_variable("TERM_PROGRAM"), programs);
}

bool gt_hyperlink_works(FILE *out)
{
	/* These stand between us and the terminal whose variables they leave as they were. */
	static const char *const between[] = {"screen", "tmux", NULL};

	return gt_terminal_is_colourful(fileno(out)) &&
	       !begins_with_one_of(gt_variable("TERM"), between) && is_known_terminal();
}

void gt_hyperlink_print(const char *text, const char *address, FILE *out)
{
	fprintf(out, "\033]8;;%s\033\\%s\033]8;;\033\\", address, text);
}

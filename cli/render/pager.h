/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_RENDER_PAGER_H
#define GT_CLI_RENDER_PAGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * A text that is longer than the terminal, shown by the program that the user reads such texts with.
 */

/*
 * GPUTRACE_PAGER, else PAGER, else less -FRX if it is installed; NULL when that is empty or cat, or
 * there is none.
 */
const char *gt_pager_command(void);

/* Whether a text has more lines than the terminal that standard output is; false where it is none. */
bool gt_pager_is_needed(const char *text, size_t size);

/*
 * Runs the command in a shell with the text as its input and waits for it. It may end before it has
 * read all. Ctrl-C is for it alone as long as it runs. Returns whether it could be run at all; if
 * not, that is said, and nothing was shown.
 */
bool gt_pager_show(const char *command, const char *text, size_t size);

/* A text for standard output, written to out; once it is whole it is shown, by the pager if needed.
 */
struct gt_paged {
	FILE *out;
	char *text;
	size_t size;
};

void gt_paged_open(struct gt_paged *page);
void gt_paged_close(struct gt_paged *page);

#endif

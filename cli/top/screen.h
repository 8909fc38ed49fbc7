/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_TOP_SCREEN_H
#define GT_CLI_TOP_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Standard output with pages of text, each in the place of the one before. On a terminal it is the
 * terminal's other screen, as of an editor: closed, the terminal is as it was, with the last page
 * below. Elsewhere pages stand one below the other.
 */
struct gt_screen {
	bool in_place;
	FILE *page; /* of the page that is being written */
	char *text; /* of the last page */
	size_t size;
};

/* pages: false: lines are wanted, on a terminal too. */
void gt_screen_open(struct gt_screen *screen, bool pages);
void gt_screen_close(struct gt_screen *screen);

/* Begins a page, and shows it when it is whole. */
FILE *gt_screen_begin(struct gt_screen *screen);
void gt_screen_show(struct gt_screen *screen);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_OUTPUT_TERMINAL_H
#define GT_CLI_OUTPUT_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* Abilities of a terminal, as far as it and the environment tell. */

/* Back to the begin of the line, and nothing in it. */
#define GT_ERASE_LINE "\r\033[K"

/* Whether the descriptor is a terminal that obeys: TERM names it, and it is not dumb. */
bool gt_terminal_obeys(int fd);

/* The same, and whoever sits there has not refused colours and the like (NO_COLOR, no-color.org). */
bool gt_terminal_is_colourful(int fd);

/* Size of the terminal that the descriptor is; 0 where it is none, or does not know. */
struct gt_terminal_size {
	size_t rows;
	size_t columns;
};

struct gt_terminal_size gt_terminal_size(int fd);

/*
 * Columns of a page: of the terminal that the descriptor is, else what COLUMNS says, else so many
 * as are usual; GT_PAGE_NARROWEST at least.
 */
enum { GT_PAGE_NARROWEST = 40 };

size_t gt_page_width(int fd, size_t usual);

#endif

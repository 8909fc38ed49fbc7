/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_OUTPUT_COLUMNS_H
#define GT_CLI_OUTPUT_COLUMNS_H

#include <stddef.h>
#include <stdio.h>

/*
 * Text in columns of a terminal: how wide it is, cut so that it fits, wrapped. All but
 * gt_printable want printable text.
 */

/* A copy in which what the terminal should not see is written as \xNN. The caller frees it. */
char *gt_printable(const char *text);

/* How many columns a text takes. */
size_t gt_columns_of(const char *text);

/*
 * Cuts the middle out of the texts that are wider, such that texts that differ still do. Each is
 * owned, of gt_allocate, and may be replaced. columns of at least 16 leave something to read.
 */
void gt_cut_texts(char **texts, size_t count, size_t columns);

/*
 * Prints words on lines of at most width columns (0: one line), each but the first behind so many
 * blanks as indent says, which is also where the first begins. An option ("--name=value") for which
 * lines have no room behind these blanks begins further left, so that it stays whole. Ends without
 * a line end.
 */
void gt_print_wrapped(const char *text, size_t width, size_t indent, FILE *out);

#endif

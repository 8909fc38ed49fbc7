/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_TOP_LINES_H
#define GT_CLI_TOP_LINES_H

#include <stdbool.h>
#include <stdio.h>

struct gt_section;

/* The rows of a table as lines of text without a title, its headings above them where they are
 * wanted. */
void gt_print_lines(const struct gt_section *section, bool headings, FILE *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_OUTPUT_HYPERLINK_H
#define GT_CLI_OUTPUT_HYPERLINK_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Whether out is a terminal that shows a text as a link to an address (OSC 8), as far as the
 * environment tells: one that does not would hide the address. Never with TERM=dumb or NO_COLOR.
 */
bool gt_hyperlink_works(FILE *out);

/* The text as a link, the address in printable ASCII. */
void gt_hyperlink_print(const char *text, const char *address, FILE *out);

#endif

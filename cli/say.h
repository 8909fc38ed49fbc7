/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_SAY_H
#define GT_CLI_SAY_H

#include <stdio.h>

/* What gputrace says about itself: one line on standard error, "gputrace: SENTENCE". */
__attribute__((format(printf, 1, 2))) void gt_say(const char *fmt, ...);

/*
 * The same of a text and an address behind it; on a terminal that knows hyperlinks only the name of
 * the address is seen. The address is of printable ASCII.
 */
void gt_say_link(const char *text, const char *name, const char *address);

/*
 * One line of any text. Names in a recording may hold anything, so control characters are
 * shown as '?': a file must not be able to drive the terminal of who reads it.
 */
void gt_say_line(const char *text, FILE *out);

#endif

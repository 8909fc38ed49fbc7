/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_OUTPUT_SAY_H
#define GT_CLI_OUTPUT_SAY_H

#include <stdio.h>

/* Messages of gputrace about itself: one line on standard error, "gputrace: SENTENCE". */
__attribute__((format(printf, 1, 2))) void gt_say(const char *fmt, ...);

/*
 * The same with a name behind it, which leads to the address on a terminal that knows hyperlinks.
 * The address is of printable ASCII.
 */
__attribute__((format(printf, 3, 4))) void gt_say_link(const char *name, const char *address,
                                                       const char *fmt, ...);

/*
 * One line of any text. Names in a recording may hold anything, so control characters are
 * shown as '?': a file must not be able to drive the terminal of who reads it.
 */
void gt_say_line(const char *text, FILE *out);

#endif

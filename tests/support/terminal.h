/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_SUPPORT_TERMINAL_H
#define GT_TESTS_SUPPORT_TERMINAL_H

#include <stdio.h>

/* A terminal that is nobody's. The caller closes it. */
FILE *open_terminal(void);

#endif

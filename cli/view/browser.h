/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_VIEW_BROWSER_H
#define GT_CLI_VIEW_BROWSER_H

#include <stdbool.h>

struct gt_error;

/* Whether the environment names a browser to use (BROWSER), or a display to show one on. */
bool gt_browser_is_there(void);

/*
 * Has the user's browser open an address: what BROWSER says (commands, joined by colons, of which
 * the first that can be run is taken), else xdg-open. It runs on by itself, in a session of its
 * own: what ends us does not end it. -ENOENT when nothing can be run.
 */
int gt_browser_open(const char *address, struct gt_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_VIEW_PAGE_H
#define GT_CLI_VIEW_PAGE_H

/* The page of viewer-assets/open.html, which hands a trace to the UI in another window. */
struct gt_page {
	const char *ui;     /* address that the window opens */
	const char *origin; /* of that address */
	const char *trace;  /* path from which the page fetches the trace */
	const char *name;   /* what the UI calls it */
};

/* Whatever the texts hold stays text. The caller frees it. */
char *gt_page_make(const struct gt_page *page);

#endif

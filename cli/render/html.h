/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_RENDER_HTML_H
#define GT_CLI_RENDER_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct gt_rendering;
struct gt_result;
struct gt_section;
struct gt_timeline;

/*
 * Parts of a page of HTML, which cli/render/html.c puts together of viewer-assets/report.html: one
 * file that needs no other, and no network. Whatever texts hold stays text.
 */

/* A line at the head of a page. */
struct gt_page_fact {
	const char *name;
	const char *text; /* NULL: not known */
};

/* A page beside its tables of reports. Texts are the caller's. */
struct gt_page_head {
	const char *title;
	const struct gt_page_fact *facts;
	size_t fact_count;
	const char *ledger;                 /* sentence; NULL: none */
	bool clean;                         /* the ledger is */
	const struct gt_timeline *timeline; /* NULL: none */
};

/* A text between tags, or in an attribute. */
void gt_html_text(const char *text, FILE *out);

/*
 * A table, or a list where the section has one row always. Figures are as people read them, with
 * the raw value beside them (data-v), which the page sorts by.
 */
void gt_html_table(const struct gt_rendering *rendering, const struct gt_section *section,
                   FILE *out);

/* The timeline as JSON that can stand in an element script: report.js has its form. */
void gt_html_timeline(const struct gt_timeline *timeline, FILE *out);

#endif

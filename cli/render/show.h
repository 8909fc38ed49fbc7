/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_RENDER_SHOW_H
#define GT_CLI_RENDER_SHOW_H

#include <stddef.h>

#include "cli/command_line/option.h"
#include "cli/output/terminal.h"
#include "cli/render/render.h"

struct gt_error;

/*
 * The options that say how results are shown, the same in every command that shows any: a field of
 * this type in the command's arguments, GT_SHOW_OPTIONS among its options, and gt_show.
 */
struct gt_show_args {
	const char *output;
	const char *colour; /* NULL: auto */
	uint64_t width;     /* 0: not given */
	uint64_t limit;
	bool json;
	bool csv;
	bool markdown;
	bool html;
	bool force;
	bool wide;
	bool all; /* tables; an option of report's alone */
	bool no_pager;
	struct gt_option_list sections;
};

/* Their values when none is given. */
#define GT_SHOW_ARGS_INIT                                                                          \
	{                                                                                          \
		.limit = GT_LIMIT_NONE                                                             \
	}

extern const char *const gt_show_colours[]; /* words for --color */

/* clang-format off */
#define GT_SHOW_OPTIONS(type, field) \
	{OPT("json", 0, FLAG, type, field.json, NULL, "Print JSON with raw values"), \
	 .group = "How it is shown"}, \
	OPT_FLAG("csv", 0, type, field.csv, "Print CSV with raw values"), \
	OPT_FLAG("md", 0, type, field.markdown, \
	         "Print tables of Markdown, as for a pull request; five rows of each"), \
	OPT_FLAG("html", 0, type, field.html, \
	         "Print one page of HTML, which needs no other file and no network"), \
	OPT_COUNT("limit", 'n', type, field.limit, "ROWS", \
	          "So many rows of each table; default: 20 in text, 5 in Markdown, 100 in HTML, all " \
	          "in JSON and CSV"), \
	OPT_LIST("section", 0, type, field.sections, "TABLE", \
	         "This table only, by the name it has in JSON; may be given again"), \
	OPT_TEXT("output", 'o', type, field.output, "FILE", \
	         "Write to FILE instead of standard output (-): x.json gets JSON, x.csv CSV, where " \
	         "several tables go into files of their own, x.TABLE.csv; x.md gets Markdown, x.html a page " \
	         "for a browser, x.txt text"), \
	OPT_FLAG("force", 'f', type, field.force, "Overwrite an existing file"), \
	OPT_FLAG("wide", 0, type, field.wide, \
	         "Every row and column, names in full, however wide the text gets"), \
	{OPT("width", 0, COUNT, type, field.width, "COLUMNS", \
	     "Fit text into so many columns; default: the terminal's, else COLUMNS, else 120"), \
	 NULL, GT_PAGE_NARROWEST, 100000}, \
	OPT_CHOICE("color", 0, type, field.colour, "WHEN", gt_show_colours, \
	           "Colour bad news: auto (on a terminal, unless NO_COLOR is set), always or never"), \
	OPT_FLAG("no-pager", 0, type, field.no_pager, \
	         "Print directly what is longer than the terminal, too; else GPUTRACE_PAGER, PAGER " \
	         "or less -FRX shows it")
/* clang-format on */

/* The chosen style. Fails with -EINVAL for options that exclude each other. */
int gt_show_style(const struct gt_show_args *args, enum gt_style *style, struct gt_error *err);

/* Shows results in the style and sorted as rendering says; the rest of it is set here. */
int gt_show(const struct gt_show_args *args, const struct gt_rendering *rendering,
            const struct gt_named_result *results, size_t count, struct gt_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_RENDER_RENDER_H
#define GT_CLI_RENDER_RENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct gt_error;
struct gt_option_list;
struct gt_page_head;
struct gt_result;
struct gt_section;
struct gt_sort;

/*
 * Findings of reports, written down: as aligned text with scaled units for people, as tables of
 * Markdown for a pull request, as one page of HTML for a browser, or as JSON or CSV with raw values
 * for programs, or as a picture, SVG, of the charts that they have. The only place where a result
 * becomes characters.
 */
enum gt_style {
	GT_STYLE_TEXT,
	GT_STYLE_MARKDOWN,
	GT_STYLE_HTML,
	GT_STYLE_JSON,
	GT_STYLE_CSV,
	GT_STYLE_SVG,
};

/*
 * No limit of rows was asked for: JSON and CSV have all, text the first GT_ROWS_SHOWN of a section,
 * Markdown GT_ROWS_TOP and HTML GT_ROWS_OF_PAGE, but for one that is to be shown whole.
 */
#define GT_LIMIT_NONE UINT64_MAX
enum { GT_ROWS_SHOWN = 20, GT_ROWS_TOP = 5, GT_ROWS_OF_PAGE = 100 };

struct gt_rendering {
	enum gt_style style;
	uint64_t limit;             /* rows of each section, or GT_LIMIT_NONE */
	const struct gt_sort *sort; /* NULL: as the report ordered them */
	size_t width;               /* of the page, in columns; 0: text is as wide as it gets */
	bool colour;                /* of text, where it means something */
	bool details;               /* text also has the tables that say more than the first page,
	                               and all rows */
	bool all_tables;            /* text also has these tables, with the rows it always has */
	bool one_line;              /* of JSON */
	bool whole_names;           /* text wraps a name that stands last instead of cutting it */
	const struct gt_page_head *head;       /* of a page of HTML; NULL: it has none */
	const struct gt_option_list *sections; /* titles of those to show; NULL or empty: all */
};

/* A result with the name of its report, which JSON gives. */
struct gt_named_result {
	const char *name;
	const struct gt_result *result;
};

/* Whether the section is shown. */
bool gt_rendering_shows(const struct gt_rendering *rendering, const struct gt_section *section);

/* How many rows of a section are shown at most. */
uint64_t gt_rendering_limit(const struct gt_rendering *rendering, const struct gt_section *section);

/* Columns that others call by other names, and no section has, are called as ours are. */
void gt_render_translate(struct gt_sort *sort, const struct gt_rendering *rendering,
                         const struct gt_named_result *results, size_t count);

/*
 * Fails with -EINVAL when sort names a column that no section which is shown has, sections one
 * that no result has, and where a picture is wanted and no result has one.
 */
int gt_render_check(const struct gt_rendering *rendering, const struct gt_named_result *results,
                    size_t count, struct gt_error *err);

/*
 * JSON: one object {"version": 1, "report": NAME, SECTION: [...], "remarks": [...]}, or for
 * several results {"version": 1, "reports": [...]}. CSV (RFC 4180): every section with its
 * header, no remarks; where there are several, each behind a line "# REPORT SECTION". Fails as
 * gt_render_check does; a failed write shows in ferror(out).
 */
int gt_render(const struct gt_rendering *rendering, const struct gt_named_result *results,
              size_t count, FILE *out, struct gt_error *err);

enum { GT_RENDER_WIDTH = 120 }; /* of a page, where nothing says how wide it is */

/* Columns of a page: of the terminal that out is, else what COLUMNS says, else GT_RENDER_WIDTH. */
size_t gt_render_width(FILE *out);

/*
 * Whether text on out may have colours: when says always, never, or auto: on a terminal that is
 * not dumb, unless NO_COLOR is set (no-color.org). NULL is auto.
 */
bool gt_render_in_colour(const char *when, FILE *out);

/* One style each; called by gt_render. */
void gt_render_text(const struct gt_rendering *rendering, const struct gt_named_result *results,
                    size_t count, FILE *out);
void gt_render_markdown(const struct gt_rendering *rendering, const struct gt_named_result *results,
                        size_t count, FILE *out);
void gt_render_json(const struct gt_rendering *rendering, const struct gt_named_result *results,
                    size_t count, FILE *out);
void gt_render_csv(const struct gt_rendering *rendering, const struct gt_named_result *results,
                   size_t count, FILE *out);

/* One page that needs no other file. */
void gt_render_html(const struct gt_rendering *rendering, const struct gt_named_result *results,
                    size_t count, FILE *out);

/* All charts, one below the other. Readers who prefer it dark see it dark. */
void gt_render_svg(const struct gt_named_result *results, size_t count, FILE *out);

/* Each row of a section as one object of JSON, in a line of its own. */
void gt_render_json_rows(const struct gt_section *section, FILE *out);

/* One section alone, with its header. */
void gt_render_csv_section(const struct gt_rendering *rendering, const struct gt_section *section,
                           FILE *out);

#endif

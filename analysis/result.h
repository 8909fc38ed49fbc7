/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_RESULT_H
#define GT_ANALYSIS_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/chart.h"
#include "base/array.h"
#include "base/text_room.h"

struct gt_error;

/*
 * Findings of a report: one or more small tables of typed cells, each with a title, and
 * remarks that say what the figures are made of and what was not measured. Reports only
 * fill it in; the command line decides whether it becomes aligned text, JSON or CSV.
 */
enum gt_unit {
	GT_UNIT_TEXT,
	GT_UNIT_COUNT,
	GT_UNIT_NS,               /* nanoseconds, integer; a difference of times */
	GT_UNIT_TIME,             /* nanoseconds since the recording began, integer */
	GT_UNIT_BYTES,            /* integer */
	GT_UNIT_BINARY_BYTES,     /* integer, of what hardware counts in powers of two */
	GT_UNIT_BYTES_PER_SECOND, /* real */
	GT_UNIT_FLOP_PER_SECOND,  /* real */
	GT_UNIT_JOULES,           /* real */
	GT_UNIT_WATTS,            /* real */
	GT_UNIT_PERCENT,          /* real, 0 to 100, of efficiencies somewhat above */
	GT_UNIT_REAL,             /* real, no unit */
};

/* Which member of a cell holds what is in it. */
enum gt_cell_content { GT_CONTENT_TEXT, GT_CONTENT_COUNT, GT_CONTENT_REAL };

enum gt_cell_content gt_unit_content(enum gt_unit unit);

/*
 * Worth of a column where a table is wider than the page. Text leaves out those of least
 * worth first, of equals the last; JSON and CSV have all of them.
 */
enum gt_worth {
	GT_WORTH_ORDINARY,
	GT_WORTH_LITTLE,
	GT_WORTH_LEAST,
	GT_WORTH_KEY,  /* left out when nothing else helps */
	GT_WORTH_NAME, /* tells rows apart: stands behind the figures, takes what width is left */
	GT_WORTH_LESSER_NAME, /* one more such, shown only where no name need be cut for it */
	GT_WORTH_PROSE,       /* a text to read: stands last, wrapped */
	GT_WORTH_DATA,        /* for programs: text never has it */
};

/* How a real is measured whose unit is the text in the row's column "unit", as "bytes/s". */
enum gt_row_unit {
	GT_ROW_UNIT_NONE,
	GT_ROW_UNIT,
	GT_ROW_UNIT_PER_SECOND, /* of that unit */
	GT_ROW_UNIT_TOTAL,      /* the unit without its "/s" */
};

struct gt_heading {
	const char *name; /* also the JSON key and CSV column: lower_case, the unit as suffix */
	enum gt_unit unit;
	const char *help; /* one line: what the figure is made of */
	enum gt_worth worth;
	bool alarming;     /* a count above 0 is bad news */
	const char *label; /* what text calls it, where the name without its unit does not do */
	enum gt_row_unit row_unit; /* of a real whose unit differs from row to row */
};

struct gt_cell {
	enum gt_unit unit;
	int unknown; /* not measured, not applicable: never shown as 0 */
	union {
		const char *text; /* owned by the trace, the result or constant */
		int64_t count;    /* TEXT's and the reals' counterpart for all other units */
		double real;
	};
};

/* One table of a result. */
struct gt_section {
	const char *title; /* also its JSON key: lower_case words joined by _ */
	const struct gt_heading *headings;
	size_t heading_count;
	const char *order; /* name of the column that rows are sorted by, or NULL */
	uint64_t more;     /* rows that the report left out itself */
	bool detail;       /* text leaves it out, unless it is asked for */
	bool further;      /* text names it and its rows only, unless it is asked for */
	bool plain;        /* text shows it without its headings */
	bool single;       /* has one row, whatever was recorded */
	bool whole;        /* text shows all rows, unless a limit is asked for */
	gt_array(struct gt_cell) cells; /* row after row, heading_count each */
};

struct gt_remark {
	char *text; /* owned */
	bool says_why_empty;
	/* Names of columns, blanks between them: text has it only where it shows one of them. */
	const char *columns; /* constant; NULL: it is about more than columns */
};

struct gt_result {
	bool is_page;             /* its tables were chosen for one page: none is a further one */
	struct gt_text_room room; /* for long texts of cells */
	const char *wrong;        /* what the report did wrong first, NULL: nothing; constant */
	gt_array(struct gt_section) sections;
	gt_array(struct gt_remark) remarks;
	gt_array(struct gt_chart) charts;  /* for who draws them; most reports have none */
	gt_array(struct gt_strips) strips; /* likewise */
	gt_array(char *) texts;            /* made with gt_result_add_format; owned */
};

void gt_result_init(struct gt_result *result);
void gt_result_release(struct gt_result *result);

/* Begins a table; title and headings must outlive the result. Cells added next go into it. */
void gt_result_begin(struct gt_result *result, const char *title, const struct gt_heading *headings,
                     size_t count);

/* The table that was begun last is for who wants to know more. */
void gt_result_detail(struct gt_result *result);

/*
 * The table that was begun last is a detail where no cell of the column, a constant, is known.
 * Returns whether it has rows and that is so.
 */
bool gt_result_detail_if_unknown(struct gt_result *result, const char *column);

/*
 * Marks all tables with rows but the first GT_TABLES_FIRST as further ones. Those that are plain,
 * single or a detail neither count nor are marked.
 */
enum { GT_TABLES_FIRST = 3 };

void gt_result_mark_further(struct gt_result *result);

/* The rows of the table that was begun last speak for themselves. */
void gt_result_plain(struct gt_result *result);

/* The table that was begun last always has one row: text lists its cells one below the other. */
void gt_result_single(struct gt_result *result);

/* Text shows all rows of the table that was begun last. */
void gt_result_whole(struct gt_result *result);

/* The rows of the table that was begun last are sorted by this column, a constant. */
void gt_result_order(struct gt_result *result, const char *column);

/* Room for so many rows in the table that was begun last, for tables that may be very long. */
void gt_result_reserve(struct gt_result *result, size_t rows);

/*
 * The table that was begun last has at most the first top of all the rows that it could have, which
 * text then shows; GT_ROWS_ALL: it has all, as any table.
 */
void gt_result_top(struct gt_result *result, uint64_t all, uint64_t top);

/*
 * Cells are added left to right, row after row; the unit is the heading's. A cell of another unit
 * is left unknown and makes the result fail its check.
 */
void gt_result_add_text(struct gt_result *result, const char *text);
__attribute__((format(printf, 2, 3))) void gt_result_add_format(struct gt_result *result,
                                                                const char *fmt, ...);

/* A copy of a text that ends before the result; "" is not known. */
void gt_result_add_copy(struct gt_result *result, const char *text);

/* A text of the result's own, for what is no cell. */
__attribute__((format(printf, 2, 3))) const char *gt_result_keep(struct gt_result *result,
                                                                 const char *fmt, ...);

/* A chart without lines and points; valid until the next one. */
struct gt_chart *gt_result_add_chart(struct gt_result *result);

/* Strips without rows and parts; valid until the next ones. */
struct gt_strips *gt_result_add_strips(struct gt_result *result);

void gt_result_add_count(struct gt_result *result, int64_t count);
void gt_result_add_real(struct gt_result *result, double real); /* NAN: not known */
void gt_result_add_unknown(struct gt_result *result);
void gt_result_add_unknowns(struct gt_result *result, size_t cells);

/* A count where it is known. */
void gt_result_add_count_if(struct gt_result *result, bool known, int64_t count);

/*
 * Whether every table is whole: no row with too few cells, none of another unit than its heading
 * says, no cell outside a table, none sorted by a column that it has not. Fails with -EPROTO: a
 * mistake of who filled the result.
 */
int gt_result_check(const struct gt_result *result, struct gt_error *err);

/* A sentence shown under the tables. */
__attribute__((format(printf, 2, 3))) void gt_result_remark(struct gt_result *result,
                                                            const char *fmt, ...);

/* A sentence that says why the result has no rows, or hardly any. */
__attribute__((format(printf, 2, 3))) void gt_result_remark_empty(struct gt_result *result,
                                                                  const char *fmt, ...);

/* Whether there is such a sentence. */
bool gt_result_says_why_empty(const struct gt_result *result);

/* A sentence about some columns: names, a constant, with blanks between them. */
__attribute__((format(printf, 3, 4))) void
gt_result_remark_on(struct gt_result *result, const char *columns, const char *fmt, ...);

/* Whether the column is one of those that the remark is about. */
bool gt_remark_is_on(const struct gt_remark *remark, const char *column);

size_t gt_section_row_count(const struct gt_section *section);
const struct gt_cell *gt_section_row(const struct gt_section *section, size_t row);

/* The cell of that row, which must exist, under that heading; NULL when there is none. */
const struct gt_cell *gt_section_cell(const struct gt_section *section, size_t row,
                                      const char *heading);

/* NULL when the result has no section of that title. */
const struct gt_section *gt_result_find(const struct gt_result *result, const char *title);

#endif

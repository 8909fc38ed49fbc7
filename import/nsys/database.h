/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_IMPORT_NSYS_DATABASE_H
#define GT_IMPORT_NSYS_DATABASE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/known.h"

struct gt_builder;
struct gt_error;

/*
 * A database that nsys export --type sqlite wrote, to be read only. Nothing about its tables is
 * taken for granted: the database itself says which there are and which columns they have.
 */

/* clang-format off */
enum gt_nsys_table {
#define NSYS_TABLE(name, table, owner) NSYS_##name,
#define NSYS_COLUMN(name, column)
#define NSYS_END(name)
#include "import/nsys/tables.def"
	GT_NSYS_TABLES
};

#define NSYS_TABLE(name, table, owner) enum {
#define NSYS_COLUMN(name, column) NSYS_##name##_##column,
#define NSYS_END(name) NSYS_##name##_columns };
#include "import/nsys/tables.def"
/* clang-format on */

/* Rows of every process. */
#define GT_NSYS_ALL INT64_MIN

struct gt_nsys {
	sqlite3 *handle;
	const char *broken; /* why reading stopped at some place; NULL: it did not */
	char why[128];      /* memory for that */
	bool is_first;      /* the process at hand is the first */
	sqlite3_stmt *string;
	struct gt_known texts; /* ids of the builder's texts by ids of StringIds */
};

int gt_nsys_open(struct gt_nsys *nsys, const char *path, struct gt_error *err);
void gt_nsys_close(struct gt_nsys *nsys);

bool gt_nsys_has(struct gt_nsys *nsys, const char *table);
bool gt_nsys_has_column(struct gt_nsys *nsys, const char *table, const char *column);

/* The name of a table, and of the column that says whose its rows are; "none": none does. */
const char *gt_nsys_name(enum gt_nsys_table table);
const char *gt_nsys_owner(enum gt_nsys_table table);

/*
 * Calls row for each row of a table: the columns of tables.def in their order, NULL where there is
 * none. process: the upper bits of its globalPid or globalTid (>> 24), or GT_NSYS_ALL; rows
 * that do not say whose they are belong to the first. Where the file is damaged it stops, and
 * broken says so.
 */
typedef void gt_nsys_row(void *context, sqlite3_stmt *row);
void gt_nsys_each(struct gt_nsys *nsys, enum gt_nsys_table table, int64_t process,
                  gt_nsys_row *take, void *context);

/* A text of StringIds as one of the builder's; 0: there is none. */
uint32_t gt_nsys_text(struct gt_nsys *nsys, struct gt_builder *builder, int64_t id);

/* The text itself, until the next call; "": there is none. */
const char *gt_nsys_string(struct gt_nsys *nsys, int64_t id);

/* Values of columns: NULL reads as otherwise. */
static inline int64_t gt_nsys_number(sqlite3_stmt *row, int column, int64_t otherwise)
{
	return sqlite3_column_type(row, column) == SQLITE_NULL ? otherwise
	                                                       : sqlite3_column_int64(row, column);
}

#endif

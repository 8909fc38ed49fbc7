/* SPDX-License-Identifier: Apache-2.0 */
#include "import/nsys/database.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "import/builder.h"

enum {
	MOST_COLUMNS = 64,
	MOST_TEXT = 1 << 24,    /* bytes of any value */
	MOST_CACHE_KIB = 16384, /* of pages */
};

/* clang-format off */
#define NSYS_TABLE(name, table, owner) static const char *const columns_of_##name[] = {
#define NSYS_COLUMN(name, column) #column,
#define NSYS_END(name) NULL };
#include "import/nsys/tables.def"
/* clang-format on */

static const struct {
	const char *name;
	const char *owner;
	const char *const *columns;
} tables[] = {
#define NSYS_TABLE(name, table, owner) {#table, #owner, columns_of_##name},
#define NSYS_COLUMN(name, column)
#define NSYS_END(name)
#include "import/nsys/tables.def"
};

/* Keeps the first problem. */
static void stop(struct gt_nsys *nsys)
{
	if (nsys->broken)
		return;
	snprintf(nsys->why, sizeof(nsys->why), "SQLite says: %s",
	         sqlite3_errstr(sqlite3_errcode(nsys->handle)));
	nsys->broken = nsys->why;
}

static sqlite3_stmt *prepare(struct gt_nsys *nsys, const char *sql)
{
	sqlite3_stmt *statement = NULL;

	if (sqlite3_prepare_v2(nsys->handle, sql, -1, &statement, NULL) != SQLITE_OK)
		stop(nsys);
	return statement;
}

/* As a URI, so that SQLite can be told that nobody writes it: it makes no files beside it then. */
static void uri_of(const char *path, char *uri, size_t size)
{
	size_t length = (size_t)snprintf(uri, size, *path == '/' ? "file://" : "file:");

	for (; *path && length + 4 < size; path++) {
		if (strchr("?#%", *path))
			length += (size_t)snprintf(uri + length, size - length, "%%%02X",
			                           (unsigned char)*path);
		else
			uri[length++] = *path;
	}
	snprintf(uri + length, size - length, "%s", "?immutable=1");
}

int gt_nsys_open(struct gt_nsys *nsys, const char *path, struct gt_error *err)
{
	char uri[3 * PATH_MAX];
	char sql[64];
	int status;

	*nsys = (struct gt_nsys){0};
	uri_of(path, uri, sizeof(uri));
	status = sqlite3_open_v2(uri, &nsys->handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
	if (status != SQLITE_OK)
		return gt_fail(err, EBADMSG, "cannot read %s: %s", path, sqlite3_errstr(status));
	(void)sqlite3_db_config(nsys->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	(void)sqlite3_db_config(nsys->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	(void)sqlite3_limit(nsys->handle, SQLITE_LIMIT_LENGTH, MOST_TEXT);
	snprintf(sql, sizeof(sql), "pragma cache_size = -%d", MOST_CACHE_KIB);
	(void)sqlite3_exec(nsys->handle, sql, NULL, NULL, NULL);
	(void)sqlite3_exec(nsys->handle, "pragma cell_size_check = on", NULL, NULL, NULL);
	return 0;
}

void gt_nsys_close(struct gt_nsys *nsys)
{
	(void)sqlite3_finalize(nsys->string);
	(void)sqlite3_close(nsys->handle);
	gt_known_release(&nsys->texts);
	*nsys = (struct gt_nsys){0};
}

/* Only true tables: a view may be anything, and endless. */
bool gt_nsys_has(struct gt_nsys *nsys, const char *table)
{
	sqlite3_stmt *statement =
		prepare(nsys, "select 1 from sqlite_master where type = 'table' and name = ?1");
	bool has = false;

	if (!statement)
		return false;
	(void)sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
	has = sqlite3_step(statement) == SQLITE_ROW;
	(void)sqlite3_finalize(statement);
	return has;
}

bool gt_nsys_has_column(struct gt_nsys *nsys, const char *table, const char *column)
{
	sqlite3_stmt *statement =
		prepare(nsys, "select 1 from pragma_table_info(?1) where name = ?2");
	bool has = false;

	if (!statement)
		return false;
	(void)sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
	(void)sqlite3_bind_text(statement, 2, column, -1, SQLITE_STATIC);
	has = sqlite3_step(statement) == SQLITE_ROW;
	(void)sqlite3_finalize(statement);
	return has;
}

const char *gt_nsys_owner(enum gt_nsys_table table)
{
	return tables[table].owner;
}

const char *gt_nsys_name(enum gt_nsys_table table)
{
	return tables[table].name;
}

/* "select start, null, ... from TABLE where globalPid >> 24 = ?1"; names are our own. */
static sqlite3_stmt *select_rows(struct gt_nsys *nsys, enum gt_nsys_table table, int64_t process)
{
	const char *name = tables[table].name;
	const char *owner = tables[table].owner;
	char sql[2048] = "select ";
	size_t length = strlen(sql);
	sqlite3_stmt *statement;

	for (const char *const *column = tables[table].columns; *column; column++) {
		const bool has = gt_nsys_has_column(nsys, name, *column);

		length += (size_t)snprintf(sql + length, sizeof(sql) - length,
		                           has ? "%s\"%s\"" : "%snull",
		                           column == tables[table].columns ? "" : ", ", *column);
	}
	length += (size_t)snprintf(sql + length, sizeof(sql) - length, " from \"%s\"", name);
	if (process != GT_NSYS_ALL && gt_nsys_has_column(nsys, name, owner))
		snprintf(sql + length, sizeof(sql) - length, " where \"%s\" >> 24 = ?1", owner);
	statement = prepare(nsys, sql);
	if (statement && process != GT_NSYS_ALL)
		(void)sqlite3_bind_int64(statement, 1, process);
	return statement;
}

/* Rows that are of nobody are those of the first process. */
static bool tells_owner(struct gt_nsys *nsys, enum gt_nsys_table table)
{
	return gt_nsys_has_column(nsys, tables[table].name, tables[table].owner);
}

void gt_nsys_each(struct gt_nsys *nsys, enum gt_nsys_table table, int64_t process,
                  gt_nsys_row *take, void *context)
{
	sqlite3_stmt *statement = NULL;
	int status;

	if (gt_nsys_has(nsys, tables[table].name) &&
	    (process == GT_NSYS_ALL || nsys->is_first || tells_owner(nsys, table)))
		statement = select_rows(nsys, table, process);
	if (!statement)
		return;
	while ((status = sqlite3_step(statement)) == SQLITE_ROW)
		take(context, statement);
	if (status != SQLITE_DONE)
		stop(nsys);
	(void)sqlite3_finalize(statement);
}

const char *gt_nsys_string(struct gt_nsys *nsys, int64_t id)
{
	const unsigned char *text = NULL;

	if (!nsys->string && gt_nsys_has(nsys, "StringIds"))
		nsys->string = prepare(nsys, "select value from StringIds where id = ?1");
	if (!nsys->string)
		return "";
	(void)sqlite3_reset(nsys->string);
	(void)sqlite3_bind_int64(nsys->string, 1, id);
	if (sqlite3_step(nsys->string) == SQLITE_ROW)
		text = sqlite3_column_text(nsys->string, 0);
	return text ? (const char *)text : "";
}

uint32_t gt_nsys_text(struct gt_nsys *nsys, struct gt_builder *builder, int64_t id)
{
	gt_id known = gt_known_find(&nsys->texts, (uint64_t)id);
	const char *text;

	if (known != GT_NONE)
		return known;
	text = gt_nsys_string(nsys, id);
	known = gt_builder_text(builder, text, strlen(text));
	gt_known_add(&nsys->texts, (uint64_t)id, known);
	return known;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/error.h"
#include "exporters/exporter.h"
#include "exporters/sqlite_views.h"
#include "model/names.h"
#include "model/naming/kernel_names.h"
#include "model/view/view.h"

/*
 * A database with every table of model/tables.def, made from that list: a row's number is its id,
 * columns that name rows refer to it. Beside them stand catalogue, which says what each column is,
 * codes, the words of numbers, samples, the values over time, and about, the recording as a whole.
 */

enum {
	INDEX_LEAST = 64,  /* rows that a reference may name, so that an index on it finds few */
	SMALL_CODES = 256, /* nearly all are */
};

struct database {
	sqlite3 *handle;
	const struct gt_trace *trace;
	bool without_calls;
	bool failed;
};

/* ---- words of numbers ---- */

typedef const char *name_of_code(uint32_t code);

/* A column's help names the function that has its words. */
static const struct {
	const char *function;
	name_of_code *name;
} code_names[] = {
#define NAMES(set) {"gt_" #set "_name", gt_##set##_name},
#include "model/names.def"
	{"gt_family_name", gt_family_name},
	{"gt_origin_name", gt_origin_name},
	{"gt_end_name", gt_end_name},
};

static name_of_code *words_of(const struct gt_column *column)
{
	if (column->type != GT_COLUMN_count)
		return NULL;
	for (size_t i = 0; i < GT_COUNT_OF(code_names); i++)
		if (strstr(column->help, code_names[i].function))
			return code_names[i].name;
	return NULL;
}

/* ---- statements ---- */

static void run(struct database *database, const char *sql)
{
	if (!database->failed)
		database->failed = sqlite3_exec(database->handle, sql, NULL, NULL, NULL);
}

static sqlite3_stmt *prepare(struct database *database, const char *sql)
{
	sqlite3_stmt *statement = NULL;

	if (!database->failed)
		database->failed = sqlite3_prepare_v2(database->handle, sql, -1, &statement, NULL);
	return statement;
}

static void step(struct database *database, sqlite3_stmt *statement)
{
	if (database->failed)
		return;
	database->failed = sqlite3_step(statement) != SQLITE_DONE;
	(void)sqlite3_reset(statement);
}

static void bind_text(sqlite3_stmt *statement, int place, const char *text)
{
	(void)sqlite3_bind_text(statement, place, text, -1, SQLITE_STATIC);
}

/* SQLite's numbers have a sign: what does not fit is a text of digits. */
static void bind_wide(sqlite3_stmt *statement, int place, uint64_t value)
{
	char digits[24];

	if (value <= INT64_MAX) {
		(void)sqlite3_bind_int64(statement, place, (int64_t)value);
		return;
	}
	snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);
	(void)sqlite3_bind_text(statement, place, digits, -1, SQLITE_TRANSIENT);
}

/* ---- the tables ---- */

static const char *type_of(const struct gt_column *column)
{
	switch (column->type) {
	case GT_COLUMN_string:
		return "TEXT";
	case GT_COLUMN_real:
		return "REAL";
	case GT_COLUMN_time:
	case GT_COLUMN_id:
	case GT_COLUMN_count:
	case GT_COLUMN_code:
	case GT_COLUMN_size:
	case GT_COLUMN_wide:
		break;
	}
	return "INTEGER";
}

static bool names_rows(const struct gt_column *column)
{
	return column->type == GT_COLUMN_id && column->target >= 0 &&
	       column->target < GT_TABLE_COUNT;
}

static void create_table(struct database *database, const struct gt_table *table)
{
	char *sql = NULL;
	size_t size;
	FILE *out = open_memstream(&sql, &size);

	if (!out) {
		database->failed = true;
		return;
	}
	(void)fprintf(out, "CREATE TABLE \"%s\" (id INTEGER PRIMARY KEY", table->name);
	for (size_t i = 0; i < table->column_count; i++) {
		const struct gt_column *column = &table->columns[i];

		(void)fprintf(out, ", \"%s\" %s", column->name, type_of(column));
		if (names_rows(column))
			(void)fprintf(out, " REFERENCES \"%s\"(id)",
			              gt_trace_table(database->trace, (size_t)column->target).name);
	}
	(void)fputs(")", out);
	(void)fclose(out);
	run(database, sql);
	free(sql);
}

static sqlite3_stmt *prepare_insert(struct database *database, const struct gt_table *table)
{
	char *sql = NULL;
	size_t size;
	FILE *out = open_memstream(&sql, &size);
	sqlite3_stmt *statement;

	if (!out) {
		database->failed = true;
		return NULL;
	}
	(void)fprintf(out, "INSERT INTO \"%s\" VALUES (?", table->name);
	for (size_t i = 0; i < table->column_count; i++)
		(void)fputs(", ?", out);
	(void)fputs(")", out);
	(void)fclose(out);
	statement = prepare(database, sql);
	free(sql);
	return statement;
}

static void bind_id(const struct database *database, sqlite3_stmt *statement, int place,
                    const struct gt_column *column, gt_id id)
{
	if (id == GT_NONE || (database->without_calls && column->target == GT_TABLE_api_calls))
		(void)sqlite3_bind_null(statement, place);
	else
		(void)sqlite3_bind_int64(statement, place, id);
}

/* A time of 0 is one that is not known: no recording is as old as the machine's start. */
static void bind_time(sqlite3_stmt *statement, int place, gt_time time)
{
	if (time == 0)
		(void)sqlite3_bind_null(statement, place);
	else
		(void)sqlite3_bind_int64(statement, place, (int64_t)time);
}

static void bind_cell(const struct database *database, sqlite3_stmt *statement, int place,
                      const struct gt_column *column, const void *value)
{
	switch (column->type) {
	case GT_COLUMN_time:
		bind_time(statement, place, *(const gt_time *)value);
		break;
	case GT_COLUMN_size:
	case GT_COLUMN_wide:
		bind_wide(statement, place, *(const uint64_t *)value);
		break;
	case GT_COLUMN_real: /* NAN is NULL to SQLite */
		(void)sqlite3_bind_double(statement, place, *(const gt_real *)value);
		break;
	case GT_COLUMN_code:
		(void)sqlite3_bind_int64(statement, place, *(const gt_code *)value);
		break;
	case GT_COLUMN_string:
		bind_text(statement, place,
		          gt_trace_text(database->trace, *(const gt_string *)value));
		break;
	case GT_COLUMN_id:
		bind_id(database, statement, place, column, *(const gt_id *)value);
		break;
	case GT_COLUMN_count:
		(void)sqlite3_bind_int64(statement, place, *(const uint32_t *)value);
		break;
	}
}

static void fill_table(struct database *database, const struct gt_table *table)
{
	sqlite3_stmt *insert = prepare_insert(database, table);

	for (size_t row = 0; row < table->row_count && !database->failed; row++) {
		const uint8_t *at = (const uint8_t *)table->rows + row * table->row_size;

		(void)sqlite3_bind_int64(insert, 1, (int64_t)row);
		for (size_t i = 0; i < table->column_count; i++)
			bind_cell(database, insert, (int)i + 2, &table->columns[i],
			          at + table->columns[i].offset);
		step(database, insert);
	}
	(void)sqlite3_finalize(insert);
}

/* By time, and by references that may name many rows. */
static void add_indexes(struct database *database, const struct gt_table *table)
{
	char sql[256];

	if (table->order == GT_ORDER_by_time) {
		snprintf(sql, sizeof(sql), "CREATE INDEX \"%s_start\" ON \"%s\"(start_ns)",
		         table->name, table->name);
		run(database, sql);
	}
	for (size_t i = 0; i < table->column_count; i++) {
		const struct gt_column *column = &table->columns[i];

		if (!names_rows(column) ||
		    gt_trace_table(database->trace, (size_t)column->target).row_count < INDEX_LEAST)
			continue;
		snprintf(sql, sizeof(sql), "CREATE INDEX \"%s_%s\" ON \"%s\"(\"%s\")", table->name,
		         column->name, table->name, column->name);
		run(database, sql);
	}
}

/* ---- what is beside the tables ---- */

static const char *unit_of(const struct gt_column *column)
{
	static const struct {
		const char *suffix;
		const char *unit;
	} units[] = {{"_ns", "ns"}, {"_bytes", "bytes"}, {"_khz", "kHz"}, {"_bits", "bits"}};
	const size_t length = strlen(column->name);

	if (column->type == GT_COLUMN_time)
		return "ns, boot-time clock";
	for (size_t i = 0; i < GT_COUNT_OF(units); i++) {
		const size_t suffix = strlen(units[i].suffix);

		if (length > suffix && strcmp(column->name + length - suffix, units[i].suffix) == 0)
			return units[i].unit;
	}
	return NULL;
}

static void fill_catalogue(struct database *database)
{
	sqlite3_stmt *insert;

	run(database,
	    "CREATE TABLE catalogue (table_name TEXT, column_name TEXT, type TEXT, unit TEXT, "
	    "refers_to TEXT, help TEXT)");
	insert = prepare(database, "INSERT INTO catalogue VALUES (?, ?, ?, ?, ?, ?)");
	for (size_t t = 0; t < GT_TABLE_COUNT && !database->failed; t++) {
		const struct gt_table table = gt_trace_table(database->trace, t);

		bind_text(insert, 1, table.name);
		for (int place = 2; place < 6; place++)
			(void)sqlite3_bind_null(insert, place);
		bind_text(insert, 6, table.help);
		step(database, insert);
		for (size_t i = 0; i < table.column_count; i++) {
			const struct gt_column *column = &table.columns[i];

			bind_text(insert, 2, column->name);
			bind_text(insert, 3, type_of(column));
			bind_text(insert, 4, unit_of(column));
			bind_text(insert, 5,
			          names_rows(column)
			                  ? gt_trace_table(database->trace, (size_t)column->target)
			                            .name
			                  : NULL);
			bind_text(insert, 6, column->help);
			step(database, insert);
		}
	}
	(void)sqlite3_finalize(insert);
}

/* The words of the numbers that a column has. */
static void add_codes(struct database *database, sqlite3_stmt *insert, const struct gt_table *table,
                      const struct gt_column *column)
{
	name_of_code *words = words_of(column);
	bool seen[SMALL_CODES] = {0};

	for (size_t row = 0; words && row < table->row_count && !database->failed; row++) {
		uint32_t code;

		memcpy(&code, (const uint8_t *)table->rows + row * table->row_size + column->offset,
		       sizeof(code));
		if (code < SMALL_CODES && seen[code])
			continue;
		if (code < SMALL_CODES)
			seen[code] = true;
		bind_text(insert, 1, table->name);
		bind_text(insert, 2, column->name);
		(void)sqlite3_bind_int64(insert, 3, code);
		bind_text(insert, 4, words(code));
		step(database, insert);
	}
}

static void fill_codes(struct database *database)
{
	sqlite3_stmt *insert;

	run(database,
	    "CREATE TABLE codes (table_name TEXT, column_name TEXT, code INTEGER, text TEXT, "
	    "PRIMARY KEY (table_name, column_name, code)) WITHOUT ROWID");
	insert = prepare(database, "INSERT OR IGNORE INTO codes VALUES (?, ?, ?, ?)");
	for (size_t t = 0; t < GT_TABLE_COUNT; t++) {
		const struct gt_table table = gt_trace_table(database->trace, t);

		for (size_t i = 0; i < table.column_count; i++)
			add_codes(database, insert, &table, &table.columns[i]);
	}
	(void)sqlite3_finalize(insert);
}

static void add_samples(struct database *database, sqlite3_stmt *insert, gt_id row)
{
	const struct gt_trace *trace = database->trace;
	const struct gt_counter *counter = &trace->counters.rows[row];
	const struct gt_series *series;

	if (counter->series >= trace->series.count)
		return;
	series = &trace->series.rows[counter->series];
	for (size_t i = 0; counter->place < series->column_count && i < series->count; i++) {
		if (isnan(series->columns[counter->place][i]))
			continue;
		(void)sqlite3_bind_int64(insert, 1, row);
		(void)sqlite3_bind_int64(insert, 2, series->times_ns[i]);
		(void)sqlite3_bind_double(insert, 3, series->columns[counter->place][i]);
		step(database, insert);
	}
}

static void fill_samples(struct database *database)
{
	sqlite3_stmt *insert;

	run(database,
	    "CREATE TABLE samples (counter INTEGER REFERENCES counters(id), time_ns INTEGER, "
	    "value REAL, PRIMARY KEY (counter, time_ns)) WITHOUT ROWID");
	insert = prepare(database, "INSERT OR REPLACE INTO samples VALUES (?, ?, ?)");
	for (gt_id i = 0; i < database->trace->counters.count; i++)
		add_samples(database, insert, i);
	(void)sqlite3_finalize(insert);
}

static void say(struct database *database, sqlite3_stmt *insert, const char *name, const char *text)
{
	bind_text(insert, 1, name);
	bind_text(insert, 2, text);
	step(database, insert);
}

static void fill_about(struct database *database, const struct gt_view *view)
{
	const struct gt_trace *trace = database->trace;
	sqlite3_stmt *insert;
	char digits[2][24];

	snprintf(digits[0], sizeof(digits[0]), "%lld", (long long)trace->start_ns);
	snprintf(digits[1], sizeof(digits[1]), "%lld", (long long)trace->end_ns);
	run(database, "CREATE TABLE about (name TEXT PRIMARY KEY, value) WITHOUT ROWID");
	insert = prepare(database, "INSERT INTO about VALUES (?, ?)");
	say(database, insert, "gputrace", GPUTRACE_VERSION);
	say(database, insert, "recorder", gt_trace_text(trace, trace->tool_version));
	say(database, insert, "cupti", gt_trace_text(trace, trace->cupti));
	say(database, insert, "driver", gt_trace_text(trace, trace->driver));
	say(database, insert, "condition", gt_trace_text(trace, trace->condition));
	say(database, insert, "restricted_to", view->restriction);
	(void)sqlite3_finalize(insert);
	insert = prepare(database, "INSERT INTO about VALUES (?, CAST(? AS INTEGER))");
	say(database, insert, "start_ns", digits[0]);
	say(database, insert, "end_ns", digits[1]);
	(void)sqlite3_finalize(insert);
}

static void fill(struct database *database, const struct gt_view *view)
{
	run(database, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; "
	              "PRAGMA locking_mode = EXCLUSIVE; BEGIN");
	for (size_t i = 0; i < GT_TABLE_COUNT; i++) {
		const struct gt_table table = gt_trace_table(database->trace, i);

		create_table(database, &table);
		if (i == GT_TABLE_api_calls && database->without_calls)
			continue;
		fill_table(database, &table);
		add_indexes(database, &table);
	}
	fill_samples(database);
	fill_catalogue(database);
	fill_codes(database);
	fill_about(database, view);
	run(database, gt_sqlite_views);
	run(database, "COMMIT");
}

static void count(struct gt_export_counts *counts, const struct database *database,
                  const char *path)
{
	const struct gt_trace *trace = database->trace;
	struct stat status;

	if (!counts)
		return;
	*counts = (struct gt_export_counts){
		.gpu_slices = trace->kernels.count + trace->copies.count + trace->fills.count +
	                      trace->graph_traces.count,
		.api_slices = database->without_calls ? 0 : trace->api_calls.count,
		.range_slices = trace->ranges.count + trace->marks.count,
	};
	if (stat(path, &status) == 0)
		counts->bytes = counts->raw_bytes = (uint64_t)status.st_size;
}

static int write_view(const struct gt_view *view, const struct gt_export_options *options,
                      const struct gt_target *target, struct gt_export_counts *counts,
                      struct gt_error *err)
{
	struct database database = {.trace = view->trace, .without_calls = options->without_calls};
	int result = 0;

	if (!target->path)
		return gt_fail(err, EINVAL, "a database needs a file of its own");
	database.failed = sqlite3_open_v2(target->path, &database.handle,
	                                  SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
	fill(&database, view);
	if (database.failed) {
		const int code = sqlite3_system_errno(database.handle);

		result = gt_fail(err, code ? code : EIO, "SQLite says: %s",
		                 sqlite3_errmsg(database.handle));
	}
	if (sqlite3_close(database.handle) != SQLITE_OK && result == 0)
		result = gt_fail(err, EIO, "SQLite could not close it");
	if (result == 0)
		count(counts, &database, target->path);
	return result;
}

const struct gt_exporter gt_exporter_sqlite = {
	.name = "sqlite",
	.extension = ".sqlite",
	.summary = "SQLite database of every row, with views for common questions",
	.is_database = true,
	.needs_path = true,
	.compressions = 1u << GT_COMPRESSION_NONE,
	.write = write_view,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/watch.h"
#include "format/environment.h"
#include "import/builder.h"
#include "import/importer.h"
#include "import/nsys/database.h"
#include "import/nsys/rows.h"

/*
 * Databases of nsys export --type sqlite, from schema 2.9 (2022.1) on. Each process that has rows
 * of CUDA or NVTX becomes a capture; rows are read once for each.
 */

/* The newest schema whose tables were looked at. */
enum { NEWEST_MAJOR = 3, NEWEST_MINOR = 25 };

enum { MOST_PROCESSES = 256 };

/* Facts about the whole file. */
struct about {
	char product[32];
	char schema[32];
	char host[65];
	char environment[GT_ENVIRONMENT_BYTES];
	int64_t epoch_ns; /* CLOCK_REALTIME at the file's time 0 */
};

static const char *text(sqlite3_stmt *row, int column)
{
	const char *value = (const char *)sqlite3_column_text(row, column);

	return value ? value : "";
}

static void take_version(void *context, sqlite3_stmt *row)
{
	struct about *about = context;
	const char *name = text(row, NSYS_version_name);

	if (strcmp(name, "EXPORT_SCHEMA_VERSION") == 0)
		snprintf(about->schema, sizeof(about->schema), "%.31s",
		         text(row, NSYS_version_value));
	else if (strcmp(name, "EXPORT_PRODUCT_VERSION") == 0)
		snprintf(about->product, sizeof(about->product), "%.31s",
		         text(row, NSYS_version_value));
}

static void take_machine(void *context, sqlite3_stmt *row)
{
	struct about *about = context;

	if (strcmp(text(row, NSYS_machine_name), "Hostname") == 0)
		snprintf(about->host, sizeof(about->host), "%.64s", text(row, NSYS_machine_value));
}

static void take_session(void *context, sqlite3_stmt *row)
{
	((struct about *)context)->epoch_ns =
		gt_nsys_number(row, NSYS_session_utcEpochNs, GT_NO_TIME);
}

/* NAME="value" is NAME=value. */
static void take_quotes(char *variable)
{
	char *value = strchr(variable, '=');
	const size_t length = value ? strlen(value) : 0;

	if (length < 3 || value[1] != '"' || value[length - 1] != '"')
		return;
	memmove(value + 1, value + 2, length - 3);
	value[length - 2] = '\0';
}

/* The environment holds secrets: only variables that recordings keep are taken. */
static void take_setting(void *context, sqlite3_stmt *row)
{
	struct about *about = context;
	const size_t used = strlen(about->environment);
	char variable[GT_ENVIRONMENT_LINE + 2];
	size_t size;

	if (!strstr(text(row, NSYS_settings_name), "ENVIRONMENT_VARIABLE"))
		return;
	snprintf(variable, sizeof(variable), "%s", text(row, NSYS_settings_value));
	take_quotes(variable);
	size = gt_environment_text((char *[]){variable, NULL}, about->environment + used,
	                           sizeof(about->environment) - used - 1);
	about->environment[used + size] = '\0';
}

static void read_about(struct gt_nsys *nsys, struct about *about)
{
	*about = (struct about){.epoch_ns = GT_NO_TIME};
	gt_nsys_each(nsys, NSYS_old_version, GT_NSYS_ALL, take_version, about);
	gt_nsys_each(nsys, NSYS_version, GT_NSYS_ALL, take_version, about);
	gt_nsys_each(nsys, NSYS_machine, GT_NSYS_ALL, take_machine, about);
	gt_nsys_each(nsys, NSYS_session, GT_NSYS_ALL, take_session, about);
	gt_nsys_each(nsys, NSYS_settings, GT_NSYS_ALL, take_setting, about);
}

static bool is_newer(const struct about *about)
{
	char *end;
	const long major = strtol(about->schema, &end, 10);
	const long minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;

	return major > NEWEST_MAJOR || (major == NEWEST_MAJOR && minor > NEWEST_MINOR);
}

/* ---- processes ---- */

struct processes {
	gt_array(int64_t) list;
	bool too_many;
};

static void add_process(struct processes *processes, int64_t process)
{
	gt_array_each(const int64_t, known, &processes->list)
		if (*known == process)
			return;
	if (processes->list.count == MOST_PROCESSES)
		processes->too_many = true;
	else
		*gt_array_push(&processes->list) = process;
}

static void find_owners(struct gt_nsys *nsys, enum gt_nsys_table table, struct processes *processes)
{
	const char *name = gt_nsys_name(table);
	const char *owner = gt_nsys_owner(table);
	sqlite3_stmt *statement = NULL;
	char sql[160];

	if (!gt_nsys_has(nsys, name) || !gt_nsys_has_column(nsys, name, owner))
		return;
	snprintf(sql, sizeof(sql), "select distinct \"%s\" >> 24 from \"%s\" where \"%s\" not null",
	         owner, name, owner);
	if (sqlite3_prepare_v2(nsys->handle, sql, -1, &statement, NULL) != SQLITE_OK)
		return;
	while (sqlite3_step(statement) == SQLITE_ROW && !processes->too_many)
		add_process(processes, sqlite3_column_int64(statement, 0));
	(void)sqlite3_finalize(statement);
}

static const enum gt_nsys_table told_by[] = {NSYS_kernel,  NSYS_memcpy, NSYS_memset, NSYS_graph,
                                             NSYS_runtime, NSYS_sync,   NSYS_nvtx};

/* Where nothing says whose it is all is of one. */
static void find_processes(struct gt_nsys *nsys, struct processes *processes)
{
	for (size_t i = 0; i < GT_COUNT_OF(told_by); i++)
		find_owners(nsys, told_by[i], processes);
	for (size_t i = 0; i < GT_COUNT_OF(told_by) && processes->list.count == 0; i++)
		if (gt_nsys_has(nsys, gt_nsys_name(told_by[i])))
			add_process(processes, GT_NSYS_ALL);
}

struct name {
	int64_t process;
	char text[64];
};

static void take_name(void *context, sqlite3_stmt *row)
{
	struct name *name = context;

	if (name->process != GT_NSYS_ALL &&
	    gt_nsys_number(row, NSYS_process_globalPid, 0) >> 24 == name->process)
		snprintf(name->text, sizeof(name->text), "%.63s", text(row, NSYS_process_name));
}

/* ---- notes ---- */

static bool has_rows(struct gt_nsys *nsys, const char *table)
{
	sqlite3_stmt *statement = NULL;
	char sql[96];
	bool has = false;

	if (!gt_nsys_has(nsys, table))
		return false;
	snprintf(sql, sizeof(sql), "select 1 from \"%s\" limit 1", table);
	if (sqlite3_prepare_v2(nsys->handle, sql, -1, &statement, NULL) == SQLITE_OK)
		has = sqlite3_step(statement) == SQLITE_ROW;
	(void)sqlite3_finalize(statement);
	return has;
}

/* Events that gputrace has no place for, or does not read yet. */
static void note_left_out(struct gt_nsys *nsys, struct gt_builder *builder)
{
	static const char *const others[] = {
		"OSRT_API",
		"GPU_METRICS",
		"CUDA_GPU_MEMORY_USAGE_EVENTS",
		"CUDNN_EVENTS",
		"CUBLAS_EVENTS",
		"CUDA_GRAPH_NODE_EVENTS",
		"SCHED_EVENTS",
		"COMPOSITE_EVENTS",
		"CUDA_UM_CPU_PAGE_FAULT_EVENTS",
		"MPI_P2P_EVENTS",
		"MPI_COLLECTIVES_EVENTS",
		"CUDA_UM_GPU_PAGE_FAULT_EVENTS",
	};
	char names[384] = "";
	size_t length = 0;

	for (size_t i = 0; i < GT_COUNT_OF(others); i++)
		if (has_rows(nsys, others[i]))
			length += (size_t)snprintf(names + length, sizeof(names) - length, "%s%s",
			                           length ? ", " : "", others[i]);
	if (length)
		gt_builder_note(builder, "tables of the file that are not imported: %s", names);
}

static void add_notes(const struct gt_foreign *file, const struct gt_nsys_reading *reading,
                      const struct about *about)
{
	struct gt_builder *builder = reading->builder;

	gt_builder_note(
		builder,
		"imported from %s, which nsys %s wrote (schema %s): it does not say what it "
		"lost, which memory was allocated, or what GPUs drew",
		file->name, *about->product ? about->product : "of no known version",
		*about->schema ? about->schema : "not known");
	if (is_newer(about))
		gt_builder_remark(
			builder,
			"%s has schema %s, which is newer than any that this gputrace knows "
			"(%d.%d): what is new in it is not imported",
			file->name, about->schema, NEWEST_MAJOR, NEWEST_MINOR);
	if (reading->payloads_left_out)
		gt_builder_note(builder, "extended payloads of %llu ranges are not imported",
		                (unsigned long long)reading->payloads_left_out);
	note_left_out(reading->nsys, builder);
}

/* With the last process all is known. */
static void add_last_notes(const struct gt_foreign *file, struct gt_nsys *nsys,
                           struct gt_builder *builder)
{
	if (builder->counts.kernels == 0)
		gt_builder_remark(builder, builder->counts.graphs
		                                   ? "no kernels in this file, as launches of CUDA "
		                                     "graphs were recorded as a whole"
		                                   : "no kernels in this file");
	if (nsys->broken)
		gt_builder_cut(builder, file->name, nsys->broken);
}

static int read_process(const struct gt_foreign *file, struct gt_nsys_reading *reading,
                        const struct about *about, bool is_last, struct gt_error *err)
{
	struct gt_nsys *nsys = reading->nsys;
	struct name name = {.process = reading->process};
	struct gt_built_process process = {
		.pid = reading->process == GT_NSYS_ALL ? 0 : gt_nsys_pid(reading->process),
		.host = about->host,
		.program = name.text,
		.environment = about->environment,
		.realtime_offset_ns = about->epoch_ns,
	};
	const int result = gt_builder_begin(reading->builder, err);

	if (result < 0)
		return result;
	gt_known_release(&nsys->texts);
	gt_nsys_read_places(reading);
	gt_nsys_read_work(reading);
	gt_nsys_read_ranges(reading);
	gt_nsys_each(nsys, NSYS_process, GT_NSYS_ALL, take_name, &name);
	add_notes(file, reading, about);
	if (is_last)
		add_last_notes(file, nsys, reading->builder);
	return gt_builder_end(reading->builder, &process, err);
}

static int read_processes(const struct gt_foreign *file, struct gt_nsys *nsys,
                          struct gt_builder *builder, const struct processes *processes,
                          struct gt_error *err)
{
	struct about about;
	int result = 0;

	read_about(nsys, &about);
	for (size_t i = 0; result == 0 && i < processes->list.count; i++) {
		struct gt_nsys_reading reading = {
			.nsys = nsys, .builder = builder, .process = processes->list.rows[i]};

		nsys->is_first = i == 0;
		gt_watch_tell(file->watch, i, processes->list.count);
		result = read_process(file, &reading, &about, i + 1 == processes->list.count, err);
	}
	return result;
}

/* Whether nsys wrote it: with any data there are texts. */
static int check(const struct gt_foreign *file, struct gt_nsys *nsys, struct gt_error *err)
{
	const bool told = gt_nsys_has(nsys, gt_nsys_name(NSYS_version)) ||
	                  gt_nsys_has(nsys, gt_nsys_name(NSYS_old_version));

	if (nsys->broken)
		return gt_fail(err, EBADMSG, "cannot read %s: %s", file->path, nsys->broken);
	if (!told && !gt_nsys_has(nsys, "StringIds"))
		return gt_fail(err, EBADMSG,
		               "%s is a database, but none of nsys export: it has none of its "
		               "tables",
		               file->path);
	return 0;
}

static int read_file(const struct gt_foreign *file, struct gt_builder *builder,
                     struct gt_error *err)
{
	struct processes processes = {0};
	struct gt_nsys nsys;
	int result = gt_nsys_open(&nsys, file->path, err);

	if (result == 0)
		result = check(file, &nsys, err);
	if (result == 0)
		find_processes(&nsys, &processes);
	if (result == 0 && processes.too_many)
		result = gt_fail(err, ENOTSUP, "%s has more than %d processes", file->path,
		                 MOST_PROCESSES);
	if (result == 0 && processes.list.count == 0)
		result = gt_fail(
			err, ENODATA,
			"%s has no work of GPUs, no calls and no ranges: no kernels in this "
			"file",
			file->path);
	if (result == 0)
		result = read_processes(file, &nsys, builder, &processes, err);
	gt_array_release(&processes.list);
	gt_nsys_close(&nsys);
	return result;
}

static bool accepts(const uint8_t *bytes, size_t size)
{
	static const char magic[16] = "SQLite format 3";

	return size >= sizeof(magic) && memcmp(bytes, magic, sizeof(magic)) == 0;
}

const struct gt_importer gt_importer_nsys = {
	.name = "nsys",
	.product = "Nsight Systems",
	.summary = "Database of nsys export --type sqlite",
	.accepts = accepts,
	.read = read_file,
};

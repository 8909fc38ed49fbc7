/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_TRACE_H
#define GT_MODEL_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

/*
 * A whole recording in memory: tables of small rows that name each other by row
 * number and share strings by id. The collector makes it, everything else reads it.
 */

typedef int64_t gt_time;    /* nanoseconds on the common timeline: CLOCK_BOOTTIME of the machine */
typedef uint64_t gt_size;   /* bytes */
typedef uint32_t gt_id;     /* row number in another table, GT_NONE for none */
typedef uint32_t gt_string; /* id in gt_trace.strings */
typedef uint32_t gt_count;
typedef int32_t gt_code;
typedef uint64_t gt_wide;
typedef double gt_real;

#define GT_NONE UINT32_MAX

/* What is known of one activity or API call; bits of the column "flags". */
enum gt_activity_flag {
	GT_UNFINISHED = 1, /* it had begun, or was queued, when its process ended: no end time */
	GT_SALVAGED = 2,   /* read from the arena of a process that did not end cleanly */
	GT_ASYNC = 4,      /* the copy or fill did not make the host wait */
	GT_DRIVER_API = 8, /* the call is of the driver API (cu...), not the runtime's (cuda...) */
	GT_NESTED = 16,    /* the call was made inside another one (only with --api all) */
	GT_DEVICE_LAUNCHED = 32 /* a kernel on the GPU launched it */
};

/* What an API call is for. The values are not in any file. */
enum gt_api_kind {
	GT_API_OTHER,
	GT_API_LAUNCH, /* one kernel */
	GT_API_GRAPH_LAUNCH,
	GT_API_COPY,
	GT_API_FILL,
	GT_API_ALLOCATE,
	GT_API_FREE,
	GT_API_SYNCHRONIZE,
	GT_API_STREAM,
	GT_API_EVENT,
	GT_API_GRAPH,
	GT_API_MODULE,
};

/* How the recording of a process ended; column "ended" of processes. */
enum gt_end {
	GT_END_CLEAN, /* the process exited and everything was written */
	GT_END_DIED, /* it died or left without exit handlers; the rest was salvaged from its arena */
	GT_END_RUNNING, /* it was still running when the recording was read */
	GT_END_TORN,    /* its file stops early and there is no arena: the tail is not known */
};

/* clang-format off */
#define TABLE(name, plural, help) struct gt_##name {
#define COLUMN(table, type, name, help) gt_##type name;
#define END(name) };
#include "model/tables.def"
/* clang-format on */

/*
 * Kernels, copies, fills, syncs, overheads and API calls are sorted by start_ns; what has no
 * start time comes first.
 */
struct gt_trace {
	struct gt_strings *strings;
	gt_time start_ns;       /* first instant of the recording; 0 when nothing was recorded */
	gt_time end_ns;         /* last instant */
	gt_string tool_version; /* of gputrace that made the captures */
	gt_string cupti;        /* path and version of the library that was used, "" when none */
	gt_string driver;       /* CUDA driver version, as 13.0, "" when not known */
#define TABLE(name, plural, help) gt_array(struct gt_##name) plural;
#define COLUMN(table, type, name, help)
#define END(name)
#include "model/tables.def"
};

void gt_trace_init(struct gt_trace *trace);
void gt_trace_release(struct gt_trace *trace);

/* The text of a string column; lives as long as the trace. */
const char *gt_trace_text(const struct gt_trace *trace, gt_string text);

/* Value of a ledger class summed over all processes. Returns 0, or -ENODATA when no process has it.
 */
int gt_trace_ledger(const struct gt_trace *trace, const char *name, uint64_t *value);

/* GT_NONE when the row names no stream or context. */
gt_id gt_trace_stream_process(const struct gt_trace *trace, gt_id stream);

enum gt_column_type {
	GT_COLUMN_time,
	GT_COLUMN_size,
	GT_COLUMN_id,
	GT_COLUMN_string,
	GT_COLUMN_count,
	GT_COLUMN_code,
	GT_COLUMN_wide,
	GT_COLUMN_real
};

struct gt_column {
	const char *name;
	const char *help;
	enum gt_column_type type;
	size_t offset; /* inside the row */
};

/* A table without knowing its type at compile time, for code that treats all alike. */
struct gt_table {
	const char *name;
	const char *help;
	const struct gt_column *columns;
	size_t column_count;
	size_t row_size;
	const void *rows;
	size_t row_count;
};

enum {
#define TABLE(name, plural, help) GT_TABLE_##plural,
#define COLUMN(table, type, name, help)
#define END(name)
#include "model/tables.def"
	GT_TABLE_COUNT
};

/* index < GT_TABLE_COUNT. The view is valid until the trace changes. */
struct gt_table gt_trace_table(const struct gt_trace *trace, size_t index);

#endif

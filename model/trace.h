/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_TRACE_H
#define GT_MODEL_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

#define GT_NONE    UINT32_MAX

#define GT_ROW_MAX 256 /* bytes of a row of any table, for whoever moves rows without their type */

/* Facts about one activity or API call; bits of the column "flags". */
enum gt_activity_flag {
	GT_UNFINISHED = 1, /* nobody saw its end: the process ended before, or was paused */
	GT_SALVAGED = 2,   /* read from the arena of a process that did not end cleanly */
	GT_ASYNC = 4,      /* the copy or fill did not make the host wait */
	GT_DRIVER_API = 8, /* the call is of the driver API (cu...), not the runtime's (cuda...) */
	GT_NESTED = 16,    /* the call was made inside another one (only with --api all) */
	GT_DEVICE_LAUNCHED = 32, /* a kernel on the GPU launched it */
	GT_GRAPH_NODE = 64, /* the call made a node of a graph: what it asked for runs with that */
	GT_CUT = 128,       /* its text was longer */
	GT_AROUND =
		256, /* a range that a filter left for the paths of those in it: it is not chosen */
	GT_CHOSEN = 512,    /* a range that a filter names, in what that left and in the whole */
	GT_PROFILED = 1024, /* a kernel that was replayed for its counters: its time is no figure */
	GT_BY_TIME = 2048,  /* its range is told by time alone: no other thread had ranges open */
	GT_UNTOLD = 4096,   /* several threads had ranges open: it may be for any of them */
	GT_INTERRUPTED = 8192, /* with GT_UNFINISHED: recording was paused at its end_ns */
};

/* Events that a kernel told of itself (tables device_events). The values are not in any file. */
enum gt_device_kind {
	GT_DEVICE_RANGE,
	GT_DEVICE_MARK,
	GT_DEVICE_INT,  /* a value: a number with a sign */
	GT_DEVICE_REAL, /* the bits of a double */
};

enum gt_device_event_flag {
	GT_DEVICE_NO_END = 1,   /* of a range: no end was told of */
	GT_DEVICE_NO_BEGIN = 2, /* of a range: its begin was lost, start_ns is the end's */
	GT_DEVICE_BY_TIME = 4,  /* the kernel is told by time and launch shape alone */
};

/* How a range of NVTX is begun and ended. The values are not in any file. */
enum gt_range_kind {
	GT_RANGE_PUSHED, /* on one thread, inside the one that was pushed before it in its domain */
	GT_RANGE_STARTED, /* by its id, from any thread */
};

/* Purpose of an API call. The values are not in any file. */
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

/* Why one thing waits for another; column "kind" of edges. */
enum gt_edge_kind {
	GT_EDGE_EVENT, /* a stream waits for what was before a record on another one */
	GT_EDGE_HOST,  /* the host waits for the end of what it gave a stream */
};

/* Bits of the column "traits" of modules. */
enum gt_module_trait {
	GT_MODULE_KEPT = 1,      /* its cubin is in the recording */
	GT_MODULE_NOT_KEPT = 2,  /* it was to be, and could not */
	GT_MODULE_JIT = 4,       /* compilations at run time were recorded */
	GT_MODULE_READ = 8,      /* its functions are there, */
	GT_MODULE_CUT = 16,      /* but not all of them */
	GT_MODULE_ONE_ARCH = 32, /* its code runs on its very architecture alone: sm_90a */
};

/* Where what is said of a function comes from; column "known" of functions. */
enum gt_function_known {
	GT_FUNCTION_NOTED,    /* it is there: nothing else but its code's size is known */
	GT_FUNCTION_LAUNCHED, /* name, shared and local memory, of its launches */
	GT_FUNCTION_READ,     /* all, of the kept cubin; kernels and functions that they call */
};

/* Kind of the values of a counter. */
enum gt_counter_kind {
	GT_COUNTER_GAUGE, /* as it is at the time of the sample */
	GT_COUNTER_TOTAL, /* counts up; differences are what happened between two samples */
	GT_COUNTER_MASK,  /* bits */
	GT_COUNTER_SPAN,  /* nanoseconds that the sample lasts, which begins at its time */
	GT_COUNTER_SUM,   /* how much there was in the sample */
	GT_COUNTER_MEAN,  /* mean over the sample */
};

struct gt_whole;

struct gt_interval {
	gt_time start_ns;
	gt_time end_ns;
};

/*
 * Values over time: the times once, then a column for each counter. Samples are sorted by time.
 * 8 bytes a value and a time, so 100 counters at 20 us take 40 MB a second.
 */
struct gt_series {
	gt_time *times_ns;
	double **columns; /* NAN: not measured */
	size_t column_count;
	size_t count;    /* samples */
	size_t capacity; /* samples there is room for */
};

/* How the recording of a process ended; column "ended" of processes. */
enum gt_end {
	GT_END_CLEAN, /* the process exited and everything was written */
	GT_END_DIED, /* it died or left without exit handlers; the rest was salvaged from its arena */
	GT_END_RUNNING,    /* it was still running when the recording was read */
	GT_END_TORN,       /* its file stops early and there is no arena: the tail is not known */
	GT_END_UNRECORDED, /* it used CUDA and could not be recorded at all */
	GT_END_UNREAD, /* its file is not there or cannot be read: little or nothing is known of it */
	GT_END_DUMPED,   /* it ran on: this is a dump of its recording, whole up to then */
	GT_END_IMPORTED, /* another profiler recorded it: nobody knows what its file lacks */
};

#define GT_KERNEL_LOG_TOPIC "kernel log"
#define GT_KERNEL_LOG_READ  "was read"

/* Which name of a kernel people are shown. */
enum gt_name_form {
	GT_NAMES_SHORT,   /* unambiguous within the recording */
	GT_NAMES_FULL,    /* demangled */
	GT_NAMES_MANGLED, /* as the compiler wrote it */
};

/* clang-format off */
#define TABLE(name, plural, order, kept, help) struct gt_##name {
#define COLUMN(table, type, name, help) gt_##type name;
#define END(name) };
#include "model/tables.def"
/* clang-format on */

/*
 * The tables by time are sorted by start_ns; what has no start time comes first.
 */
struct gt_trace {
	struct gt_strings *strings;
	gt_time start_ns;       /* first instant of the recording; 0 when nothing was recorded */
	gt_time end_ns;         /* last instant */
	gt_string tool_version; /* of gputrace that made the captures */
	gt_string cupti;        /* path and version of the library that was used, "" when none */
	gt_string driver;       /* CUDA driver version, as 13.0, "" when not known */
	/* How often records are fetched from CUPTI, where it was set: the longest; 0: by default. */
	gt_time flush_interval_ns;
	/* Work and calls that ended before are not all there (gt_collect_look); 0: all are. */
	gt_time known_from_ns;
	/* Remark to show behind the recording's name; "": all of its files could be read. */
	gt_string condition;
	/*
	 * Whether gputrace run could read the kernel logs of the machines: GT_KERNEL_LOG_READ, a
	 * sentence's end that says why not, "": nobody tried. Messages of them are notes of the
	 * topic.
	 */
	gt_string kernel_log;
	enum gt_name_form names; /* what gt_shape_name gives; who shows the trace sets it */
	/* The rows of counters name them. Where there is a whole, its series hold the samples. */
	gt_array(struct gt_series) series;
	/*
	 * The window that shares of time are shares of, in order and apart: what options chose of
	 * the recording, without stretches in which launches were held up. Empty: all the time.
	 */
	gt_array(struct gt_interval) parts;
	struct gt_whole *whole; /* all that happened (model/whole.h); NULL: it is this trace */
#define TABLE(name, plural, order, kept, help) gt_array(struct gt_##name) plural;
#define COLUMN(table, type, name, help)
#define END(name)
#include "model/tables.def"
};

/* A new series of so many counters, without samples; its number. */
size_t gt_trace_add_series(struct gt_trace *trace, size_t column_count);

/* Room for so many samples more at the end of a series: the caller fills them and adds to count. */
void gt_series_reserve(struct gt_series *series, size_t count);

/* Frees what it holds; may be called twice. */
void gt_series_release(struct gt_series *series);

void gt_trace_init(struct gt_trace *trace);
void gt_trace_release(struct gt_trace *trace);

/* The text of a string column; lives as long as the trace. */
const char *gt_trace_text(const struct gt_trace *trace, gt_string text);

/* Value of a ledger class summed over all processes. Returns 0, or -ENODATA when no process has it.
 */
int gt_trace_ledger(const struct gt_trace *trace, const char *name, uint64_t *value);

/* Adds a row: what a process counted of a class. GT_NONE: nobody knows which process. */
void gt_trace_add_ledger(struct gt_trace *trace, gt_id process, const char *name, uint64_t value);

/* Whether API calls, or work of GPUs, were recorded at all, also where a filter left none. */
bool gt_trace_has_calls(const struct gt_trace *trace);
bool gt_trace_has_work(const struct gt_trace *trace);

/* The worst reading of the clocks: host and GPU times are related to within so many ns. */
uint64_t gt_trace_clock_bound(const struct gt_trace *trace);

/* The number people know a GPU by: its machine's where that is known, else its process's. */
int64_t gt_device_number(const struct gt_device *device);

/*
 * When the kernel started the process, in nanoseconds of the boot-time clock and in steps of 10 ms
 * (USER_HZ is 100 on all machines that CUDA runs on); 0: not known.
 */
static inline gt_time gt_process_started_ns(const struct gt_process *process)
{
	enum { TICK_NS = 10000000 };

	return process->started_ticks < INT64_MAX / TICK_NS
	               ? (gt_time)process->started_ticks * TICK_NS
	               : 0;
}

/* GT_NONE when there is no such row. */
gt_id gt_trace_stream_process(const struct gt_trace *trace, gt_id stream);
gt_id gt_trace_thread_process(const struct gt_trace *trace, gt_id thread);

/*
 * The process of a row of any table (GT_TABLE_...), by the declared references of its columns;
 * GT_NONE when it names none.
 */
gt_id gt_trace_process_of(const struct gt_trace *trace, size_t table, const void *row);

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

enum {
#define TABLE(name, plural, order, kept, help) GT_TABLE_##plural,
#define COLUMN(table, type, name, help)
#define END(name)
#include "model/tables.def"
	GT_TABLE_COUNT,
	GT_TABLE_NONE = GT_TABLE_COUNT, /* of a column that names no row */
	GT_TABLE_ANY                    /* the column before it holds the table */
};

enum gt_table_order {
	GT_ORDER_as_added,
	GT_ORDER_by_time, /* of its first two columns, start_ns and end_ns */
};

/* Which rows filters leave; tables.def says more. */
enum gt_table_kept { GT_KEPT_all, GT_KEPT_by_refs, GT_KEPT_by_rule };

struct gt_column {
	const char *name;
	const char *help;
	enum gt_column_type type;
	size_t offset; /* inside the row */
	int target;    /* GT_TABLE_... whose rows an id names, GT_TABLE_NONE or GT_TABLE_ANY */
};

/* A table without knowing its type at compile time, for code that treats all alike. */
struct gt_table {
	const char *name;
	const char *help;
	enum gt_table_order order;
	enum gt_table_kept kept;
	const struct gt_column *columns;
	size_t column_count;
	size_t row_size;
	const void *rows;
	size_t row_count;
};

/* index < GT_TABLE_COUNT. The view is valid until the trace changes. */
struct gt_table gt_trace_table(const struct gt_trace *trace, size_t index);

/* The rows of a table for whoever changes them without knowing their type. */
struct gt_rows {
	uint8_t *rows;
	size_t *count; /* may be set to less: the rows behind are then gone */
	size_t row_size;
};

/* index < GT_TABLE_COUNT. Valid until a row is added. */
struct gt_rows gt_trace_rows(struct gt_trace *trace, size_t index);

/* So many rows more at the end of a table, to be filled; the first of them, valid until the next. */
uint8_t *gt_trace_extend(struct gt_trace *trace, size_t index, size_t count);

/*
 * Whether a row of a table by time has to stand before another one: of equal starts the longer row
 * comes first, so that what contains comes before what is contained.
 */
static inline bool gt_row_is_before(const void *a, const void *b)
{
	struct gt_interval left;
	struct gt_interval right;

	memcpy(&left, a, sizeof(left));
	memcpy(&right, b, sizeof(right));
	if (left.start_ns != right.start_ns)
		return left.start_ns < right.start_ns;
	return left.end_ns > right.end_ns;
}

/* The number of the table with a row's name: GT_TABLE_OF_kernel is GT_TABLE_kernels. */
enum {
#define TABLE(name, plural, order, kept, help) GT_TABLE_OF_##name = GT_TABLE_##plural,
#define COLUMN(table, type, name, help)
#define END(name)
#include "model/tables.def"
};

/* The new number of each old row of a table, GT_NONE for one that is gone. */
struct gt_renamed {
	const gt_id *rows;
	size_t count;
};

/*
 * Rows of a table (GT_TABLE_...) got other numbers: every column that names them is told. GT_NONE
 * and numbers of no row stay.
 */
void gt_trace_rename(struct gt_trace *trace, int target, const struct gt_renamed *renamed);

#endif

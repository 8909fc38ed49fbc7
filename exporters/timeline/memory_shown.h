/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_TIMELINE_MEMORY_SHOWN_H
#define GT_EXPORTERS_TIMELINE_MEMORY_SHOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/statistics/thinned.h"
#include "base/array.h"
#include "model/trace.h"

struct gt_view;

/*
 * Memory as a timeline shows it, whatever its format: lines of how much is in use, and marks where
 * it was allocated and freed. Both are less than all where there is much: a line is thinned
 * (analysis/statistics/thinned.h), and where more than GT_MEMORY_MARKED_ALL rows of a table could
 * have marks, those rows have some that are among the GT_MEMORY_MARKED_MOST largest of all, of
 * those that were there at the peak of their group, or of those that were never freed. Calls that
 * failed and peaks all have one.
 */
enum {
	GT_MEMORY_MARKED_ALL = 20000,
	GT_MEMORY_MARKED_MOST = 5000,
	GT_MEMORY_NAME_SIZE = 352,
	GT_MEMORY_STRETCHES = 10000, /* of a line that is thinned */
	GT_MEMORY_LINES_OF_A_KIND = 1 << 16,
};

/* Memory that is shown together: of a process on one GPU, on the host, or of one pool. */
struct gt_memory_group {
	gt_id process;
	gt_id device;     /* GT_NONE: the host's, or not known */
	gt_id pool;       /* GT_NONE: what CUDA gave */
	uint32_t is_host; /* of the host, by itself or as the place of the pool */
};

/* Memory of a group in use at one moment. */
struct gt_memory_in_use {
	gt_time time_ns;
	uint64_t bytes;
	uint64_t count; /* in so many allocations or blocks; 0: not known */
};

/* Lines stand in this order. */
enum gt_memory_line_kind {
	GT_MEMORY_LINE_TOTAL,   /* all that is in use of the group's GPU, or of the host */
	GT_MEMORY_LINE_PART,    /* that one kind of allocation has of it */
	GT_MEMORY_LINE_APART,   /* of a kind that is in no total: model/memory/owned.h */
	GT_MEMORY_LINE_BLOCKS,  /* blocks of a pool */
	GT_MEMORY_LINE_COUNTER, /* what a pool says of itself */
};

struct gt_memory_line {
	enum gt_memory_line_kind is;
	uint32_t group;
	gt_count kind;    /* of PART and APART: enum gt_memory_call_kind */
	gt_id counter;    /* of COUNTER: row of counters */
	uint64_t changes; /* before they are thinned */
	struct gt_thinned values;
	double highest;
};

enum gt_memory_mark_kind {
	GT_MEMORY_MARK_BEGIN, /* of a row of allocations, or of pool_blocks in the group of a pool */
	GT_MEMORY_MARK_END,   /* of the same */
	GT_MEMORY_MARK_FAILED, /* a row of memory_calls */
	GT_MEMORY_MARK_PEAK,   /* the first moment at which most was in use */
};

struct gt_memory_mark {
	gt_time time_ns;
	enum gt_memory_mark_kind is;
	uint32_t group;
	gt_id row;             /* GT_NONE: of a peak */
	uint64_t in_use_bytes; /* of the group, after it */
	bool at_peak;          /* what it begins or ends was there at the peak of the group */
	gt_time lived_ns;      /* so long was it there; INT64_MAX: it was never freed */
};

struct gt_memory_shown {
	const struct gt_trace *trace;
	gt_array(struct gt_memory_group) groups;
	gt_array(struct gt_memory_line) lines;
	gt_array(struct gt_memory_mark) marks; /* in order of time */
	struct gt_memory_in_use *peaks;        /* by group; bytes 0: nothing was in use */
	bool *has_twin; /* by group: another pool of its process has its name and GPU */
};

/* Whether a trace has anything to show. */
bool gt_memory_is_known(const struct gt_trace *trace);

/* The trace of the view must not change meanwhile. */
void gt_memory_shown_init(struct gt_memory_shown *shown, const struct gt_view *view);
void gt_memory_shown_release(struct gt_memory_shown *shown);

/* Whether a line has anything to show: it is ever more than 0. */
static inline bool gt_memory_line_is_shown(const struct gt_memory_line *line)
{
	return line->highest > 0;
}

/* Whether its values are bytes; else they are counted. */
bool gt_memory_line_is_bytes(const struct gt_memory_shown *shown,
                             const struct gt_memory_line *line);

/* Whether lines of a group with it are drawn to one scale. */
bool gt_memory_line_is_to_scale(const struct gt_memory_shown *shown,
                                const struct gt_memory_line *line);

/* Among the lines of its group, from 1. */
int32_t gt_memory_line_rank(const struct gt_memory_shown *shown, const struct gt_memory_line *line);

/* Whether what a pool says under that name is how much of it is in use. */
bool gt_memory_counter_is_in_use(const char *name);

/* Whether what a pool says under that name is shown as a line. */
bool gt_memory_counter_has_line(const char *name);

/* "GPU 0 memory", "Host memory", "GPU 0 memory: pool". gpu: the number that the device has there. */
void gt_memory_group_name(const struct gt_memory_shown *shown, uint32_t group, uint32_t gpu,
                          char name[GT_MEMORY_NAME_SIZE]);

/* "GPU 0 in use", "GPU 0 in use: device memory", "GPU 0 pool: reserved". */
void gt_memory_line_name(const struct gt_memory_shown *shown, const struct gt_memory_line *line,
                         uint32_t gpu, char name[GT_MEMORY_NAME_SIZE]);

/* "device memory 64 MiB", "free 64 MiB", "failed: device memory 12 GiB", "peak: 1.20 GiB". */
void gt_memory_mark_name(const struct gt_memory_shown *shown, const struct gt_memory_mark *mark,
                         char name[GT_MEMORY_NAME_SIZE]);

#endif

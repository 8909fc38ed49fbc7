/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_TIME_PATH_ACCOUNT_H
#define GT_ANALYSIS_TIME_PATH_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/kernels/groups.h"
#include "base/array.h"
#include "model/path/path.h"
#include "model/path/spans.h"
#include "model/ranges/ranges.h"

struct gt_index;

/* Parts of the paths of a view: their stretches by kind, by name, by range, and the longest. */

/* Key by which stretches are counted together. */
struct gt_path_key {
	uint32_t kind; /* enum gt_path_kind */
	uint32_t what; /* enum gt_path_what */
	uint32_t name; /* group of kernels, function or kind of copy */
};

enum gt_path_what {
	GT_PATH_WHAT_KERNEL,
	GT_PATH_WHAT_CALL,
	GT_PATH_WHAT_COPY,
	GT_PATH_WHAT_FILL,
	GT_PATH_WHAT_GRAPH,
	GT_PATH_WHAT_END,   /* of a program: after its last call */
	GT_PATH_WHAT_OTHER, /* work on a GPU that is not shown */
};

struct gt_path_total {
	struct gt_path_key key;
	uint64_t stretches;
	gt_time total_ns;
};

/* The stretches of one span. */
struct gt_path_span_total {
	gt_time by_kind_ns[GT_PATH_KINDS];
	gt_time told_ns;    /* of all kinds */
	gt_time certain_ns; /* up to the end, since the last that nobody recorded */
	uint64_t assumed;   /* edges of the path that nobody recorded */
	uint64_t stretches;
};

/* Calls on the path that waited for work. */
struct gt_path_wait {
	gt_string function;
	uint64_t calls;
	gt_time call_ns;   /* from their entry to their return */
	gt_time return_ns; /* of that since the work had ended */
};

/* Stretches of one process on the path of one. */
struct gt_path_process_total {
	struct gt_path_processes {
		gt_id path; /* whose path it is; GT_NONE: not known */
		gt_id time; /* whose time it is */
	} of;
	uint64_t stretches;
	gt_time total_ns;
	gt_time gpu_ns; /* of that kernels, graphs, copies and fills */
};

struct gt_path_kind_total {
	uint64_t stretches;
	gt_time total_ns;
	gt_time assumed_ns; /* of stretches that nobody recorded */
};

struct gt_path_account {
	const struct gt_trace *trace;      /* all that happened */
	const struct gt_path_shown *shown; /* NULL: all is */
	struct gt_path path;
	struct gt_path_spans spans;
	struct gt_kernel_groups kernels;
	struct gt_ranges ranges;
	gt_id *ranges_of_threads; /* rows of ranges, those of a thread in order of their begin */
	size_t *first_range;      /* by row of threads, and one more: where its own begin there */
	struct gt_path_kind_total by_kind[GT_PATH_KINDS];
	gt_array(struct gt_path_total) by_name; /* longest first */
	struct gt_index *names;
	gt_time *by_range_ns;     /* by path of ranges; the last: in none */
	gt_time *gpu_by_range_ns; /* of that kernels, graphs, copies and fills */
	gt_array(struct gt_path_process_total) by_process; /* by path, then longest first */
	gt_array(struct gt_path_wait) waits;               /* longest first */
	gt_array(struct gt_path_member) longest; /* so many as were asked for, longest first */
	uint64_t members;                        /* all of them */
	struct gt_path_span_total *of_span;
	gt_time lasts_ns; /* of all spans */
	gt_time told_ns;
	uint8_t *on_path; /* a bit for each item */
};

/* shown, NULL for all, must outlive it, as the trace must. */
void gt_path_account_init(struct gt_path_account *account, const struct gt_trace *trace,
                          const struct gt_path_shown *shown, bool assume, uint64_t longest);
void gt_path_account_release(struct gt_path_account *account);

/* Whether an item is a call, or work that is shown. */
bool gt_path_account_shows(const struct gt_path_account *account, gt_id item);

bool gt_path_account_has(const struct gt_path_account *account, gt_id item);

struct gt_path_key gt_path_key_of(const struct gt_path_account *account,
                                  const struct gt_path_member *member);

/*
 * The range that a stretch is counted for: of work and calls that in which they were asked for, of
 * the program's own time the innermost that was open on its thread in the middle of it. GT_NONE:
 * none.
 */
gt_id gt_path_range_of(const struct gt_path_account *account, const struct gt_path_member *member);

#endif

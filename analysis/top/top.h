/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_TOP_TOP_H
#define GT_ANALYSIS_TOP_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/kernels/groups.h"
#include "analysis/ranges/steps/steps.h"
#include "analysis/top/may_run.h"
#include "base/array.h"
#include "model/trace.h"

/*
 * Figures of the last moments of a recording whose program runs, of a trace that a look at it gave
 * (gt_collect_look). They are of a window that ends where records of finished work have been
 * fetched from CUPTI: twice the interval of fetching before now, or where the recording ended.
 * Figures of a GPU are of the part of the window in which it is known what ran there: recording was
 * not paused, no work that has not ended may have run, and the process was heard of later.
 */
struct gt_top_device {
	gt_time until_ns;   /* from then on it is not known what ran */
	uint64_t known_ns;  /* part of the window in which it is known */
	uint64_t busy_ns;   /* of that: a kernel or whole graph ran */
	uint64_t kernels;   /* with times that began in the window */
	uint64_t kernel_ns; /* sum of their times */
	uint64_t copies;    /* likewise */
	uint64_t copied_bytes;
	int64_t memory_bytes; /* allocated by calls that were recorded; -1: none were */
	double watts;         /* that were sampled last since the window began; NAN: none */
};

/* Kernels of one group, gt_kernel_groups, on one GPU. */
struct gt_top_kernel {
	gt_id device;
	size_t group;
	uint64_t calls;
	uint64_t total_ns; /* sum of end - start */
};

struct gt_top_process {
	bool paused;
	bool has_calls;       /* API calls of it were recorded */
	uint64_t known_ns;    /* part of the window in which recording was not paused */
	uint64_t launches;    /* of kernels and graphs, that succeeded */
	uint64_t steps;       /* that ended in the window */
	uint64_t steps_ns;    /* sum of their wall times */
	int64_t last_step_ns; /* wall time of the step that ended last; -1: none has */
	int64_t losses;       /* by the process's own ledger; -1: it has none yet */
};

struct gt_top {
	const struct gt_trace *trace;
	struct gt_interval asked;  /* the window that was asked for */
	struct gt_interval window; /* as far as the recording was read; start = end: none of it */
	gt_time now_ns;
	size_t running;             /* processes that run */
	size_t paused;              /* of these */
	int64_t unrecorded_losses;  /* of no process that is there */
	struct gt_may_run *may_run; /* by row of devices */
	struct gt_steps steps;
	struct gt_kernel_groups groups;
	struct gt_top_device *devices;          /* by row of devices */
	struct gt_top_process *processes;       /* by row of processes */
	gt_array(struct gt_top_kernel) kernels; /* GPU by GPU, what took longest first */
};

/*
 * now_ns: of the boot-time clock, before the trace was read. The trace must outlive it. Pauses that
 * go on are made to last until now.
 */
void gt_top_init(struct gt_top *top, struct gt_trace *trace, gt_time now_ns, gt_time interval_ns);
void gt_top_release(struct gt_top *top);

#endif

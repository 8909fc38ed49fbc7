/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_DEVICE_EVENTS_PHASES_H
#define GT_ANALYSIS_DEVICE_EVENTS_PHASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "model/gpu/device_writers.h"
#include "model/naming/functions.h"

/*
 * Sums of device events of kernels: ranges, marks and values by kernel function and name, and how
 * the multiprocessors and blocks of a launch differ.
 */

/* Largest and mean of what the parts of launches took, summed up over launches. */
struct gt_device_uneven {
	double slowest_ns;
	double mean_ns;
};

/* Events of one name and kind of one function. */
struct gt_device_name {
	size_t function; /* of gt_functions */
	gt_string name;
	gt_count kind; /* enum gt_device_kind */
	uint64_t count;
	uint64_t launches;
	uint64_t unended; /* ranges of which the begin or the end is not there: they have no time */
	uint64_t total_ns; /* of ranges: end - start */
	uint64_t own_ns;   /* the same, less what the ranges right inside them took */
	/* Time of the launches that have it, times their writers; NAN: of one it is not known. */
	double writers_ns;
	struct gt_device_uneven sms;
	struct gt_device_uneven blocks;
	double sum; /* of values: all, the least and the most; of marks: when after the kernel's
	               start, ns */
	double least;
	double most;
	uint64_t valued; /* how many of count are in sum */
};

/* Facts of one launch, by the events of its writers. */
struct gt_device_launch_facts {
	gt_time start_ns; /* of the first and the last thing told */
	gt_time end_ns;
	gt_time half_ns;  /* when half of the multiprocessors had told their last */
	uint64_t idle_ns; /* from what each multiprocessor told last until end_ns, summed up */
	size_t sms;       /* that told anything */
	size_t blocks;    /* likewise */
	size_t writers;
	uint64_t events;
	gt_time late_ns;     /* from the first block's first event to the last one's */
	gt_count last_sm;    /* that told the last thing of all */
	gt_count late_block; /* that began last, */
	gt_count late_sm;    /* and where */
	size_t most_blocks;  /* on one multiprocessor, */
	size_t least_blocks; /* of those that told anything */
};

struct gt_device_phases {
	const struct gt_trace *trace;
	struct gt_functions functions;
	struct gt_device_writers writers;
	struct gt_device_launch_facts *facts; /* by launch of writers */
	uint64_t *own_ns;                     /* by row of device_events; of ranges with a time */
	uint32_t *names_of;                   /* the same: its name in names */
	gt_array(struct gt_device_name) names;
};

void gt_device_phases_init(struct gt_device_phases *phases, const struct gt_trace *trace);
void gt_device_phases_release(struct gt_device_phases *phases);

/* The function of a launch; the last one where its kernel is not known. */
size_t gt_device_function(const struct gt_device_phases *phases,
                          const struct gt_device_launch *launch);

/* How long the kernel of a launch ran, by CUPTI; -1: not known. */
int64_t gt_device_kernel_ns(const struct gt_trace *trace, const struct gt_device_launch *launch);

#endif

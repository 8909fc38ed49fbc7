/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_MEMORY_ACCOUNT_H
#define GT_ANALYSIS_MEMORY_ACCOUNT_H

#include <stdbool.h>

#include "base/array.h"
#include "model/trace.h"

struct gt_view;

/*
 * Whose the memory of a GPU was at one moment: what NVML said was in use, and who claims what of
 * it. No byte is claimed twice: blocks of pools are in what pools have reserved, and that is taken
 * off the allocations that it is made of.
 */
enum gt_account_item {
	GT_ACCOUNT_TOTAL,       /* what NVML says is in use, with what the driver reserves */
	GT_ACCOUNT_POOL_IN_USE, /* of a pool that hands out pieces */
	GT_ACCOUNT_POOL_CACHED,
	GT_ACCOUNT_ORDERED_IN_USE, /* of CUDA's own pools */
	GT_ACCOUNT_ORDERED_CACHED,
	GT_ACCOUNT_GRAPHS, /* memory of nodes of graphs */
	GT_ACCOUNT_LIBRARY,
	GT_ACCOUNT_PROGRAM,  /* any other allocation */
	GT_ACCOUNT_CONTEXTS, /* and the modules in them when NVML was first asked */
	GT_ACCOUNT_MODULES,  /* that were loaded later */
	GT_ACCOUNT_OTHERS,   /* other processes */
	GT_ACCOUNT_RESERVED,
	GT_ACCOUNT_RINGS,     /* of device events: gputrace's own */
	GT_ACCOUNT_REPLAY,    /* copies that CUPTI keeps of it while it runs a launch again */
	GT_ACCOUNT_UNCLAIMED, /* total - all claims; NAN where these are more */
};

/* For people. Constant. */
const char *gt_account_item_name(enum gt_account_item item);

struct gt_account_line {
	enum gt_account_item item;
	gt_id pool;         /* it is about, GT_NONE: none */
	const char *name;   /* of the library, constant; NULL: none */
	bool keeps;         /* it is one whose allocations pools hand out in pieces */
	double bytes;       /* NAN: not measured */
	gt_time time_ns;    /* when it was so much */
	const char *source; /* what says so, constant */
};

struct gt_account {
	gt_time at_ns;
	gt_time sampled_ns; /* when NVML was asked while as much was allocated; 0: it was not */
	double over_bytes;  /* that are claimed and not in the total; 0: none */
	const char *why;    /* that is, as far as it is known, constant; NULL: there are none */
	gt_array(struct gt_account_line) lines;
};

/*
 * Account of a device at a moment of the window: one at which NVML was asked, or any other. At any
 * other the total is what NVML said when as much was allocated as then. carriers:
 * gt_memory_carriers.
 */
void gt_account_init(struct gt_account *account, const struct gt_view *view, const gt_id *carriers,
                     gt_id device, gt_time at_ns);
void gt_account_release(struct gt_account *account);

/* The sum of the lines of one item; NAN where none is measured. */
double gt_account_sum(const struct gt_account *account, enum gt_account_item item);

/* The sum of all that is claimed. */
double gt_account_claimed(const struct gt_account *account);

/* Whether nothing was allocated or freed on the device between two moments. */
bool gt_account_is_same(const struct gt_view *view, gt_id device, gt_time a_ns, gt_time b_ns);

/*
 * When NVML said that most was in use, and when it was asked last, in the window; 0: it was not
 * asked.
 */
gt_time gt_account_peak_ns(const struct gt_view *view, gt_id device);
gt_time gt_account_last_ns(const struct gt_view *view, gt_id device);

#endif

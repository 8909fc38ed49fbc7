/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_TIME_MODULE_CALLS_H
#define GT_ANALYSIS_TIME_MODULE_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "model/trace.h"

struct gt_index;
struct gt_unit_times;
struct gt_view;

/*
 * The API calls of a view that waited for GPU code: in which a module or a function was loaded, or
 * which hand code over (cuLibraryLoadData), most of which is loaded later.
 */
struct gt_module_call {
	gt_id call;
	uint64_t modules;      /* that were loaded in it, */
	uint64_t not_measured; /* and of these, whose time is not known */
	double load_ns;        /* of the others */
	gt_time functions_ns;  /* the driver's own records of loading functions, after that */
	gt_time own_ns;        /* what gputrace took for the modules */
	bool reads;            /* it hands code over and loaded no module: all of it is reading */
};

struct gt_module_calls {
	struct gt_index *numbers; /* rows by their call */
	gt_array(struct gt_module_call) list;
};

void gt_module_calls_init(struct gt_module_calls *calls, const struct gt_view *view);
void gt_module_calls_release(struct gt_module_calls *calls);

/* Whether a call hands GPU code over: it loads a module or a library of them, or links one. */
bool gt_call_takes_code(const struct gt_trace *trace, const struct gt_api_call *call);

/* So much of a loading as is in the view. */
double gt_module_load_in(const struct gt_view *view, const struct gt_module *module);

/*
 * All that loading GPU code took in a view, by process: reading it, loading modules and functions
 * of them. Nothing where that was not recorded. The caller gives it to gt_unit_times_release.
 */
void gt_loading_times_init(struct gt_unit_times *times, const struct gt_view *view);

/* Start to end; 0 for one that did not return. */
gt_time gt_module_call_ns(const struct gt_trace *trace, gt_id call);

/* Whether the driver's record is one of loading functions that are needed for the first time. */
bool gt_overhead_loads_functions(const struct gt_overhead *overhead);

#endif

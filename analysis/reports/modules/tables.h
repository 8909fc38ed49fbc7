/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_REPORTS_MODULES_TABLES_H
#define GT_ANALYSIS_REPORTS_MODULES_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/kernels/module_uses.h"
#include "analysis/result.h"
#include "analysis/statistics/shares.h"
#include "analysis/time/module_calls.h"
#include "model/trace.h"
#include "model/view/view.h"

/* Tables of the report modules. Each is a section of the result. */

struct gt_module_tally {
	const struct gt_view *view;
	const struct gt_trace *trace;
	struct gt_module_uses uses;
	struct gt_module_calls calls;
};

struct gt_module_place {
	gt_id id;
	double first;  /* what is larger stands first */
	double second; /* of equal ones */
};

struct gt_module_sum {
	uint64_t modules;
	uint64_t different;
	uint64_t bytes;
	double load_ns;
	struct gt_share loading; /* when it loaded anything, in the window */
	double jit_ns;
	uint64_t not_measured;
	uint64_t calls;
	uint64_t functions;
	uint64_t used;
	gt_time own_ns;
	gt_time reading_ns;
	gt_time functions_ns;
};

/* Cells. */
void gt_module_add_hash(struct gt_result *result, const struct gt_module *module);
void gt_module_add_function_name(struct gt_result *result, const struct gt_module_tally *tally,
                                 gt_id id);

/* An order for qsort: what has larger amounts stands first. */
int gt_module_by_amounts(const void *a, const void *b);

/* A module is counted in. */
void gt_module_add_to_sum(struct gt_module_sum *sum, const struct gt_module_tally *tally,
                          size_t id);
void gt_module_add_processes(const struct gt_module_tally *tally, struct gt_result *result);
void gt_module_add_calls(const struct gt_module_tally *tally, struct gt_result *result);

/* Those that were launched, the busiest first; what else is in kept modules has no figures. */
void gt_module_add_functions(const struct gt_module_tally *tally, struct gt_result *result);

#endif

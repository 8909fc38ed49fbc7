/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_KERNELS_MODULE_USES_H
#define GT_ANALYSIS_KERNELS_MODULE_USES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/trace.h"
#include "model/view/view.h"

/* How much of each module and function ran, and which modules a view shows. */

/* Kernels of one function that ran. */
struct gt_function_use {
	uint64_t kernels;
	uint64_t kernel_ns;
	gt_id shape; /* of one of them */
};

/* Known facts of one loading. */
struct gt_module_use {
	uint64_t kernels;
	uint64_t kernel_ns;
	uint64_t used;  /* functions that were launched */
	uint64_t there; /* functions that there are rows of */
	gt_id main;     /* its function that took longest; GT_NONE: none was launched */
};

struct gt_module_uses {
	const struct gt_view *view;
	const struct gt_trace *trace;
	struct gt_function_use *functions; /* by row of functions */
	struct gt_module_use *modules;     /* by row of modules */
	uint64_t kernels_elsewhere;        /* of modules that are not known */
};

/* The view and its trace must outlive it. */
void gt_module_uses_init(struct gt_module_uses *uses, const struct gt_view *view);
void gt_module_uses_release(struct gt_module_uses *uses);

/* Whether a module was loaded in the window of the view. */
bool gt_module_is_loaded_in_view(const struct gt_module_uses *uses, size_t id);

/* Whether it was, or kernels of it are in the view. */
bool gt_module_is_shown(const struct gt_module_uses *uses, size_t id);

/* Loaded in a call that is not recorded by itself, or of which the filter left none. */
bool gt_module_is_unrecorded(const struct gt_module_uses *uses, size_t id);

#endif

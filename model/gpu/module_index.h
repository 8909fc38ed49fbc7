/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_GPU_MODULE_INDEX_H
#define GT_MODEL_GPU_MODULE_INDEX_H

#include <stddef.h>

#include "model/trace.h"

enum { GT_MODULE_ARCH_SIZE = 20 };

/* "sm_90a": what its machine code is for, "" where that is not known. Returns text. */
const char *gt_module_arch(const struct gt_module *module, char text[GT_MODULE_ARCH_SIZE]);

/* When its loading began, at the earliest; when it had been loaded where that is not known. */
gt_time gt_module_began(const struct gt_module *module);

/*
 * Which function of which module a kernel is an execution of. Kernels name their function and their
 * context alone; where several modules of the context have a function of that name at that time,
 * nobody can tell, unless they are the same module loaded again.
 */
struct gt_module_entry {
	gt_id context;
	gt_string name;
	gt_time loaded_ns;
	gt_id function;
};

struct gt_module_index {
	const struct gt_trace *trace;
	struct gt_module_entry *entries; /* functions with a name, sorted by the first three */
	size_t count;
};

void gt_module_index_init(struct gt_module_index *index, const struct gt_trace *trace);
void gt_module_index_release(struct gt_module_index *index);

/*
 * The row of functions; GT_NONE: not known. Among different modules that were read, the only one
 * whose function takes what the kernel took is chosen.
 */
gt_id gt_module_index_find(const struct gt_module_index *index, const struct gt_kernel *kernel);

/*
 * A row of functions that tells where a function of that name was written, if all that are in the
 * context and tell say the same: a kernel that is compiled in several ways. GT_NONE: none does.
 */
gt_id gt_module_index_source(const struct gt_module_index *index, gt_id context, gt_string name);

#endif

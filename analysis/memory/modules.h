/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_MEMORY_MODULES_H
#define GT_ANALYSIS_MEMORY_MODULES_H

#include <stdbool.h>

#include "model/trace.h"

struct gt_view;

/* NVML's answers come so long after the time of the sample, at most, as seen on an H200. */
#define GT_NVML_READ_NS 20000000

/*
 * Bytes of a GPU's memory that modules took which were loaded from one moment to another: by how
 * much more was in use than was allocated, from each sample to the next between which one was
 * loaded into a context there. CUDA itself takes some then, for its first kernel most of all, which
 * is in it. 0: none was loaded, or NVML was not asked twice. from_bytes: what was in use at from_ns
 * at least, where other readings of that sample came later; 0: there are none. Samples that were
 * taken while a launch was replayed say nothing of modules.
 */
double gt_memory_of_modules(const struct gt_view *view, gt_id device, gt_time from_ns,
                            double from_bytes, gt_time to_ns);

/*
 * Whether a launch was being run several times for its counters when NVML was asked: CUPTI has
 * copies then, on the GPU, of what the launch may write.
 */
bool gt_memory_is_replayed(const struct gt_trace *trace, gt_id device, gt_time at_ns);

#endif

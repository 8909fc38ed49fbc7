/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_REPORTS_TOPOLOGY_TABLES_H
#define GT_ANALYSIS_REPORTS_TOPOLOGY_TABLES_H

#include "analysis/result.h"
#include "model/trace.h"

/* Tables of the report topology. Each is a section of the result. */

/* "GPU 3", in text, which is returned. */
const char *gt_topology_gpu_name(const struct gt_pci_device *device, char *text, size_t size);

/* Machines and what is plugged into them, as it hangs together. */
void gt_topology_add_tree(const struct gt_trace *trace, struct gt_result *result);

/* Two GPUs each. */
void gt_topology_add_pairs(const struct gt_trace *trace, struct gt_result *result);

/* The same with a row for each GPU. */
void gt_topology_add_matrix(const struct gt_trace *trace, struct gt_result *result);

#endif

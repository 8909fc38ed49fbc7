/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_GPU_TOPOLOGY_H
#define GT_MODEL_GPU_TOPOLOGY_H

#include "model/trace.h"

/*
 * Connections of the GPUs of a trace, where gputrace run asked their machines (tables numa_nodes,
 * pci_devices, gpu_pairs). Rows point into the trace. Rates are bytes a second one way, as the
 * driver states them of the links.
 */

/* The GPU as its machine has it; NULL: not known. device may be GT_NONE. */
const struct gt_pci_device *gt_topology_of(const struct gt_trace *trace, gt_id device);

/* How two GPUs reach each other, in either order; NULL: not known. */
const struct gt_gpu_pair *gt_topology_pair(const struct gt_trace *trace, gt_id device, gt_id peer);

/* All NVLinks between the two together; 0: there are none, NAN: not known. */
double gt_topology_pair_rate(const struct gt_gpu_pair *pair);

/* All NVLinks of a GPU together, whatever they lead to; 0: there are none, NAN: not known. */
double gt_topology_nvlink_rate(const struct gt_pci_device *gpu);

/* All NVLink-C2C to the host's processor together; 0: there are none, NAN: not known. */
double gt_topology_c2c_rate(const struct gt_pci_device *gpu);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_NVTX_MEMORY_H
#define GT_COLLECTOR_NVTX_MEMORY_H

struct gt_nvtx_names;

/* Makes rows of memory_regions of what a capture has of heaps and regions; sorts that by time. */
void gt_nvtx_memory_add(struct gt_nvtx_names *names);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_NVTX_MEMORY_H
#define GT_INJECTION_NVTX_MEMORY_H

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExtMem.h>

/*
 * A program's own memory, as it tells NVTX: heaps, regions of them and their names. Permissions,
 * which are for tools that check accesses, are not recorded.
 */
nvtxMemHeapHandle_t gt_nvtx_heap_register(nvtxDomainHandle_t domain, const nvtxMemHeapDesc_t *what);
void gt_nvtx_heap_unregister(nvtxDomainHandle_t domain, nvtxMemHeapHandle_t heap);
void gt_nvtx_heap_reset(nvtxDomainHandle_t domain, nvtxMemHeapHandle_t heap);
void gt_nvtx_regions_register(nvtxDomainHandle_t domain, const nvtxMemRegionsRegisterBatch_t *what);
void gt_nvtx_regions_resize(nvtxDomainHandle_t domain, const nvtxMemRegionsResizeBatch_t *what);
void gt_nvtx_regions_unregister(nvtxDomainHandle_t domain,
                                const nvtxMemRegionsUnregisterBatch_t *what);
void gt_nvtx_regions_name(nvtxDomainHandle_t domain, const nvtxMemRegionsNameBatch_t *what);

#endif

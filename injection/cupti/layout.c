/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/cupti/layout.h"

#include <stddef.h>

#include <cupti.h>

#include "format/activity.h"
#include "injection/cupti/cupti.h"

/* The latest struct of each kind; CUPTI 13.0's headers. Earlier ones are beginnings of it. */
typedef CUpti_ActivityKernel10 raw_kernel;
typedef CUpti_ActivityMemcpy6 raw_memcpy;
typedef CUpti_ActivityMemcpyPtoP4 raw_memcpy2;
typedef CUpti_ActivityMemset4 raw_memset;
typedef CUpti_ActivitySynchronization2 raw_synchronization;
typedef CUpti_ActivityOverhead3 raw_overhead;
typedef CUpti_ActivityDevice5 raw_device;
typedef CUpti_ActivityContext3 raw_context;
typedef CUpti_ActivityStream raw_stream;

_Static_assert(offsetof(CUpti_ActivityKernel10, clusterZ) ==
                       offsetof(CUpti_ActivityKernel9, clusterZ),
               "a kernel record of CUDA 12.4 is the beginning of a later one");
_Static_assert(offsetof(CUpti_ActivityMemcpy6, graphId) == offsetof(CUpti_ActivityMemcpy5, graphId),
               "so is a memcpy record");
_Static_assert(offsetof(CUpti_ActivitySynchronization2, cudaEventId) ==
                       offsetof(CUpti_ActivitySynchronization, cudaEventId),
               "so is a synchronization record");
_Static_assert(offsetof(CUpti_ActivityOverhead3, correlationId) ==
                       offsetof(CUpti_ActivityOverhead2, correlationId),
               "so is an overhead record");

/* A struct got its present size with CUPTI since. */
static void shrink(struct gt_activity_layout *layout, enum gt_cupti_activity activity,
                   uint32_t size, uint32_t version, uint32_t since)
{
	if (version < since)
		layout->sizes[activity] = size;
}

void gt_layout_fill(struct gt_activity_layout *layout, uint32_t cupti_version)
{
	layout->cupti_version = cupti_version;
#define ACTIVITY(name, kind, record, how) layout->sizes[GT_ACTIVITY_##name] = sizeof(raw_##name);
#define RAW(name, field, member)                                                                   \
	layout->places[GT_RAW_##name##_##field] =                                                  \
		(struct gt_raw_place){.offset = offsetof(raw_##name, member),                      \
	                              .width = sizeof(((raw_##name *)NULL)->member)};
#include "format/activity.def"

	shrink(layout, GT_ACTIVITY_kernel, sizeof(CUpti_ActivityKernel9), cupti_version,
	       GT_CUPTI_13_0);
	shrink(layout, GT_ACTIVITY_memcpy, sizeof(CUpti_ActivityMemcpy5), cupti_version,
	       GT_CUPTI_12_8);
	shrink(layout, GT_ACTIVITY_synchronization, sizeof(CUpti_ActivitySynchronization),
	       cupti_version, GT_CUPTI_12_8);
	if (cupti_version < GT_CUPTI_13_0)
		layout->places[GT_RAW_kernel_device_launched] = (struct gt_raw_place){0};
}

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_TRAFFIC_HOST_RATES_H
#define GT_ANALYSIS_TRAFFIC_HOST_RATES_H

#include <stdbool.h>

#include "model/trace.h"

/* How fast copies between pinned memory of the host and a GPU are. */
struct gt_host_rate {
	double bytes_per_second; /* NAN: not known */
	bool measured;           /* false: the peak of the PCIe link, which no copy reaches */
};

/*
 * In one direction, enum gt_copy_kind: the best that was measured, of large copies in the recording
 * and of gputrace calibrate (model/gpu/ceilings.h); else the link's peak.
 */
struct gt_host_rate gt_host_rate_of(const struct gt_trace *trace, gt_id device, gt_count kind);

#endif

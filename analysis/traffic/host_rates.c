/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/traffic/host_rates.h"

#include <math.h>
#include <stdint.h>

#include "analysis/figures.h"
#include "analysis/traffic/peak.h"
#include "model/gpu/ceilings.h"
#include "model/names.h"
#include "model/work/timed.h"

enum { LARGE_BYTES = 4 << 20 /* at 55 GB/s 76 us: starting such a copy takes little of that */ };

static double rate_in_recording(const struct gt_trace *trace, gt_id device, gt_count kind)
{
	double best = 0;

	gt_array_each(const struct gt_copy, copy, &trace->copies) {
		const gt_count host =
			kind == GT_COPY_HOST_TO_DEVICE ? copy->src_kind : copy->dst_kind;

		if (copy->device == device && copy->kind == kind && host == GT_MEMORY_PINNED &&
		    copy->size_bytes >= LARGE_BYTES &&
		    gt_timed(GT_TIMES_ANY, copy->flags, copy->start_ns, copy->end_ns) &&
		    copy->end_ns > copy->start_ns)
			best = fmax(best,
			            gt_bytes_per_second((double)copy->size_bytes,
			                                (double)(copy->end_ns - copy->start_ns)));
	}
	return best;
}

struct gt_host_rate gt_host_rate_of(const struct gt_trace *trace, gt_id device, gt_count kind)
{
	const struct gt_ceiling_pair ceilings =
		gt_ceilings_of(trace, device,
	                       kind == GT_COPY_HOST_TO_DEVICE ? GT_CEILING_pcie_to_device_pinned
	                                                      : GT_CEILING_pcie_to_host_pinned);
	double best = rate_in_recording(trace, device, kind);

	if (ceilings.measured)
		best = fmax(best, ceilings.measured->value);
	if (best > 0)
		return (struct gt_host_rate){best, true};
	return (struct gt_host_rate){gt_peak_of_pcie(&trace->devices.rows[device]), false};
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "model/gpu/topology.h"

#include <math.h>
#include <stddef.h>

#include "base/array.h"

static gt_id row_of(const struct gt_trace *trace, gt_id device)
{
	for (gt_id row = 0; row < trace->pci_devices.count; row++)
		if (device != GT_NONE && trace->pci_devices.rows[row].device == device)
			return row;
	return GT_NONE;
}

const struct gt_pci_device *gt_topology_of(const struct gt_trace *trace, gt_id device)
{
	const gt_id row = row_of(trace, device);

	return row == GT_NONE ? NULL : &trace->pci_devices.rows[row];
}

const struct gt_gpu_pair *gt_topology_pair(const struct gt_trace *trace, gt_id device, gt_id peer)
{
	const gt_id one = row_of(trace, device);
	const gt_id other = row_of(trace, peer);

	if (one == GT_NONE || other == GT_NONE)
		return NULL;
	gt_array_each(const struct gt_gpu_pair, pair, &trace->gpu_pairs)
		if ((pair->from == one && pair->to == other) ||
		    (pair->from == other && pair->to == one))
			return pair;
	return NULL;
}

static double rate_of(gt_code links, gt_size bytes_per_second)
{
	if (links == 0)
		return 0;
	return links > 0 && bytes_per_second > 0 ? (double)links * (double)bytes_per_second : NAN;
}

double gt_topology_pair_rate(const struct gt_gpu_pair *pair)
{
	return rate_of(pair->nvlinks, pair->nvlink_bytes_per_second);
}

double gt_topology_nvlink_rate(const struct gt_pci_device *gpu)
{
	return rate_of(gpu->nvlinks, gpu->nvlink_bytes_per_second);
}

double gt_topology_c2c_rate(const struct gt_pci_device *gpu)
{
	return rate_of((gt_code)gpu->c2c_links, gpu->c2c_bytes_per_second);
}

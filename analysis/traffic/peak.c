/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/traffic/peak.h"

#include "model/gpu/data_sheet.h"
#include "model/trace.h"

double gt_peak_of_memory(const struct gt_device *device)
{
	return gt_data_sheet(device, GT_CEILING_dram_copy);
}

double gt_peak_of_pcie(const struct gt_device *device)
{
	return gt_data_sheet(device, GT_CEILING_pcie_to_device_pinned);
}

double gt_peak_of_pcie_link(unsigned generation, unsigned lane_count)
{
	const struct gt_device device = {.pcie_generation = generation, .pcie_width = lane_count};

	return gt_peak_of_pcie(&device);
}

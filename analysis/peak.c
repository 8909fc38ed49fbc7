/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/peak.h"

#include "model/data_sheet.h"

double gt_peak_of_memory(const struct gt_device *device)
{
	return gt_data_sheet(device, GT_CEILING_dram_copy);
}

double gt_peak_of_pcie(const struct gt_device *device)
{
	return gt_data_sheet(device, GT_CEILING_pcie_to_device_pinned);
}

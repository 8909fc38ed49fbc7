/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_GPU_DATA_SHEET_H
#define GT_MODEL_GPU_DATA_SHEET_H

#include "model/gpu/ceilings.h"

struct gt_device;

/*
 * Theoretical ceiling of a GPU by what the driver says of it: clocks at their peak, width of its
 * memory bus, multiprocessors and what each does in a cycle (model/gpu/data_sheet.def), lanes of
 * PCIe. NAN: its maker does not say, or the driver did not.
 */
double gt_data_sheet(const struct gt_device *device, enum gt_ceiling_name name);

#endif

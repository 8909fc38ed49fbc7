/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/peak.h"

#include <math.h>
#include <stddef.h>

#include "base/array.h"
#include "model/trace.h"

/*
 * GDDR and HBM move data on both edges of the clock that the driver reports, so a bus of w bits
 * moves 2 x clock x w / 8 bytes a second. H200: 2 x 3.201 GHz x 6016 / 8 = 4.8 TB/s.
 */
double gt_peak_of_memory(const struct gt_device *device)
{
	const double hertz = 1000.0 * device->memory_clock_khz;
	const double bus_bytes = device->memory_bus_bits / 8.0;

	if (device->memory_clock_khz == 0 || device->memory_bus_bits == 0)
		return NAN;
	return 2 * hertz * bus_bytes;
}

double gt_peak_of_pcie_link(unsigned generation, unsigned lane_count)
{
	/*
	 * PCI Express Base Specification: transfers a second of one lane, a bit each, and how much
	 * of them is data. 1 and 2 send 8 bits as 10, 3 to 5 send 128 as 130, 6 sends flits of 256
	 * bytes of which 236 carry packets (the rest is link layer, checksum and error correction).
	 */
	static const struct {
		double transfers;
		double data;
	} lanes[] = {
		[1] = {2.5e9, 8.0 / 10},   [2] = {5e9, 8.0 / 10},     [3] = {8e9, 128.0 / 130},
		[4] = {16e9, 128.0 / 130}, [5] = {32e9, 128.0 / 130}, [6] = {64e9, 236.0 / 256},
	};

	if (generation == 0 || generation >= GT_COUNT_OF(lanes) || lane_count == 0)
		return NAN;
	return lanes[generation].transfers * lanes[generation].data / 8 * lane_count;
}

double gt_peak_of_pcie(const struct gt_device *device)
{
	return gt_peak_of_pcie_link(device->pcie_generation, device->pcie_width);
}

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_TRAFFIC_PEAK_H
#define GT_ANALYSIS_TRAFFIC_PEAK_H

struct gt_device;

/*
 * How fast bytes can move at best, by the figures of the hardware. No copy reaches these: they
 * are what an efficiency is a percentage of. NAN when the device's row does not say.
 */

/* Bytes a second that device memory reads and writes together. */
double gt_peak_of_memory(const struct gt_device *device);

/* Bytes a second over the PCIe link in one direction, its line code already taken off. */
double gt_peak_of_pcie(const struct gt_device *device);

/* The same of a link of so many lanes; NAN when either number is 0 or not known. */
double gt_peak_of_pcie_link(unsigned generation, unsigned lane_count);

#endif

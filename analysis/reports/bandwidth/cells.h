/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_REPORTS_BANDWIDTH_CELLS_H
#define GT_ANALYSIS_REPORTS_BANDWIDTH_CELLS_H

#include <stdint.h>

#include "analysis/result.h"
#include "analysis/traffic/roofs.h"
#include "analysis/traffic/traffic.h"
#include "base/array.h"
#include "model/trace.h"

/* Rows and cells that the tables of the report bandwidth have in common. */

/* How fast bytes moved, and against what. */
#define GT_BANDWIDTH_RATES                                                                         \
	{"achieved_bytes_per_second", GT_UNIT_BYTES_PER_SECOND, "Read and written, while it ran",  \
	 GT_WORTH_KEY},                                                                            \
		{"theoretical_percent", GT_UNIT_PERCENT,                                           \
	         "Share of the data sheet's bandwidth of device memory", GT_WORTH_KEY},            \
		{"measured_percent", GT_UNIT_PERCENT,                                              \
	         "Share of the highest bandwidth that was measured of device memory",              \
	         GT_WORTH_KEY},                                                                    \
	{                                                                                          \
		"over_declared", GT_UNIT_REAL,                                                     \
			"Measured bytes / bytes that the program declares that it must move",      \
			GT_WORTH_ORDINARY                                                          \
	}
#define GT_BANDWIDTH_SOURCES                                                                       \
	{"covered_percent", GT_UNIT_PERCENT,                                                       \
	 "Share of its executions, by PM samples of its time, whose bytes were measured",          \
	 GT_WORTH_LITTLE},                                                                         \
		{"peak", GT_UNIT_TEXT, "Ceiling that measured_percent is of, and where from",      \
	         GT_WORTH_LEAST},                                                                  \
	{                                                                                          \
		"source", GT_UNIT_TEXT, "Where its bytes come from, or why there are none",        \
			GT_WORTH_PROSE                                                             \
	}

/* A row of a table while they are put in order. */
struct gt_bandwidth_row {
	gt_id group;
	double time_ns;
	uint64_t calls;
};

/* The groups in which kernels ran, those with most time first. */
struct gt_bandwidth_rows {
	gt_array(struct gt_bandwidth_row) list;
};

/* A group, where kernels ran in it. */
void gt_bandwidth_rows_add(struct gt_bandwidth_rows *rows, const struct gt_traffic *traffic,
                           size_t group);

/* Leaves the first most of them. */
void gt_bandwidth_rows_sort(struct gt_bandwidth_rows *rows, struct gt_result *result,
                            uint64_t most);

/* Both percentages. */
void gt_bandwidth_add_shares(struct gt_result *result, const struct gt_roof *roof, double rate);

/* The cells from GT_BANDWIDTH_RATES on. */
void gt_bandwidth_add_rates(struct gt_result *result, const struct gt_traffic_facts *facts,
                            gt_id device, const struct gt_traffic *traffic);
void gt_bandwidth_add_time(struct gt_result *result, const struct gt_traffic *traffic);

#endif

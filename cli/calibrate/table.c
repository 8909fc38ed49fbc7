/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/calibrate/table.h"

#include <math.h>
#include <string.h>

#include "analysis/result.h"
#include "model/gpu/calibration.h"
#include "model/gpu/data_sheet.h"

static const struct gt_heading device_headings[] = {
	{"device", GT_UNIT_COUNT, "Number that the other tables name it by", GT_WORTH_KEY},
	{"name", GT_UNIT_TEXT, "Product name", GT_WORTH_KEY},
	{"compute_capability", GT_UNIT_TEXT, "Major and minor version"},
	{"sm_count", GT_UNIT_COUNT, "Multiprocessors"},
	{"sm_mhz", GT_UNIT_REAL, "Clock of the multiprocessors at its peak"},
	{"memory_mhz", GT_UNIT_REAL, "Clock of the memory at its peak"},
	{"driver", GT_UNIT_TEXT, "Version of the driver"},
	{"cuda", GT_UNIT_TEXT, "Version of CUDA that the driver knows", GT_WORTH_LITTLE},
	{"date", GT_UNIT_TEXT, "When it was measured, UTC"},
	{"host", GT_UNIT_TEXT, "Machine it was measured on", GT_WORTH_LEAST},
	{"uuid", GT_UNIT_TEXT, "As nvidia-smi prints it", GT_WORTH_LITTLE},
};

#define COMMON_BEFORE                                                                              \
	{"device", GT_UNIT_COUNT, "Number in devices", GT_WORTH_KEY},                              \
	{                                                                                          \
		"ceiling", GT_UNIT_TEXT, "Name of the ceiling", GT_WORTH_KEY                       \
	}

#define COMMON_BEHIND                                                                              \
	{"spread_percent", GT_UNIT_PERCENT,                                                        \
	 "By which the last seven measurements differed, of the value"},                           \
		{"data_sheet_percent", GT_UNIT_PERCENT,                                            \
	         "Share of the GPU's peak by its clocks and widths, as the driver tells them"},    \
		{"sm_mhz", GT_UNIT_REAL, "Clock of the multiprocessors meanwhile",                 \
	         GT_WORTH_LITTLE},                                                                 \
	{                                                                                          \
		"how", GT_UNIT_TEXT, "By which instruction or call; of what was not measured why", \
			GT_WORTH_PROSE                                                             \
	}

static const struct gt_heading rate_headings[] = {
	COMMON_BEFORE,
	{"peer", GT_UNIT_TEXT, "UUID of the other GPU, of a link between two", GT_WORTH_LITTLE},
	{"bytes_per_second", GT_UNIT_BYTES_PER_SECOND, "The most that was measured"},
	COMMON_BEHIND,
};

static const struct gt_heading arithmetic_headings[] = {
	COMMON_BEFORE,
	{"tflops", GT_UNIT_REAL,
         "The most that was measured, 10^12 FLOP/s; a multiplication with an addition is two"},
	COMMON_BEHIND,
};

static const struct gt_heading latency_headings[] = {
	COMMON_BEFORE,
	{"time_ns", GT_UNIT_NS, "The least that was measured"},
	{"spread_percent", GT_UNIT_PERCENT,
         "By which the last seven measurements differed, of the value"},
	{"how", GT_UNIT_TEXT, "By which call, and what is counted", GT_WORTH_PROSE},
};

static const char *const units[GT_CEILINGS] = {
#define CEILING(name, unit, group, help) unit,
#include "model/gpu/ceilings.def"
};

static void add_mhz(struct gt_result *result, uint32_t khz)
{
	gt_result_add_real(result, khz ? khz / 1e3 : NAN);
}

static void add_devices(struct gt_result *result, const struct gt_calibrations *calibrations)
{
	gt_result_begin(result, "devices", device_headings, GT_COUNT_OF(device_headings));
	for (size_t i = 0; i < calibrations->list.count; i++) {
		const struct gt_calibration *one = &calibrations->list.rows[i];

		gt_result_add_count(result, (int64_t)i);
		gt_result_add_copy(result, one->device);
		gt_result_add_format(result, "%u.%u", one->cc_major, one->cc_minor);
		gt_result_add_count_if(result, one->sm_count > 0, one->sm_count);
		add_mhz(result, one->sm_clock_khz);
		add_mhz(result, one->memory_clock_khz);
		gt_result_add_copy(result, one->driver);
		gt_result_add_copy(result, one->cuda);
		gt_result_add_format(result, "%.19s", one->date);
		gt_result_add_copy(result, one->host);
		gt_result_add_copy(result, one->uuid);
	}
}

static double data_sheet_percent(const struct gt_calibration *calibration,
                                 const struct gt_calibrated *ceiling)
{
	const struct gt_device device = {
		.cc_major = calibration->cc_major,
		.cc_minor = calibration->cc_minor,
		.sm_count = calibration->sm_count,
		.sm_clock_khz = calibration->sm_clock_khz,
		.memory_clock_khz = calibration->memory_clock_khz,
		.memory_bus_bits = calibration->memory_bus_bits,
	};

	return 100 * ceiling->value / gt_data_sheet(&device, ceiling->name);
}

static void add_ceiling(struct gt_result *result, const struct gt_calibrations *calibrations,
                        size_t row, const struct gt_calibrated *ceiling)
{
	const char *unit = units[ceiling->name];

	gt_result_add_count(result, (int64_t)row);
	gt_result_add_text(result, gt_ceiling_names[ceiling->name]);
	if (strcmp(unit, "bytes/s") == 0)
		gt_result_add_copy(result, ceiling->peer);
	if (strcmp(unit, "ns") == 0)
		gt_result_add_count_if(result, isfinite(ceiling->value),
		                       isfinite(ceiling->value) ? llround(ceiling->value) : 0);
	else
		gt_result_add_real(result, strcmp(unit, "FLOP/s") == 0 ? ceiling->value / 1e12
		                                                       : ceiling->value);
	gt_result_add_real(result, 100 * ceiling->spread);
	if (strcmp(unit, "ns") != 0) {
		gt_result_add_real(result,
		                   data_sheet_percent(&calibrations->list.rows[row], ceiling));
		gt_result_add_real(result, ceiling->sm_mhz);
	}
	if (isfinite(ceiling->value))
		gt_result_add_copy(result, ceiling->how);
	else
		gt_result_add_format(result, "not measured: %s", ceiling->how);
}

static void add_ceilings(struct gt_result *result, const struct gt_calibrations *calibrations,
                         const char *unit)
{
	for (size_t i = 0; i < calibrations->list.count; i++)
		gt_array_each(const struct gt_calibrated, ceiling, &calibrations->list.rows[i].list)
			if (strcmp(units[ceiling->name], unit) == 0)
				add_ceiling(result, calibrations, i, ceiling);
}

void gt_calibrate_fill(struct gt_result *result, const struct gt_calibrations *calibrations)
{
	add_devices(result, calibrations);
	gt_result_begin(result, "rates", rate_headings, GT_COUNT_OF(rate_headings));
	gt_result_whole(result);
	add_ceilings(result, calibrations, "bytes/s");
	gt_result_begin(result, "arithmetic", arithmetic_headings,
	                GT_COUNT_OF(arithmetic_headings));
	gt_result_whole(result);
	add_ceilings(result, calibrations, "FLOP/s");
	gt_result_begin(result, "latencies", latency_headings, GT_COUNT_OF(latency_headings));
	gt_result_whole(result);
	add_ceilings(result, calibrations, "ns");
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/bandwidth/parts.h"

#include <math.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/ranges/operation_totals.h"
#include "analysis/reports/bandwidth/cells.h"
#include "base/array.h"
#include "model/ranges/folds.h"
#include "model/ranges/owners.h"
#include "model/ranges/ranges.h"
#include "model/trace.h"

#define OF_PARTS                                                                                   \
	{"calls", GT_UNIT_COUNT, "Executions of kernels that ended, profiled ones too",            \
	 GT_WORTH_ORDINARY},                                                                       \
		{"total_ns", GT_UNIT_NS, "How long they ran; profiled ones as their counters say", \
	         GT_WORTH_KEY},                                                                    \
		{"read_bytes", GT_UNIT_BYTES,                                                      \
	         "Read from device memory, as far as it was measured", GT_WORTH_ORDINARY},         \
		{"write_bytes", GT_UNIT_BYTES,                                                     \
	         "Written to device memory, as far as it was measured", GT_WORTH_ORDINARY},        \
		GT_BANDWIDTH_RATES, GT_BANDWIDTH_SOURCES

static const struct gt_heading range_headings[] = {
	{"range", GT_UNIT_TEXT, "Path of NVTX ranges, with what is in ranges inside it",
         GT_WORTH_NAME},
	OF_PARTS,
};

static const struct gt_heading op_headings[] = {
	{"op", GT_UNIT_TEXT, "Operation of a framework", GT_WORTH_NAME},
	{"around", GT_UNIT_TEXT, "Its module of HLO, or of backward the forward operation",
         GT_WORTH_LEAST},
	OF_PARTS,
};

/* The cells of OF_PARTS. */
static void add_part(struct gt_result *result, const struct gt_traffic_facts *facts, gt_id device,
                     const struct gt_traffic *traffic)
{
	const struct gt_traffic_bytes bytes = gt_traffic_bytes(traffic);
	const struct gt_traffic_part *part =
		bytes.source == GT_TRAFFIC_UNKNOWN ? NULL : &traffic->parts[bytes.source];

	gt_bandwidth_add_time(result, traffic);
	gt_add_bytes(result, part ? part->read_bytes : NAN);
	gt_add_bytes(result, part ? part->write_bytes : NAN);
	gt_bandwidth_add_rates(result, facts, device, traffic);
}

/* Groups of kernels that are no places: ranges or operations. */
struct parts {
	struct gt_sampled_groups groups;
	gt_id *of_kernel;
	gt_id *outer;
	gt_id *devices; /* by group: the GPU that all its kernels ran on; GT_NONE: several */
	size_t count;
};

#define NO_DEVICE_YET (GT_NONE - 1)

static void parts_init(struct parts *parts, const struct gt_trace *trace, size_t count)
{
	*parts = (struct parts){
		.of_kernel = gt_allocate(trace->kernels.count * sizeof(gt_id)),
		.outer = gt_allocate(count * sizeof(gt_id)),
		.devices = gt_allocate(count * sizeof(gt_id)),
		.count = count,
	};
	memset(parts->of_kernel, 0xff, trace->kernels.count * sizeof(gt_id));
	memset(parts->outer, 0xff, count * sizeof(gt_id));
	parts->groups = (struct gt_sampled_groups){parts->of_kernel, parts->outer};
}

static void parts_release(struct parts *parts)
{
	gt_array_free(parts->of_kernel);
	gt_array_free(parts->outer);
	gt_array_free(parts->devices);
}

static void join_device(gt_id *into, gt_id device)
{
	if (*into == NO_DEVICE_YET)
		*into = device;
	else if (device != NO_DEVICE_YET && device != *into)
		*into = GT_NONE;
}

static void find_devices(struct parts *parts, const struct gt_trace *trace)
{
	for (size_t i = 0; i < parts->count; i++)
		parts->devices[i] = NO_DEVICE_YET;
	for (size_t i = 0; i < trace->kernels.count; i++)
		if (parts->of_kernel[i] != GT_NONE)
			join_device(&parts->devices[parts->of_kernel[i]],
			            trace->kernels.rows[i].device);
	for (size_t i = parts->count; i-- > 0;)
		if (parts->outer[i] != GT_NONE)
			join_device(&parts->devices[parts->outer[i]], parts->devices[i]);
}

/* Writes the names of a row. */
typedef void add_names(struct gt_result *result, const void *of, gt_id group);

static void add_parts(struct gt_result *result, struct gt_traffic_facts *facts, struct parts *parts,
                      uint64_t most, add_names *names, const void *of)
{
	struct gt_traffic *traffics = gt_traffic_of(facts, &parts->groups, parts->count);
	struct gt_bandwidth_rows rows = {0};

	find_devices(parts, facts->trace);
	for (size_t i = 0; i < parts->count; i++)
		gt_bandwidth_rows_add(&rows, &traffics[i], i);
	gt_bandwidth_rows_sort(&rows, result, most);
	gt_array_each(const struct gt_bandwidth_row, row, &rows.list) {
		names(result, of, row->group);
		add_part(result, facts, parts->devices[row->group], &traffics[row->group]);
	}
	gt_array_release(&rows.list);
	gt_array_free(traffics);
}

static void add_range_name(struct gt_result *result, const void *of, gt_id group)
{
	char text[GT_RANGE_PATH_BYTES];

	gt_range_path_text(of, group, text);
	gt_result_add_format(result, "%s", text);
}

void gt_bandwidth_add_ranges(struct gt_result *result, struct gt_traffic_facts *facts,
                             uint64_t most)
{
	const struct gt_trace *trace = facts->trace;
	struct gt_range_folds folds;
	struct gt_ranges ranges;
	struct parts parts;

	gt_range_folds_init(&folds, trace, GT_FOLD_AUTO);
	gt_ranges_init_folded(&ranges, trace, &folds);
	parts_init(&parts, trace, ranges.paths.count);
	for (size_t i = 0; i < ranges.paths.count; i++)
		parts.outer[i] = ranges.paths.rows[i].outer;
	for (gt_id i = 0; i < trace->kernels.count; i++)
		parts.of_kernel[i] =
			gt_ranges_path(&ranges, gt_owner_of(trace, GT_ACTIVITY_KERNEL, i).range);
	gt_result_begin(result, "ranges", range_headings, GT_COUNT_OF(range_headings));
	add_parts(result, facts, &parts, most, add_range_name, &ranges);
	parts_release(&parts);
	gt_ranges_release(&ranges);
	gt_range_folds_release(&folds);
}

static void add_op_name(struct gt_result *result, const void *of, gt_id group)
{
	const struct gt_operation_totals *totals = of;
	const struct gt_operation_total *row = &totals->rows.rows[group];

	gt_result_add_format(result, "%s", row->name);
	gt_result_add_copy(result, row->around);
}

/* The innermost operation that a kernel was asked for in, or instruction of HLO; GT_NONE: none. */
static gt_id op_of(const struct gt_operation_totals *totals, gt_id kernel)
{
	const struct gt_owner owner =
		gt_owner_sure(gt_owner_of(totals->trace, GT_ACTIVITY_KERNEL, kernel));
	gt_id range = owner.range;

	while (range < totals->trace->ranges.count) {
		const gt_id group = totals->scopes[range].group;

		if (group != GT_NONE && (totals->rows.rows[group].kind == GT_OPERATION_OP ||
		                         totals->rows.rows[group].kind == GT_OPERATION_HLO))
			return group;
		range = gt_ranges_around_sure(&totals->ranges, range, owner.at_ns);
	}
	return GT_NONE;
}

void gt_bandwidth_add_ops(struct gt_result *result, struct gt_traffic_facts *facts, uint64_t most)
{
	const struct gt_trace *trace = facts->trace;
	struct gt_operation_totals totals;
	struct parts parts;

	gt_operation_totals_init(&totals, trace, false);
	parts_init(&parts, trace, totals.rows.count);
	for (gt_id i = 0; i < trace->kernels.count; i++)
		parts.of_kernel[i] = op_of(&totals, i);
	gt_result_begin(result, "ops", op_headings, GT_COUNT_OF(op_headings));
	add_parts(result, facts, &parts, most, add_op_name, &totals);
	parts_release(&parts);
	gt_operation_totals_release(&totals);
}

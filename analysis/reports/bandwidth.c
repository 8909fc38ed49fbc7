/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>

#include "analysis/figures.h"
#include "analysis/parameter.h"
#include "analysis/report.h"
#include "analysis/reports/bandwidth/cells.h"
#include "analysis/reports/bandwidth/parts.h"
#include "analysis/result.h"
#include "analysis/traffic/kernel_places.h"
#include "analysis/traffic/roofs.h"
#include "analysis/traffic/traffic.h"
#include "base/array.h"
#include "model/trace.h"
#include "model/view/view.h"

#define OF_KERNELS                                                                                 \
	{"device", GT_UNIT_TEXT, "GPU", GT_WORTH_LITTLE},                                          \
		{"calls", GT_UNIT_COUNT, "Executions that ended, profiled ones too",               \
	         GT_WORTH_ORDINARY},                                                               \
		{"total_ns", GT_UNIT_NS, "How long they ran; profiled ones as their counters say", \
	         GT_WORTH_KEY},                                                                    \
		{"read_bytes", GT_UNIT_BYTES, "Read from device memory by one execution, a mean",  \
	         GT_WORTH_ORDINARY},                                                               \
		{"write_bytes", GT_UNIT_BYTES,                                                     \
	         "Written to device memory by one execution, a mean", GT_WORTH_ORDINARY},          \
		GT_BANDWIDTH_RATES, GT_BANDWIDTH_SOURCES

static const struct gt_heading kernel_headings[] = {
	{"kernel", GT_UNIT_TEXT, "Name, or what --by says", GT_WORTH_NAME},
	OF_KERNELS,
};

static const struct gt_heading size_headings[] = {
	{"kernel", GT_UNIT_TEXT, "Name, with the grid, block and cluster of the launch",
         GT_WORTH_NAME},
	{"declared_bytes", GT_UNIT_BYTES,
         "That the program declares of one execution; not known: nothing", GT_WORTH_KEY},
	OF_KERNELS,
};

static const struct gt_heading device_headings[] = {
	{"device", GT_UNIT_TEXT, "GPU", GT_WORTH_NAME},
	{"total_ns", GT_UNIT_NS,
         "How long all its kernels ran; profiled ones as their counters say", GT_WORTH_KEY},
	{"known_percent", GT_UNIT_PERCENT, "Share of it of kernels whose bytes are known",
         GT_WORTH_KEY},
	{"kernel_bytes", GT_UNIT_BYTES, "Read and written by these, as the table kernels has it",
         GT_WORTH_KEY},
	{"sampled_bytes", GT_UNIT_BYTES, "Read and written in all PM samples, by whatever ran",
         GT_WORTH_KEY},
	{"sampled_ns", GT_UNIT_NS, "Time of these samples", GT_WORTH_LITTLE},
	{"achieved_bytes_per_second", GT_UNIT_BYTES_PER_SECOND, "sampled_bytes / sampled_ns",
         GT_WORTH_KEY},
	{"theoretical_percent", GT_UNIT_PERCENT,
         "Share of the data sheet's bandwidth of device memory", GT_WORTH_ORDINARY},
	{"measured_percent", GT_UNIT_PERCENT,
         "Share of the highest bandwidth that was measured of device memory", GT_WORTH_ORDINARY},
	{"peak", GT_UNIT_TEXT, "Ceiling that measured_percent is of, and where from",
         GT_WORTH_LEAST},
};

static const char *const by_words[] = {"name", "base", "shape", "family", "origin", NULL};

static const struct gt_parameter parameters[] = {
	{"by", GT_PARAMETER_CHOICE, "name", "Property by which executions are counted together",
         by_words},
	{"rows", GT_PARAMETER_ROWS, "20", "Rows of each table, those with most time first"},
	{0},
};

enum { BY, ROWS }; /* arguments, as above */

/* The cells of OF_KERNELS. */
static void add_kernel(struct gt_result *result, const struct gt_traffic_facts *facts, gt_id device,
                       const struct gt_traffic *traffic)
{
	const struct gt_traffic_bytes bytes = gt_traffic_bytes(traffic);

	gt_add_device(result, facts->trace, device);
	gt_bandwidth_add_time(result, traffic);
	gt_add_bytes(result, bytes.read_bytes);
	gt_add_bytes(result, bytes.write_bytes);
	gt_bandwidth_add_rates(result, facts, device, traffic);
}

/* Bytes that the kernels of one GPU are known to have moved. */
struct device_sum {
	double time_ns;
	double known_ns;
	double bytes;
};

static void add_to_device(struct device_sum *sums, const struct gt_trace *trace, uint64_t device,
                          const struct gt_traffic *traffic)
{
	const struct gt_traffic_bytes bytes = gt_traffic_bytes(traffic);
	struct device_sum *sum;

	if (device >= trace->devices.count)
		return;
	sum = &sums[device];
	sum->time_ns += traffic->time_ns;
	if (isnan(bytes.bytes))
		return;
	sum->known_ns += traffic->time_ns;
	sum->bytes += bytes.bytes * (double)traffic->calls;
}

static void add_kernels(struct gt_result *result, struct gt_traffic_facts *facts,
                        const struct gt_arguments *arguments, struct device_sum *sums)
{
	struct gt_kernel_places places;
	struct gt_traffic *traffics;
	struct gt_bandwidth_rows rows = {0};

	gt_kernel_places_init(&places, facts->trace, gt_group_by(arguments->values[BY].text));
	traffics = gt_traffic_of(facts, &places.sampled, places.count);
	gt_result_begin(result, "kernels", kernel_headings, GT_COUNT_OF(kernel_headings));
	for (size_t i = 0; i < places.count; i++) {
		gt_bandwidth_rows_add(&rows, &traffics[i], i);
		add_to_device(sums, facts->trace, gt_kernel_place(&places, i)->device,
		              &traffics[i]);
	}
	gt_bandwidth_rows_sort(&rows, result, arguments->values[ROWS].number);
	gt_array_each(const struct gt_bandwidth_row, row, &rows.list) {
		const struct gt_kernel_place *place = gt_kernel_place(&places, row->group);

		gt_result_add_format(result, "%s", places.groups.labels[place->group]);
		add_kernel(result, facts, (gt_id)place->device, &traffics[row->group]);
	}
	gt_array_release(&rows.list);
	gt_array_free(traffics);
	gt_kernel_places_release(&places);
}

/* How many places the kernels of each name and GPU are at, by name; a new array. */
static size_t *count_sizes(const struct gt_kernel_places *places)
{
	size_t most = 0;
	size_t *counts;

	for (size_t i = 0; i < places->count; i++)
		if (gt_kernel_place(places, i)->group >= most)
			most = gt_kernel_place(places, i)->group + 1;
	counts = gt_allocate_zeroed(most, sizeof(*counts));
	for (size_t i = 0; i < places->count; i++)
		counts[gt_kernel_place(places, i)->group]++;
	return counts;
}

static void add_size(struct gt_result *result, const struct gt_traffic_facts *facts,
                     const struct gt_kernel_places *places, const struct gt_traffic *traffics,
                     gt_id number)
{
	const struct gt_kernel_place *place = gt_kernel_place(places, number);
	const uint64_t declared = place->declared_read + place->declared_write;

	gt_result_add_format(result, "%s", places->groups.labels[place->shape]);
	gt_result_add_count_if(result, declared > 0, (int64_t)declared);
	add_kernel(result, facts, (gt_id)place->device, &traffics[number]);
}

/* Those of kernels that have several. */
static void add_sizes(struct gt_result *result, struct gt_traffic_facts *facts,
                      const struct gt_arguments *arguments)
{
	struct gt_kernel_places places;
	struct gt_traffic *traffics;
	struct gt_bandwidth_rows rows = {0};
	size_t *counts;

	gt_kernel_sizes_init(&places, facts);
	traffics = gt_traffic_of(facts, &places.sampled, places.count);
	counts = count_sizes(&places);
	gt_result_begin(result, "sizes", size_headings, GT_COUNT_OF(size_headings));
	for (size_t i = 0; i < places.count; i++)
		if (counts[gt_kernel_place(&places, i)->group] > 1)
			gt_bandwidth_rows_add(&rows, &traffics[i], i);
	gt_bandwidth_rows_sort(&rows, result, arguments->values[ROWS].number);
	gt_array_each(const struct gt_bandwidth_row, row, &rows.list)
		add_size(result, facts, &places, traffics, row->group);
	gt_array_release(&rows.list);
	gt_array_free(counts);
	gt_array_free(traffics);
	gt_kernel_places_release(&places);
}

/* All samples of one GPU. */
struct sampled_sum {
	double time_ns;
	double read_bytes; /* NAN: not measured */
	double write_bytes;
};

static double sum_of(const struct gt_sampled *sampled, const struct gt_counter *counter)
{
	const double *column = sampled->series->columns[counter->place];
	double sum = 0;

	for (size_t i = 0; i < sampled->series->count; i++)
		sum += isfinite(column[i]) ? column[i] : 0;
	return sum;
}

static double time_of(const struct gt_sampled *sampled)
{
	double time_ns = 0;

	for (size_t i = 0; i < sampled->series->count; i++)
		time_ns += sampled->places[i] == GT_SAMPLED_GAP ? 0 : gt_sampled_length(sampled, i);
	return time_ns;
}

/* A GPU has one series of hardware counters: of several the last one counts. */
static struct sampled_sum sum_samples(const struct gt_traffic_facts *facts, gt_id device)
{
	struct sampled_sum sum = {NAN, NAN, NAN};

	gt_array_each(const struct gt_counter, counter, &facts->trace->counters) {
		const int direction = gt_traffic_direction(facts->trace, counter);
		const struct gt_sampled *sampled = gt_sampled_of(&facts->sampled, counter);

		if (counter->device != device || direction < 0 || !sampled)
			continue;
		sum.time_ns = time_of(sampled);
		*(direction ? &sum.write_bytes : &sum.read_bytes) = sum_of(sampled, counter);
	}
	return sum;
}

static void add_devices(struct gt_result *result, const struct gt_traffic_facts *facts,
                        const struct device_sum *sums)
{
	gt_result_begin(result, "devices", device_headings, GT_COUNT_OF(device_headings));
	for (gt_id i = 0; i < facts->trace->devices.count; i++) {
		const struct sampled_sum sampled = sum_samples(facts, i);
		const double bytes = sampled.read_bytes + sampled.write_bytes;
		const double rate = gt_bytes_per_second(bytes, sampled.time_ns);
		const struct gt_roof roof =
			gt_roof_of_memory(facts->trace, i, sampled.read_bytes, sampled.write_bytes);

		gt_add_device(result, facts->trace, i);
		gt_add_rounded(result, sums[i].time_ns);
		gt_result_add_real(result, gt_percent(sums[i].known_ns, sums[i].time_ns));
		gt_add_bytes(result, sums[i].known_ns > 0 ? sums[i].bytes : NAN);
		gt_add_bytes(result, bytes);
		gt_add_rounded(result, sampled.time_ns);
		gt_result_add_real(result, rate);
		gt_bandwidth_add_shares(result, &roof, rate);
		gt_roof_add_source(result, &roof);
	}
}

static void add_remarks(struct gt_result *result, const struct gt_traffic_facts *facts)
{
	static const char rates[] = "achieved_bytes_per_second measured_percent";
	const struct gt_trace *trace = facts->trace;

	if (trace->kernels.count == 0) {
		gt_remark_no_kernels(result, trace);
		return;
	}
	if (facts->has_samples)
		gt_result_remark_on(result, rates,
		                    "PM samples are a kernel's, a range's or an operation's where "
		                    "nothing else ran in them; they count the whole GPU, whoever "
		                    "used it.");
	if (trace->kernel_counters.count > 0)
		gt_result_remark_on(result, rates,
		                    "Profiled launches ran alone and again: their time is that of "
		                    "the profiler's own counter.");
	if (trace->ceilings.count == 0)
		gt_result_remark_on(result, "measured_percent",
		                    "No ceiling of a GPU is known: gputrace calibrate measures "
		                    "them.");
	gt_result_remark(result, "Bytes of copies and fills are in the report copies.");
}

static const char of_rates[] = "achieved_bytes_per_second";

/* Text leaves these tables out: each would say in every row that it has no figure. */
static void remark_not_measured(struct gt_result *result)
{
	gt_result_remark(result, "Tables without any measured bytes are left out: run --counters "
	                         "or --kernel-counters measures them; --all shows the tables, "
	                         "with the reason of each row.");
}

static int run(const struct gt_view *view, const struct gt_arguments *arguments,
               struct gt_result *result, struct gt_error *err)
{
	struct device_sum *sums = gt_allocate_zeroed(view->trace->devices.count, sizeof(*sums));
	struct gt_traffic_facts facts;
	bool without; /* tables of which no bytes are known */

	(void)err;
	gt_traffic_init(&facts, view);
	add_kernels(result, &facts, arguments, sums);
	without = gt_result_detail_if_unknown(result, of_rates);
	add_sizes(result, &facts, arguments);
	without |= gt_result_detail_if_unknown(result, of_rates);
	gt_bandwidth_add_ranges(result, &facts, arguments->values[ROWS].number);
	without |= gt_result_detail_if_unknown(result, of_rates);
	gt_bandwidth_add_ops(result, &facts, arguments->values[ROWS].number);
	without |= gt_result_detail_if_unknown(result, of_rates);
	add_devices(result, &facts, sums);
	if (without)
		remark_not_measured(result);
	add_remarks(result, &facts);
	gt_traffic_release(&facts);
	gt_array_free(sums);
	return 0;
}

const struct gt_report gt_report_bandwidth = {
	.name = "bandwidth",
	.summary = "Bytes that kernels moved, against what memory can do",
	.parameters = parameters,
	.run = run,
};

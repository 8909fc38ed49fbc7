/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>

#include "base/array.h"
#include "exporters/perfetto/gpu.h"
#include "exporters/perfetto/lines.h"
#include "model/names.h"

/*
 * How fast each GPU copies, as lines over time: one a GPU and kind of copy, stepping where a copy
 * begins or ends. Copies of one kind that overlap add up.
 */

enum { NAME_SIZE = 32 };

/* The end of a copy that is running. */
struct ending {
	gt_time time_ns;
	gt_id device;
	uint32_t kind;
	uint64_t rate; /* bytes per second */
};

struct rate {
	uint64_t bytes_per_second; /* sum of what is running */
	uint64_t fastest;          /* of its copies alone */
	uint32_t line;             /* GT_NONE: there is no copy of the kind */
};

struct rates {
	struct gt_perfetto *perfetto;
	struct gt_lines lines;
	struct rate (*rates)[GT_COPY_KINDS]; /* by device and kind */
	gt_array(struct ending) endings;     /* a heap, the earliest first */
};

static void push_ending(struct rates *rates, struct ending ending)
{
	size_t at = rates->endings.count;

	*gt_array_push(&rates->endings) = ending;
	for (; at > 0; at = (at - 1) / 2) {
		const size_t parent = (at - 1) / 2;

		if (rates->endings.rows[parent].time_ns <= ending.time_ns)
			break;
		rates->endings.rows[at] = rates->endings.rows[parent];
	}
	rates->endings.rows[at] = ending;
}

static struct ending pop_ending(struct rates *rates)
{
	struct ending *rows = rates->endings.rows;
	const struct ending first = rows[0];
	const struct ending last = rows[--rates->endings.count];
	const size_t count = rates->endings.count;
	size_t at = 0;

	for (size_t child = 1; child < count; child = 2 * at + 1) {
		if (child + 1 < count && rows[child + 1].time_ns < rows[child].time_ns)
			child++;
		if (rows[child].time_ns >= last.time_ns)
			break;
		rows[at] = rows[child];
		at = child;
	}
	rows[at] = last;
	return first;
}

enum { GIGABYTE = 1000000000, MEGABYTE = 1000000 };

/* Perfetto shows units as they are, small numbers as 2e-3. */
static uint64_t unit_of(const struct rate *rate)
{
	return rate->fastest < GIGABYTE ? MEGABYTE : GIGABYTE;
}

static void step(struct rates *rates, gt_time time_ns, struct rate *rate, uint64_t bytes_per_second)
{
	rate->bytes_per_second = bytes_per_second;
	gt_lines_put(&rates->lines, rate->line, time_ns,
	             gt_three_digits((double)bytes_per_second / (double)unit_of(rate)));
}

static void end_copies(struct rates *rates, gt_time time_ns)
{
	while (rates->endings.count > 0 && rates->endings.rows[0].time_ns <= time_ns) {
		const struct ending ending = pop_ending(rates);
		struct rate *rate = &rates->rates[ending.device][ending.kind];

		step(rates, ending.time_ns, rate, rate->bytes_per_second - ending.rate);
	}
}

/* In whole bytes per second, so that sums come back to 0 exactly. */
static uint64_t rate_of(const struct gt_copy *copy)
{
	const double bytes_per_ns =
		(double)copy->size_bytes / (double)(copy->end_ns - copy->start_ns);
	const double bytes_per_second = round(bytes_per_ns * 1e9);

	/* A damaged record must not make the sums overflow; no link is within 1000 times of it. */
	return bytes_per_second < 1e17 ? (uint64_t)bytes_per_second : 0;
}

/* A copy without a length has no rate. */
static bool has_rate(const struct rates *rates, size_t row, struct gt_placed *placed)
{
	const struct gt_copy *copy = &rates->perfetto->trace->copies.rows[row];
	const struct gt_ids *ids = &rates->perfetto->ids;

	*placed = gt_ids_place(ids, gt_ids_slice(ids, GT_PLACED_copies, row));
	return placed->placed && copy->end_ns > copy->start_ns;
}

static void put_copies(struct rates *rates)
{
	const struct gt_trace *trace = rates->perfetto->trace;

	for (size_t i = 0; i < trace->copies.count; i++) {
		const struct gt_copy *copy = &trace->copies.rows[i];
		const uint32_t kind = gt_copy_kind_known(copy->kind);
		struct gt_placed placed;
		struct rate *rate;

		if (!has_rate(rates, i, &placed))
			continue;
		rate = &rates->rates[placed.device][kind];
		end_copies(rates, copy->start_ns);
		step(rates, copy->start_ns, rate, rate->bytes_per_second + rate_of(copy));
		push_ending(rates, (struct ending){.time_ns = copy->end_ns,
		                                   .device = placed.device,
		                                   .kind = kind,
		                                   .rate = rate_of(copy)});
	}
	end_copies(rates, INT64_MAX);
}

static void add_line(struct rates *rates, gt_id device, uint32_t kind, const char *name)
{
	struct rate *rate = &rates->rates[device][kind];

	if (rate->line == GT_NONE)
		return;
	rate->line = gt_lines_add(
		&rates->lines,
		&(struct gt_line){.device = device,
	                          .group = "Copies",
	                          .name = name,
	                          .help = "Sum of the rates of the copies under way",
	                          .unit = unit_of(rate) == GIGABYTE ? GT_MEASURE_GIGABYTE
	                                                            : GT_MEASURE_MEGABYTE,
	                          .per = GT_MEASURE_SECOND});
}

/* A line for each kind of copy that a GPU made. */
static void add_lines(struct rates *rates, char names[GT_COPY_KINDS][NAME_SIZE])
{
	const struct gt_trace *trace = rates->perfetto->trace;

	for (uint32_t kind = 0; kind < GT_COPY_KINDS; kind++)
		snprintf(names[kind], NAME_SIZE, "%s copies", gt_copy_kind_name(kind));
	for (size_t i = 0; i < trace->copies.count; i++) {
		const struct gt_copy *copy = &trace->copies.rows[i];
		struct gt_placed placed;
		struct rate *rate;

		if (!has_rate(rates, i, &placed))
			continue;
		rate = &rates->rates[placed.device][gt_copy_kind_known(copy->kind)];
		if (rate_of(copy) >= rate->fastest)
			rate->fastest = rate_of(copy);
		rate->line = 0;
	}
	for (gt_id device = 0; device < trace->devices.count; device++)
		for (uint32_t kind = 0; kind < GT_COPY_KINDS; kind++)
			add_line(rates, device, kind, names[kind]);
}

void gt_perfetto_write_bandwidth(struct gt_perfetto *perfetto)
{
	const struct gt_trace *trace = perfetto->trace;
	struct rates rates = {.perfetto = perfetto};
	char names[GT_COPY_KINDS][NAME_SIZE];

	if (trace->copies.count == 0)
		return;
	rates.rates = gt_allocate(trace->devices.count * sizeof(*rates.rates));
	for (size_t i = 0; i < trace->devices.count; i++)
		for (uint32_t kind = 0; kind < GT_COPY_KINDS; kind++)
			rates.rates[i][kind] = (struct rate){.line = GT_NONE};
	gt_lines_init(&rates.lines, perfetto);
	add_lines(&rates, names);
	gt_lines_describe(&rates.lines);
	put_copies(&rates);
	gt_lines_finish(&rates.lines, trace->end_ns);
	gt_array_free(rates.rates);
	gt_array_release(&rates.endings);
}

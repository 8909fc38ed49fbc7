/* SPDX-License-Identifier: Apache-2.0 */
/* Covers PART(bandwidth), Covers PART(telemetry), Covers PART(load): what is shown of a GPU over
 * time. */
#include "support/check.h"

#include <math.h>

#include "exporters/read.h"
#include "exporters/sample.h"

/* A value of a line as the file has it. */
struct value {
	gt_time time_ns; /* after the start of the sample */
	uint32_t gpu;
	char name[64];
	double value;
};

struct values {
	struct value rows[256];
	unsigned count;
};

/* Lines of a sequence: the nth descriptor of counters in the file. */
static struct bytes find_descriptor(const struct file *file, unsigned n)
{
	struct bytes rest = all(file);
	struct bytes packet;
	struct field field;

	while (next_packet(&rest, &packet))
		for (unsigned i = 0; find_nth(message_in(packet, INTERNED_DATA), 47, i, &field);
		     i++)
			if (n-- == 0)
				return field.bytes;
	return (struct bytes){0};
}

/* The descriptor of one sequence and number. */
static struct bytes find_interned_descriptor(const struct file *file, uint64_t sequence,
                                             uint64_t iid)
{
	struct bytes rest = all(file);
	struct bytes packet;
	struct field field;

	while (next_packet(&rest, &packet))
		for (unsigned i = 0; number_in(packet, SEQUENCE_ID) == sequence &&
		                     find_nth(message_in(packet, INTERNED_DATA), 47, i, &field);
		     i++)
			if (number_in(field.bytes, 1) == iid)
				return field.bytes;
	cr_assert(false, "values without a descriptor");
	return (struct bytes){0};
}

static struct bytes find_spec(struct bytes descriptor, uint64_t counter)
{
	struct field spec;

	for (unsigned i = 0; find_nth(message_in(descriptor, 2), 1, i, &spec); i++)
		if (number_in(spec.bytes, 1) == counter)
			return spec.bytes;
	cr_assert(false, "a value of a counter that is not described");
	return (struct bytes){0};
}

static void add_value(struct values *values, const struct file *file, struct bytes packet,
                      struct bytes counter, gt_time time_ns)
{
	const struct bytes event = message_in(packet, COUNTER_EVENT);
	const struct bytes descriptor =
		find_interned_descriptor(file, number_in(packet, SEQUENCE_ID), number_in(event, 4));
	const struct bytes name = message_in(find_spec(descriptor, number_in(counter, 1)), 2);
	struct value *row = &values->rows[values->count++];
	struct field field;

	cr_assert(values->count < 256);
	*row = (struct value){.time_ns = time_ns - SAMPLE_START,
	                      .gpu = (uint32_t)number_in(descriptor, 3)};
	snprintf(row->name, sizeof(row->name), "%.*s", (int)(name.end - name.at),
	         (const char *)name.at);
	if (find(counter, 3, &field))
		memcpy(&row->value, &field.value, sizeof(row->value));
	else
		row->value = (double)(int64_t)number_in(counter, 2);
}

/* All values in the order of the file. */
static struct values read_values(const struct file *file)
{
	struct values values = {.count = 0};
	struct bytes rest = all(file);
	struct bytes packet;
	struct field field;
	gt_time last_ns[64];

	for (unsigned i = 0; i < 64; i++)
		last_ns[i] = SAMPLE_START;
	while (next_packet(&rest, &packet)) {
		gt_time *time_ns = &last_ns[number_in(packet, SEQUENCE_ID)];

		if (count_in(packet, COUNTER_EVENT) == 0)
			continue;
		cr_assert(count_in(packet, TIMESTAMP_CLOCK) == 0, "values are in order of time");
		*time_ns += (gt_time)number_in(packet, TIMESTAMP);
		for (unsigned i = 0; find_nth(message_in(packet, COUNTER_EVENT), 2, i, &field); i++)
			add_value(&values, file, packet, field.bytes, *time_ns);
	}
	return values;
}

/* The values of one line, in order of time. */
static unsigned line_of(const struct values *values, uint32_t gpu, const char *name,
                        struct value line[64])
{
	unsigned count = 0;

	for (unsigned i = 0; i < values->count; i++)
		if (values->rows[i].gpu == gpu && strcmp(values->rows[i].name, name) == 0)
			line[count++] = values->rows[i];
	return count;
}

/* The value in readers from v56 on: each holds from its time on. */
static double shown_forwards(const struct value *line, unsigned count, gt_time time_ns)
{
	double value = NAN;

	for (unsigned i = 0; i < count && line[i].time_ns <= time_ns; i++)
		value = line[i].value;
	return value;
}

/* The value in older ones: each is moved to the time of the one before it. */
static double shown_backwards(const struct value *line, unsigned count, gt_time time_ns)
{
	double value = NAN;

	for (unsigned i = 0; i < count && line[i].time_ns <= time_ns; i++)
		value = i + 1 < count ? line[i + 1].value : 0;
	return value;
}

static void expect_shown(const struct values *values, uint32_t gpu, const char *name,
                         gt_time time_ns, double expected)
{
	struct value line[64];
	const unsigned count = line_of(values, gpu, name, line);

	cr_expect(shown_forwards(line, count, time_ns) == expected,
	          "%s at %lld: %g, by readers from v56 on", name, (long long)time_ns,
	          shown_forwards(line, count, time_ns));
	cr_expect(shown_backwards(line, count, time_ns) == expected,
	          "%s at %lld: %g, by readers before v56", name, (long long)time_ns,
	          shown_backwards(line, count, time_ns));
}

/* A process with a GPU, number 2 of the machine. */
static void make_gpu(struct gt_trace *trace)
{
	gt_id process;

	gt_trace_init(trace);
	process = sample_process(trace, "app", 50);
	sample_stream(trace, sample_context(trace, process, sample_device(trace, 2, 0)), 7);
}

static struct values export_values(struct gt_trace *trace)
{
	struct file file;
	struct values values;

	sample_finish(trace, SAMPLE_START + 5000);
	file = export(trace, true);
	values = read_values(&file);
	free(file.bytes);
	return values;
}

Test(lines, add_up_the_bandwidth_of_copies_that_overlap)
{
	struct gt_trace trace;
	struct values values;
	struct value line[64];

	make_gpu(&trace);
	/* 1 MiB in 1024 ns is 1024 GB/s, three digits of it 1020. */
	sample_copy(&trace, 0, GT_COPY_HOST_TO_DEVICE, GT_NONE, SAMPLE_START + 100,
	            SAMPLE_START + 1124);
	sample_copy(&trace, 0, GT_COPY_HOST_TO_DEVICE, GT_NONE, SAMPLE_START + 124,
	            SAMPLE_START + 1148);
	/* Begins when the second ends: nothing changes at that instant. */
	sample_copy(&trace, 0, GT_COPY_HOST_TO_DEVICE, GT_NONE, SAMPLE_START + 1148,
	            SAMPLE_START + 2172);
	values = export_values(&trace);
	cr_expect(line_of(&values, 2, "HtoD copies", line) == 7);
	expect_shown(&values, 2, "HtoD copies", 100, 1020);
	expect_shown(&values, 2, "HtoD copies", 122, 1020);
	expect_shown(&values, 2, "HtoD copies", 124, 2050);
	expect_shown(&values, 2, "HtoD copies", 1122, 2050);
	expect_shown(&values, 2, "HtoD copies", 1124, 1020);
	expect_shown(&values, 2, "HtoD copies", 1148, 1020);
	expect_shown(&values, 2, "HtoD copies", 2170, 1020);
	expect_shown(&values, 2, "HtoD copies", 2172, 0);
	expect_shown(&values, 2, "HtoD copies", 4999, 0);
	gt_trace_release(&trace);
}

Test(lines, keep_the_kinds_of_copies_apart)
{
	struct gt_trace trace;
	struct values values;

	make_gpu(&trace);
	sample_copy(&trace, 0, GT_COPY_HOST_TO_DEVICE, GT_NONE, SAMPLE_START + 100,
	            SAMPLE_START + 100 + (1 << 20));
	sample_copy(&trace, 0, GT_COPY_DEVICE_TO_HOST, GT_NONE, SAMPLE_START + 200,
	            SAMPLE_START + 200 + (1 << 19));
	values = export_values(&trace);
	expect_shown(&values, 2, "HtoD copies", 300, 1);
	expect_shown(&values, 2, "DtoH copies", 300, 2);
	gt_trace_release(&trace);
}

/* Two GPUs change at one instant: each value stands with the descriptor of its own GPU. */
Test(lines, of_two_gpus_that_change_together_keep_apart)
{
	struct gt_trace trace;
	struct values values;

	make_gpu(&trace);
	sample_stream(&trace, sample_context(&trace, 0, sample_device(&trace, 4, 1)), 9);
	sample_copy(&trace, 0, GT_COPY_HOST_TO_DEVICE, GT_NONE, SAMPLE_START + 100,
	            SAMPLE_START + 100 + (1 << 20));
	sample_copy(&trace, 1, GT_COPY_HOST_TO_DEVICE, GT_NONE, SAMPLE_START + 100,
	            SAMPLE_START + 100 + (1 << 19));
	values = export_values(&trace);
	expect_shown(&values, 2, "HtoD copies", 300, 1);
	expect_shown(&values, 4, "HtoD copies", 300, 2);
	gt_trace_release(&trace);
}

static void fill_column(struct gt_series *series, size_t column, const double *values)
{
	for (size_t i = 0; i < series->count; i++)
		series->columns[column][i] = values[i];
}

Test(lines, show_telemetry_in_units_that_people_read)
{
	static const struct {
		const char *counter;
		const char *line;
		double value;
		double shown;
		uint64_t unit;
		uint64_t per;
	} cases[] = {
		{"power_mw", "power", 700500, 700.5, 29, 0},
		{"energy_mj", "energy", 2000, 2, 31, 0},
		{"sm_clock_mhz", "sm clock", 1980, 1980, 15, 0},
		{"temperature_c", "temperature", 61, 61, 34, 0},
		{"gpu_utilization_percent", "gpu utilization", 97, 97, 37, 0},
		{"memory_used_bytes", "memory used", 64e9, 64, 10, 0},
		{"pcie_tx_bytes_per_second", "pcie tx", 5e8, 0.5, 10, 22},
		{"ecc_corrected", "ecc corrected", 3, 3, 0, 0},
	};
	enum { COUNT = sizeof(cases) / sizeof(cases[0]) };
	struct gt_trace trace;
	struct gt_series *series;
	struct file file;
	struct values values;
	struct bytes counters;

	make_gpu(&trace);
	series = sample_series(&trace, COUNT, 1, 100);
	for (uint32_t i = 0; i < COUNT; i++) {
		sample_counter(&trace, cases[i].counter, GT_COUNTER_GAUGE, 0, i);
		series->columns[i][0] = cases[i].value;
	}
	sample_finish(&trace, SAMPLE_START + 5000);
	file = export(&trace, true);
	values = read_values(&file);
	counters = message_in(find_descriptor(&file, 0), 2);
	for (unsigned i = 0; i < COUNT; i++) {
		struct field spec;

		expect_shown(&values, 2, cases[i].line, 1000, cases[i].shown);
		cr_assert(find_nth(counters, 1, i, &spec));
		cr_expect(text_is(spec.bytes, 2, cases[i].line));
		cr_expect(text_is(spec.bytes, 3, "What it is"));
		cr_expect(number_in(spec.bytes, 7) == cases[i].unit);
		cr_expect(number_in(spec.bytes, 8) == cases[i].per);
	}
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(lines, hold_a_sampled_value_until_the_next_one)
{
	static const double power[] = {100000, 100000, 250000, NAN, 300000};
	struct gt_trace trace;
	struct values values;
	struct value line[64];

	make_gpu(&trace);
	fill_column(sample_series(&trace, 1, 5, 100), 0, power);
	sample_counter(&trace, "power_mw", GT_COUNTER_GAUGE, 0, 0);
	values = export_values(&trace);
	/* 100, 100 and 250 at the change, 250 and 300 at the change, 300 at the end. */
	cr_expect(line_of(&values, 2, "power", line) == 6);
	expect_shown(&values, 2, "power", 100, 100);
	expect_shown(&values, 2, "power", 298, 100);
	expect_shown(&values, 2, "power", 300, 250);
	expect_shown(&values, 2, "power", 498, 250);
	expect_shown(&values, 2, "power", 500, 300);
	expect_shown(&values, 2, "power", 4999, 300);
	gt_trace_release(&trace);
}

/* 200 bytes in each nanosecond, 400, a gap, 100; a share beside it. */
Test(lines, show_hardware_counters_as_rates_in_groups_of_their_own)
{
	static const double lengths[] = {100, 50, 50, 100};
	static const double bytes[] = {20000, 20000, NAN, 10000};
	static const double shares[] = {40, 80, NAN, 20};
	struct gt_trace trace;
	struct gt_series *series;
	struct file file;
	struct values values;
	struct bytes counters;
	struct field field;

	make_gpu(&trace);
	series = sample_series(&trace, 3, 4, 100);
	fill_column(series, 0, lengths);
	fill_column(series, 1, bytes);
	fill_column(series, 2, shares);
	sample_counter(&trace, "sample_ns", GT_COUNTER_SPAN, 0, 0);
	sample_counter(&trace, "dram_read_bytes", GT_COUNTER_SUM, 0, 1);
	sample_counter(&trace, "warps_active_percent", GT_COUNTER_MEAN, 0, 2);
	sample_finish(&trace, SAMPLE_START + 5000);
	file = export(&trace, true);
	values = read_values(&file);
	expect_shown(&values, 2, "dram read", 100, 200);
	expect_shown(&values, 2, "dram read", 200, 400);
	expect_shown(&values, 2, "dram read", 400, 100);
	expect_shown(&values, 2, "warps active", 200, 80);
	counters = message_in(find_descriptor(&file, 0), 2);
	cr_assert(find_nth(counters, 1, 0, &field));
	cr_expect(number_in(field.bytes, 7) == 10 && number_in(field.bytes, 8) == 22, "GB/s");
	cr_assert(not(find_nth(counters, 1, 2, &field)));
	cr_assert(find_nth(counters, 6, 0, &field));
	cr_expect(text_is(field.bytes, 2, "DRAM"));
	cr_expect(number_in(field.bytes, 1) >= 100, "not the compute plugin's group");
	cr_assert(find_nth(counters, 6, 1, &field));
	cr_expect(text_is(field.bytes, 2, "SM"));
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(lines, join_what_two_processes_sampled_of_one_gpu)
{
	static const double first[] = {1000, 1000};
	static const double second[] = {1500, 1500};
	struct gt_trace trace;
	struct gt_series *series;
	struct values values;
	struct field group;
	struct file file;

	make_gpu(&trace);
	fill_column(sample_series(&trace, 1, 2, 100), 0, first);
	sample_counter(&trace, "sm_clock_mhz", GT_COUNTER_GAUGE, 0, 0);
	series = sample_series(&trace, 1, 2, 100);
	fill_column(series, 0, second);
	series->times_ns[0] += 50;
	series->times_ns[1] += 500;
	sample_counter(&trace, "sm_clock_mhz", GT_COUNTER_GAUGE, 0, 0);
	sample_finish(&trace, SAMPLE_START + 5000);
	file = export(&trace, true);
	values = read_values(&file);
	cr_assert(find_nth(message_in(find_descriptor(&file, 0), 2), 6, 0, &group));
	cr_expect(count_in(group.bytes, 4) == 1, "one line");
	expect_shown(&values, 2, "sm clock", 140, 1000);
	expect_shown(&values, 2, "sm clock", 160, 1500);
	expect_shown(&values, 2, "sm clock", 210, 1000);
	expect_shown(&values, 2, "sm clock", 710, 1500);
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(lines, leave_out_counters_of_nothing_and_say_how_many)
{
	static const double values[] = {1, 2, 3};
	struct gt_trace trace;
	struct file file;

	make_gpu(&trace);
	fill_column(sample_series(&trace, 1, 3, 100), 0, values);
	sample_counter(&trace, "power_mw", GT_COUNTER_GAUGE, GT_NONE, 0);
	sample_counter(&trace, "energy_mj", GT_COUNTER_TOTAL, 0, 77);   /* no such column */
	sample_counter(&trace, "queue", GT_COUNTER_GAUGE, GT_NONE, 77); /* of a process, likewise */
	trace.counters.rows[0].series = 0;
	trace.counters.rows[0].process = GT_NONE;
	sample_finish(&trace, SAMPLE_START + 5000);
	file = export(&trace, true);
	cr_expect(count_packets(&file, COUNTER_EVENT) == 0);
	cr_expect(file.counts.skipped == 3);
	free(file.bytes);
	gt_trace_release(&trace);
}

/* Groups are one list in the whole file: the viewer keeps them by number over all GPUs. */
Test(lines, have_groups_with_one_number_for_each_name)
{
	static const double clocks[] = {1000, 1100};
	struct gt_trace trace;
	struct file file;
	uint64_t copies[2];
	uint64_t telemetry[2];

	make_gpu(&trace);
	sample_stream(&trace, sample_context(&trace, 0, sample_device(&trace, 5, 1)), 7);
	fill_column(sample_series(&trace, 1, 2, 100), 0, clocks);
	for (gt_id i = 0; i < 2; i++) {
		sample_copy(&trace, i, GT_COPY_HOST_TO_DEVICE, GT_NONE, SAMPLE_START + 100,
		            SAMPLE_START + 1124);
		sample_counter(&trace, "sm_clock_mhz", GT_COUNTER_GAUGE, i, 0);
	}
	sample_finish(&trace, SAMPLE_START + 5000);
	file = export(&trace, true);
	for (unsigned i = 0; i < 2; i++) {
		const struct bytes of_copies = message_in(find_descriptor(&file, i), 2);
		const struct bytes of_telemetry = message_in(find_descriptor(&file, 2 + i), 2);

		cr_expect(number_in(find_descriptor(&file, i), 3) == (i ? 5 : 2));
		cr_expect(text_is(message_in(of_copies, 6), 2, "Copies"));
		cr_expect(text_is(message_in(of_telemetry, 6), 2, "Telemetry"));
		cr_expect(number_in(message_in(of_copies, 1), 7) == 10 &&
		                  number_in(message_in(of_copies, 1), 8) == 22,
		          "GB/s");
		cr_expect(number_in(message_in(of_copies, 1), 11) == 2, "forwards");
		copies[i] = number_in(message_in(of_copies, 6), 1);
		telemetry[i] = number_in(message_in(of_telemetry, 6), 1);
	}
	cr_expect(copies[0] == copies[1] && telemetry[0] == telemetry[1]);
	cr_expect(copies[0] != telemetry[0]);
	cr_expect(copies[0] >= 100 && telemetry[0] >= 100, "not the compute plugin's group");
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(lines, have_units_that_are_not_packed)
{
	struct gt_trace trace;
	struct file file;
	struct field field;

	make_gpu(&trace);
	sample_copy(&trace, 0, GT_COPY_HOST_TO_DEVICE, GT_NONE, SAMPLE_START + 100,
	            SAMPLE_START + 1124);
	sample_finish(&trace, SAMPLE_START + 5000);
	file = export(&trace, true);
	cr_assert(find(message_in(message_in(find_descriptor(&file, 0), 2), 1), 7, &field));
	cr_expect(field.type == 0);
	cr_assert(find(message_in(message_in(find_descriptor(&file, 0), 2), 6), 4, &field));
	cr_expect(field.type == 0);
	free(file.bytes);
	gt_trace_release(&trace);
}

/* A process with a GPU, a shape and a thread; the window is 5 us, fifty stretches of 100 ns. */
static void make_launcher(struct gt_trace *trace)
{
	make_gpu(trace);
	sample_shape(trace, "_Z1kv", "k()", 1);
	sample_thread(trace, 0, 50);
}

static struct values export_load(struct gt_trace *trace)
{
	struct file file;
	struct values values;

	sample_finish(trace, SAMPLE_START + 4999);
	file = export(trace, true);
	values = read_values(&file);
	free(file.bytes);
	return values;
}

Test(load, is_the_share_of_each_stretch_in_which_a_kernel_ran)
{
	struct gt_trace trace;
	struct values values;

	make_launcher(&trace);
	sample_stream(&trace, 0, 8);
	sample_kernel(&trace, 0, 0, GT_NONE, SAMPLE_START + 150, SAMPLE_START + 430);
	/* Beside the first: time counts once. And a copy, which makes no GPU busy. */
	sample_kernel(&trace, 1, 0, GT_NONE, SAMPLE_START + 160, SAMPLE_START + 440);
	sample_kernel(&trace, 0, 0, GT_NONE, SAMPLE_START + 901, SAMPLE_START + 902);
	sample_copy(&trace, 0, GT_COPY_HOST_TO_DEVICE, GT_NONE, SAMPLE_START + 1000,
	            SAMPLE_START + 2000);
	values = export_load(&trace);
	expect_shown(&values, 2, "GPU busy", 50, 0);
	/* A hundred stretches of 19 ns, from the first start to the last end. */
	expect_shown(&values, 2, "GPU busy", 150, 100);
	expect_shown(&values, 2, "GPU busy", 250, 100);
	expect_shown(&values, 2, "GPU busy", 350, 100);
	expect_shown(&values, 2, "GPU busy", 435, 26);
	expect_shown(&values, 2, "GPU busy", 550, 0);
	expect_shown(&values, 2, "GPU busy", 905, 5.3);
	expect_shown(&values, 2, "GPU busy", 950, 0);
	expect_shown(&values, 2, "GPU busy", 1500, 0);
	gt_trace_release(&trace);
}

Test(load, counts_calls_until_the_first_work_they_asked_for_begins)
{
	struct gt_trace trace;
	struct values values;
	gt_id call;

	make_launcher(&trace);
	call = sample_call(&trace, 0, "cudaGraphLaunch", SAMPLE_START + 100, SAMPLE_START + 120);
	sample_kernel(&trace, 0, 0, call, SAMPLE_START + 350, SAMPLE_START + 400);
	sample_kernel(&trace, 0, 0, call, SAMPLE_START + 500, SAMPLE_START + 600);
	call = sample_call(&trace, 0, "cudaMemcpyAsync", SAMPLE_START + 200, SAMPLE_START + 220);
	sample_copy(&trace, 0, GT_COPY_HOST_TO_DEVICE, call, SAMPLE_START + 700,
	            SAMPLE_START + 800);
	/* Asks for nothing. */
	sample_call(&trace, 0, "cudaMalloc", SAMPLE_START + 300, SAMPLE_START + 900);
	values = export_load(&trace);
	expect_shown(&values, 2, "launches in flight", 50, 0);
	expect_shown(&values, 2, "launches in flight", 150, 1);
	expect_shown(&values, 2, "launches in flight", 250, 2);
	/* From 345 to 352: of one call the first five. */
	expect_shown(&values, 2, "launches in flight", 350, 1.7);
	expect_shown(&values, 2, "launches in flight", 450, 1);
	expect_shown(&values, 2, "launches in flight", 650, 1);
	expect_shown(&values, 2, "launches in flight", 750, 0);
	gt_trace_release(&trace);
}

Test(load, is_of_each_gpu_that_had_work_and_of_the_window)
{
	struct gt_trace trace;
	struct gt_view view;
	struct file file;
	struct values values;
	struct value line[64];

	make_launcher(&trace);
	sample_stream(&trace, sample_context(&trace, 0, sample_device(&trace, 4, 1)), 9);
	sample_device(&trace, 5, 2);
	sample_kernel(&trace, 0, 0, GT_NONE, SAMPLE_START + 1000, SAMPLE_START + 1100);
	sample_kernel(&trace, 1, 0, GT_NONE, SAMPLE_START + 1100, SAMPLE_START + 9000);
	sample_finish(&trace, SAMPLE_START + 9000);
	view = gt_view_of(&trace);
	view.start_ns = SAMPLE_START + 1000;
	view.end_ns = SAMPLE_START + 1499; /* stretches of 10 ns */
	file = export_view(&view, true);
	values = read_values(&file);
	expect_shown(&values, 2, "GPU busy", 1000, 100);
	expect_shown(&values, 2, "GPU busy", 1095, 100);
	expect_shown(&values, 2, "GPU busy", 1105, 0);
	expect_shown(&values, 4, "GPU busy", 1095, 0);
	expect_shown(&values, 4, "GPU busy", 1105, 100);
	cr_expect(line_of(&values, 5, "GPU busy", line) == 0, "nothing ran on it");
	free(file.bytes);
	gt_trace_release(&trace);
}

/* Times of damaged recordings can be anything. */
Test(load, survives_times_out_of_the_window)
{
	struct gt_trace trace;
	struct file file;

	make_launcher(&trace);
	sample_call(&trace, 0, "cudaLaunchKernel", -5, 7);
	sample_kernel(&trace, 0, 0, 0, 1, INT64_MAX);
	sample_kernel(&trace, 0, 0, 77, INT64_MAX - 2, INT64_MAX);
	sample_finish(&trace, INT64_MAX);
	trace.start_ns = 1;
	file = export(&trace, true);
	cr_expect(file.counts.gpu_slices == 2);
	free(file.bytes);
	gt_trace_release(&trace);
}

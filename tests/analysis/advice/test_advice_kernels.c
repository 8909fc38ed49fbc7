/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "analysis/check_advice.h"
#include "analysis/kernels/shape_totals.h"
#include "base/strings.h"
#include "model/gpu/ceilings.h"
#include "model/naming/kernel_names.h"

/* The rules of report advice about kernels, each with a scene that has the fault and one that has
 * not. */

/* 10 ms, of which so many blocks of so many threads take 8. */
static void begin(gt_count blocks, gt_count threads)
{
	scene_begin(10000000);
	shape = trace_shape(&trace, "work", blocks, threads);
	trace_kernel(&trace, stream, shape, 1000000, 9000000);
}

static struct gt_launch_shape *launched(void)
{
	return &trace.launch_shapes.rows[shape];
}

/* Counters that rules go by are those that run --kernel-counters reads. */
Test(advice, goes_by_counters_that_there_are)
{
	static const char *const known[] = {
#define COUNTER(name, unit, sets, metric, help) #name,
#include "format/kinds/kernel_counters.def"
	};

	for (int i = 0; i < GT_SHAPE_COUNTERS; i++) {
		bool found = false;

		for (size_t j = 0; j < GT_COUNT_OF(known); j++)
			found |= strcmp(known[j], gt_shape_counter_name(i)) == 0;
		cr_expect(found, "there is no counter %s", gt_shape_counter_name(i));
	}
}

/* A hardware counter's value for the kernel's launch. */
static void measure(const char *name, double value)
{
	*gt_array_push(&trace.kernel_counters) = (struct gt_kernel_counter){
		.kernel = 0,
		.name = gt_strings_add(trace.strings, name),
		.value = value,
	};
}

static void forget(void)
{
	trace.kernel_counters.count = 0;
}

/* Blocks 0, 1, ... told one range each, on a multiprocessor each; it ends so many ms after 1 ms. */
static void tell(const double *ends_ms, gt_count count)
{
	for (gt_count i = 0; i < count; i++)
		trace_device_event(&trace, 0, GT_DEVICE_RANGE, "row", i, 1000000,
		                   1000000 + (gt_time)(ends_ms[i] * 1e6));
}

/* Covers ADVICE(uneven_blocks): three of four multiprocessors are done after 2 of 8 ms. */
Test(advice, on_uneven_blocks_is_worth_what_is_waited_for_the_last)
{
	const double uneven[] = {2, 2, 2, 8};
	const double even[] = {8, 8, 8, 7.5};

	begin(4, 256);
	tell(uneven, 4);
	ask();
	/* 3 x 6 ms of four multiprocessors; 8 / 3.5 ms. */
	expect_rule(
		"uneven_blocks", "change",
		"The multiprocessors of work are done 56.2% of its time before the last one is: "
		"row takes 2.29 times as long");
	expect_gain("uneven_blocks", "at most", 4500000);
	done();
	begin(4, 256);
	tell(even, 4);
	ask();
	expect_silence("uneven_blocks");
	done();
}

/* Blocks of a kernel told a range each that ends so many ms after the begin of the kernel. */
static void tell_of(gt_id kernel, const char *name, const double *ends_ms)
{
	const gt_time start_ns = trace.kernels.rows[kernel].start_ns - TRACE_START_NS;

	for (gt_count i = 0; i < 4; i++)
		trace_device_event(&trace, kernel, GT_DEVICE_RANGE, name, i, start_ns,
		                   start_ns + (gt_time)(ends_ms[i] * 1e6));
}

/* The advice on a kernel that begins with these words. */
static bool is_said(const char *words)
{
	for (size_t i = 0; i < row_count(&advice, "advice"); i++)
		if (strstr(cell(&advice, "advice", i, "advice")->text, words))
			return true;
	return false;
}

/* Each kernel has its own: that another one's is worse is no reason of it. */
Test(advice, on_uneven_blocks_names_a_range_of_the_kernel_itself)
{
	const double uneven[] = {1, 1, 1, 3};
	const double worse[] = {0.5, 0.5, 0.5, 5};

	scene_begin(10000000);
	shape = trace_shape(&trace, "work", 4, 256);
	trace_kernel(&trace, stream, shape, 1000000, 4000000);
	trace_kernel(&trace, stream, trace_shape(&trace, "other", 4, 256), 4000000, 9000000);
	tell_of(0, "row", uneven);
	tell_of(1, "column", worse);
	ask();
	cr_expect(is_said("row takes 2.00 times as long"));
	cr_expect(is_said("column takes 3.08 times as long"));
	cr_expect(is_said("The multiprocessors of work are done"));
	cr_expect(is_said("The multiprocessors of other are done"));
	done();
}

/* Covers ADVICE(tail_effect): an H200 holds 132 x 8 blocks of 256 threads. */
Test(advice, on_a_tail_is_worth_the_room_in_the_last_wave)
{
	begin(1056 + 106, 256);
	ask();
	/* 1.1 waves of 2: 45 percent of the room is empty. */
	expect_rule("tail_effect", "change", "The blocks of work fill GPU 0 1.10 times");
	expect_gain("tail_effect", "at most", 3598485);
	done();
}

Test(advice, on_a_tail_is_not_given_for_full_or_many_waves)
{
	begin(2 * 1056 - 100, 256);
	ask();
	expect_silence("tail_effect");
	launched()->grid_x = 10 * 1056 + 1;
	ask_again();
	expect_silence("tail_effect");
	launched()->grid_x = 1056;
	ask_again();
	expect_silence("tail_effect");
	launched()->grid_x = 1056 + 106;
	launched()->cluster_x = 2;
	ask_again();
	expect_silence("tail_effect");
	done();
}

Test(advice, on_kernels_is_not_given_for_those_that_take_little)
{
	begin(1056 + 106, 256);
	trace.kernels.rows[0].end_ns = trace.kernels.rows[0].start_ns + 499999;
	ask();
	expect_silence("tail_effect");
	trace.kernels.rows[0].end_ns++;
	ask_again();
	cr_expect(says("tail_effect"));
	done();
}

/* Covers ADVICE(small_grids). */
Test(advice, on_small_grids_is_worth_the_empty_multiprocessors)
{
	begin(33, 256);
	ask();
	expect_rule("small_grids", "change", "work has 33 blocks for the 132 multiprocessors");
	expect_gain("small_grids", "at most", 6000000);
	expect_silence("tail_effect");
	launched()->grid_x = 132;
	ask_again();
	expect_silence("small_grids");
	done();
}

Test(advice, on_small_grids_is_not_given_for_kernels_side_by_side)
{
	begin(33, 256);
	trace_kernel(&trace, trace_stream(&trace, process, device), shape, 1000000, 9000000);
	ask();
	expect_silence("small_grids");
	done();
}

/* 255 registers let 8 warps of 64 be there. */
static void begin_with_registers(void)
{
	begin(13200, 256);
	launched()->registers = 255;
}

/* Covers ADVICE(low_occupancy). */
Test(advice, on_occupancy_is_given_where_the_kernel_waits)
{
	begin_with_registers();
	measure("dram_throughput_percent", 20);
	measure("sm_throughput_percent", 40);
	ask();
	expect_rule(
		"low_occupancy", "change",
		"work waits most of its time: memory is used to 20.0%, multiprocessors to 40.0%. "
		"Its registers let 12.5%");
	expect_gain("low_occupancy", "at most", 4800000);
	done();
}

Test(advice, on_occupancy_is_not_given_where_something_is_used_to_its_most)
{
	begin_with_registers();
	measure("dram_throughput_percent", 85);
	measure("sm_throughput_percent", 40);
	ask();
	expect_silence("low_occupancy");
	forget();
	measure("dram_throughput_percent", 5);
	measure("sm_throughput_percent", 70);
	ask_again();
	expect_silence("low_occupancy");
	forget();
	measure("dram_throughput_percent", 5);
	measure("sm_throughput_percent", 40);
	measure("memory_throughput_percent", 90); /* the L2 cache */
	ask_again();
	expect_silence("low_occupancy");
	done();
}

/* One block of 255 registers fits on each of 132 multiprocessors. */
Test(advice, on_occupancy_is_not_given_where_there_are_no_more_blocks)
{
	begin(132, 256);
	launched()->registers = 255;
	measure("dram_throughput_percent", 20);
	measure("sm_throughput_percent", 40);
	ask();
	expect_rule("low_occupancy", "change", "work waits most of its time");
	done();
	begin(131, 256);
	launched()->registers = 255;
	measure("dram_throughput_percent", 20);
	measure("sm_throughput_percent", 40);
	ask();
	expect_silence("low_occupancy");
	forget();
	ask_again();
	expect_silence("low_occupancy");
	done();
}

Test(advice, on_occupancy_says_what_to_measure)
{
	begin_with_registers();
	ask();
	expect_rule("low_occupancy", "measure", "run --kernel-counters tells");
	expect_no_gain("low_occupancy");
	cr_expect(ne(ptr, strstr(not_asked("low_occupancy"), "--kernel-counters"), NULL));
	launched()->family = GT_FAMILY_gemm;
	ask_again();
	expect_silence("low_occupancy");
	launched()->family = GT_FAMILY_other;
	launched()->registers = 32;
	ask_again();
	expect_silence("low_occupancy");
	done();
}

/* So many sectors for each of a hundred million loads. */
static void measure_loads(double sectors)
{
	forget();
	measure("duration_ns", 8000000);
	measure("global_load_requests", 1e8);
	measure("global_load_sectors", sectors * 1e8);
	measure("global_store_requests", 1e6);
	measure("global_store_sectors", 4e6);
	measure("local_load_sectors", 0);
	measure("local_store_sectors", 0);
}

/* Covers ADVICE(uncoalesced). */
Test(advice, on_access_is_given_for_more_sectors_than_any_row_takes)
{
	begin(13200, 256);
	trace.devices.rows[device].sm_clock_khz = 1980000;
	measure_loads(32);
	ask();
	expect_rule("uncoalesced", "change",
	            "A load of work from global memory touches 32.00 sectors");
	expect_gain("uncoalesced", "at most", 7000000);
	measure_loads(16);
	ask_again();
	expect_silence("uncoalesced");
	done();
}

Test(advice, on_access_is_not_given_for_few_loads)
{
	begin(13200, 256);
	trace.devices.rows[device].sm_clock_khz = 1980000;
	measure("duration_ns", 8000000);
	measure("global_load_requests", 1e6);
	measure("global_load_sectors", 32e6);
	ask();
	expect_silence("uncoalesced");
	forget();
	ask_again();
	expect_silence("uncoalesced");
	expect_text(not_asked("uncoalesced"),
	            "no launches were profiled (run --kernel-counters=memory)");
	done();
}

/* Device memory that is at its most moves fewer sectors than a tenth of what the L1 caches do. */
Test(advice, on_access_is_given_where_memory_is_used)
{
	static const char *const uses[] = {"dram_throughput_percent", "memory_throughput_percent"};

	for (size_t i = 0; i < GT_COUNT_OF(uses); i++) {
		begin(13200, 256);
		measure("sm_active_cycles", 16e6);
		measure("global_load_requests", 4325376);
		measure("global_load_sectors", 4325376 * 32.0);
		measure(uses[i], 59);
		ask();
		expect_silence("uncoalesced");
		measure(uses[i], 61); /* mean with the 59 above: 60 */
		ask_again();
		expect_rule("uncoalesced", "change", "touches 32.00 sectors");
		expect_gain("uncoalesced", "at most", 7000000);
		done();
	}
}

/* Covers ADVICE(spills). */
Test(advice, on_spills_goes_by_what_is_loaded_and_stored)
{
	begin(13200, 256);
	launched()->local_per_thread_bytes = 400;
	launched()->local_known = 1;
	measure_loads(4);
	ask();
	expect_silence("spills");
	measure_loads(4);
	measure("local_load_sectors", 4e8); /* mean with the 0 above: 2e8 */
	ask_again();
	expect_rule("spills", "change", "33.1% of what work loads and stores");
	expect_no_gain("spills");
	done();
}

/* A tenth of all sectors, local ones among them: 9.5 percent are no reason. */
Test(advice, on_spills_is_given_from_a_tenth_of_all_sectors_on)
{
	begin(13200, 256);
	measure("global_load_sectors", 900);
	measure("global_store_sectors", 5);
	measure("local_load_sectors", 95);
	measure("local_store_sectors", 0);
	ask();
	expect_silence("spills");
	measure("global_load_sectors", 890); /* mean: 895 */
	measure("local_load_sectors", 105);  /* 100 */
	ask_again();
	expect_rule("spills", "change", "10.0% of what work loads and stores");
	done();
}

/* CUPTI says 0 of a kernel with an array of 1 KiB. */
Test(advice, on_spills_does_not_need_to_know_how_much_local_memory_there_is)
{
	begin(13200, 256);
	ask();
	expect_silence("spills");
	expect_text(not_asked("spills"),
	            "no launches were profiled (run --kernel-counters=memory)");
	measure("global_load_sectors", 0);
	measure("global_store_sectors", 0);
	measure("local_load_sectors", 0);
	measure("local_store_sectors", 0);
	ask_again();
	expect_silence("spills");
	measure("local_load_sectors", 2e8);
	ask_again();
	expect_rule("spills", "change", "100.0% of what work loads and stores");
	expect_text(not_asked("spills"), "");
	for (size_t i = 0; i < row_count(&advice, "evidence"); i++)
		cr_expect(ne(int,
		             strcmp(cell(&advice, "evidence", i, "column")->text, "local_bytes"),
		             0));
	done();
}

Test(advice, on_spills_says_what_to_measure_where_there_is_much_local_memory)
{
	begin(13200, 256);
	launched()->local_per_thread_bytes = 64;
	launched()->local_known = 1;
	ask();
	expect_rule("spills", "measure", "A thread of work has 64 B of local memory");
	launched()->local_per_thread_bytes = 63;
	ask_again();
	expect_silence("spills");
	launched()->local_per_thread_bytes = 64;
	launched()->local_known = 0;
	ask_again();
	expect_silence("spills");
	done();
}

/* Covers ADVICE(bank_conflicts). */
Test(advice, on_bank_conflicts_is_worth_their_cycles)
{
	begin(13200, 256);
	measure("sm_active_cycles", 1e6);
	measure("shared_load_conflicts", 132 * 4e5);
	measure("shared_store_conflicts", 132 * 1e5);
	ask();
	expect_rule("bank_conflicts", "change", "for 50.0% of the cycles of work");
	expect_gain("bank_conflicts", "at most", 4000000);
	forget();
	measure("sm_active_cycles", 1e6);
	measure("shared_load_conflicts", 132 * 9e4);
	measure("shared_store_conflicts", 0);
	ask_again();
	expect_silence("bank_conflicts");
	forget();
	measure("shared_load_conflicts", 1e12);
	measure("shared_store_conflicts", 0);
	ask_again();
	expect_silence("bank_conflicts"); /* of how many cycles is not known */
	done();
}

static void begin_gemm(const char *name)
{
	begin(13200, 256);
	launched()->family = GT_FAMILY_gemm;
	launched()->short_name = gt_strings_add(trace.strings, name);
	launched()->tile = gt_strings_add(trace.strings, "128x64");
}

static void add_ceiling(enum gt_ceiling_name name, double value, gt_count source)
{
	*gt_array_push(&trace.ceilings) = (struct gt_ceiling){
		.device = device,
		.peer = GT_NONE,
		.name = gt_strings_add(trace.strings, gt_ceiling_names[name]),
		.value = value,
		.spread = NAN,
		.source = source,
	};
}

/* Covers ADVICE(tensor_idle). */
Test(advice, on_tensor_cores_is_given_for_multiplications_that_leave_them_idle)
{
	begin_gemm("gemm 128x64 tn fp32 (xmma sm80)");
	measure("tensor_active_percent", 0);
	measure("dram_throughput_percent", 10);
	ask();
	expect_rule("tensor_idle", "change",
	            "tensor cores worked in 0.0% of its cycles. FP32 runs");
	expect_no_gain("tensor_idle");
	add_ceiling(GT_CEILING_fp32, 60e12, GT_CEILING_DATA_SHEET);
	add_ceiling(GT_CEILING_tensor_tf32, 480e12, GT_CEILING_DATA_SHEET);
	ask_again();
	expect_gain("tensor_idle", "at most", 7000000);
	done();
}

Test(advice, on_tensor_cores_is_not_given_where_they_work_or_cannot_help)
{
	begin_gemm("gemm 128x64 tn fp32 (xmma sm80)");
	measure("tensor_active_percent", 40);
	ask();
	expect_silence("tensor_idle");
	forget();
	measure("tensor_active_percent", 0);
	measure("dram_throughput_percent", 80);
	ask_again();
	expect_silence("tensor_idle");
	forget();
	measure("tensor_active_percent", 0);
	launched()->tile = 0; /* a vector */
	ask_again();
	expect_silence("tensor_idle");
	done();
}

Test(advice, on_tensor_cores_says_what_to_measure_of_fp32_alone)
{
	begin_gemm("gemm 128x64 tn fp32 (xmma sm80)");
	ask();
	expect_rule("tensor_idle", "measure", "run --kernel-counters=compute tells");
	launched()->short_name =
		gt_strings_add(trace.strings, "gemm 128x64 tn tf32 (cutlass sm80)");
	ask_again();
	expect_silence("tensor_idle");
	done();
}

/* Whether a report has that table and column. */
static bool has_column(const char *report, const char *table, const char *column)
{
	const struct gt_section *section;
	struct gt_result result;
	bool found = false;

	run_report(&result, report, &trace);
	section = gt_result_find(&result, table);
	for (size_t i = 0; section && i < section->heading_count; i++)
		found |= strcmp(section->headings[i].name, column) == 0;
	gt_result_release(&result);
	return found;
}

Test(advice, names_where_counters_are_shown)
{
	begin(13200, 256);
	measure("dram_throughput_percent", 90);
	ask();
	cr_assert(eq(sz, row_count(&advice, "evidence"), 2));
	for (size_t i = 0; i < 2; i++)
		cr_expect(has_column(cell(&advice, "evidence", i, "report")->text,
		                     cell(&advice, "evidence", i, "table")->text,
		                     cell(&advice, "evidence", i, "column")->text));
	done();
}

/* Covers ADVICE(memory_roof). */
Test(advice, on_memory_at_its_roof_is_that_there_is_nothing_to_gain)
{
	begin(13200, 256);
	measure("dram_throughput_percent", 90);
	ask();
	expect_rule("memory_roof", "know", "work uses device memory to 90.0% of its peak");
	expect_gain("memory_roof", "at most", 800000);
	forget();
	measure("dram_throughput_percent", 84);
	ask_again();
	expect_silence("memory_roof");
	done();
}

/* A kernel that copies gets less of the peak than one that reads: 83.3 percent on an H200, which is
 * all there is. */
Test(advice, on_memory_goes_by_what_was_measured_for_such_traffic)
{
	begin(13200, 256);
	measure("dram_throughput_percent", 83.3);
	measure("dram_read_bytes", 16e9);
	measure("dram_write_bytes", 16e9);
	measure("duration_ns", 8000000);
	ask();
	expect_silence("memory_roof");
	add_ceiling(GT_CEILING_dram_copy, 4.8e12, GT_CEILING_DATA_SHEET);
	ask_again();
	expect_silence("memory_roof");
	add_ceiling(GT_CEILING_dram_copy, 4.25e12, GT_CEILING_SAME_MODEL);
	ask_again();
	expect_rule("memory_roof", "know", "at 94.1% of the rate that was measured");
	expect_gain("memory_roof", "at most", 470588);
	add_ceiling(GT_CEILING_dram_copy, 4.5e12, GT_CEILING_HERE);
	ask_again();
	expect_silence("memory_roof");
	done();
}

/* Where no launch was profiled samples tell as much. */
Test(advice, goes_by_samples_too)
{
	const double values[] = {20, 90, 90, 90, 90, 90, 90, 90, 90, 20};
	const struct trace_column columns[] = {
		{"dram_throughput_percent", "%", GT_COUNTER_MEAN, values}};

	begin(13200, 256);
	trace_sampled(&trace, device, 0, 1000000, columns, 1, 10);
	ask();
	expect_rule("memory_roof", "know", "to 90.0% of its peak");
	done();
}

static void expect_evidence(const char *report, const char *table, const char *column)
{
	for (size_t i = 0; i < row_count(&advice, "evidence"); i++)
		if (strcmp(cell(&advice, "evidence", i, "report")->text, report) == 0 &&
		    strcmp(cell(&advice, "evidence", i, "table")->text, table) == 0 &&
		    strcmp(cell(&advice, "evidence", i, "column")->text, column) == 0)
			return;
	cr_fatal("nothing goes by %s of table %s of report %s", column, table, report);
}

/* Profiled launches take as long as their counters say, and no more; report kernels has no time of
 * them. */
Test(advice, does_not_count_how_long_replays_took)
{
	begin(1056 + 106, 256);
	trace.kernels.rows[0].flags = GT_PROFILED;
	ask();
	expect_silence("tail_effect");
	measure("duration_ns", 1000000);
	ask_again();
	expect_gain("tail_effect", "at most", 449811);
	expect_evidence("counters", "profiled", "mean_ns");
	done();
}

/* The row that evidence names is there, without times, where all launches of the shape were
 * profiled. */
Test(advice, on_profiled_launches_names_rows_that_there_are)
{
	struct gt_result kernels;

	begin(1056 + 106, 256);
	trace.kernels.rows[0].flags = GT_PROFILED;
	measure("duration_ns", 1000000);
	ask();
	expect_evidence("kernels", "launch_shapes", "waves_per_sm");
	run_report(&kernels, "kernels", &trace);
	cr_assert(eq(sz, row_count(&kernels, "launch_shapes"), 1));
	expect_real(&kernels, "launch_shapes", 0, "waves_per_sm", 1162.0 / 1056);
	expect_count(&kernels, "launch_shapes", 0, "calls", 0);
	expect_unknown(&kernels, "launch_shapes", 0, "total_ns");
	expect_unknown(&kernels, "launch_shapes", 0, "mean_ns");
	gt_result_release(&kernels);
	done();
}

/* Two streams with a priority each, and kernels of 100 us on both. */
static gt_id begin_priorities(int times)
{
	gt_id low;

	scene_begin(10000000);
	low = trace_stream(&trace, process, device);
	for (size_t i = 0; i < trace.streams.count; i++)
		trace.streams.rows[i].flags = 2; /* non-blocking */
	trace.streams.rows[stream].priority = -5;
	for (gt_time i = 0; i < times; i++) {
		const gt_time at = i * 400000;
		const gt_id call = trace_call(&trace, thread, "cudaLaunchKernel", at, at + 5000);

		/* The urgent one is ready at 5 us; the other begins at 10 us. */
		trace_kernel(&trace, low, shape, at + 10000, at + 110000);
		trace_kernel(&trace, stream, shape, at + 110000, at + 210000)->api_call = call;
	}
	return low;
}

/* Covers ADVICE(priorities_inverted). */
Test(advice, on_priorities_is_worth_what_urgent_kernels_waited)
{
	begin_priorities(20);
	ask();
	expect_rule("priorities_inverted", "change",
	            "20 kernels of more urgent streams were ready on GPU 0 and waited for 2.10 ms");
	expect_gain("priorities_inverted", "at most", 20 * 105000);
	done();
}

Test(advice, on_priorities_is_not_given_where_the_order_is_as_asked_for)
{
	const gt_id low = begin_priorities(20);

	trace.streams.rows[low].priority = -5;
	ask();
	expect_silence("priorities_inverted");
	trace.streams.rows[low].priority = -6;
	ask_again();
	expect_silence("priorities_inverted");
	trace.streams.rows[low].priority = 0;
	trace.streams.rows[low].flags = 1; /* it and the default stream wait for each other */
	ask_again();
	expect_silence("priorities_inverted");
	done();
}

Test(advice, on_priorities_is_not_given_for_kernels_that_wait_for_others)
{
	begin_priorities(20);
	for (gt_id i = 0; i < 40; i += 2) /* by an event of the other stream */
		*gt_array_push(&trace.edges) = (struct gt_edge){
			.from_table = GT_TABLE_kernels,
			.from_row = i,
			.to_table = GT_TABLE_kernels,
			.to_row = i + 1,
			.sync = GT_NONE,
			.kind = GT_EDGE_EVENT,
		};
	ask();
	expect_silence("priorities_inverted");
	done();
}

/* Covers ADVICE(fewer_sms). */
Test(advice, tells_of_multiprocessors_that_the_program_has_not)
{
	begin(1056, 256);
	trace.processes.rows[process].environment =
		gt_strings_add(trace.strings, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=25.5\n");
	ask();
	expect_rule("fewer_sms", "know",
	            "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=25: MPS gave 1 process");
	expect_no_gain("fewer_sms");
	trace.processes.rows[process].environment =
		gt_strings_add(trace.strings, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=100\n");
	ask_again();
	expect_silence("fewer_sms");
	done();
}

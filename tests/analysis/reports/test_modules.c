/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "analysis/check_report.h"
#include "base/strings.h"
#include "model/view/filter.h"

static struct gt_trace trace;
static struct gt_result result;
static gt_id process;
static gt_id thread;
static gt_id stream;
static gt_id shape;

static void begin(void)
{
	trace_init(&trace, 1000);
	process = trace_process(&trace, "app", 100);
	thread = trace_thread(&trace, process, 100);
	stream = trace_stream(&trace, process, trace_device(&trace));
	shape = trace_shape(&trace, "gemm", 1, 32);
}

static void end(void)
{
	gt_result_release(&result);
	gt_trace_release(&trace);
}

TestSuite(modules, .init = begin, .fini = end);

/* Has four functions; NAN: its load time is not known. */
static struct gt_module *add_module(gt_wide hash, gt_time loaded_ns, double load_ns)
{
	struct gt_module *module = gt_array_push(&trace.modules);

	*module = (struct gt_module){
		.loaded_ns = TRACE_START_NS + loaded_ns,
		.noted_ns = TRACE_START_NS + loaded_ns + 5,
		.load_ns = load_ns,
		.jit_ns = 0,
		.size_bytes = 4096,
		.hash = hash,
		.process = process,
		.thread = thread,
		.context = trace.streams.rows[stream].context,
		.api_call = GT_NONE,
		.arch = 90,
		.function_count = 4,
		.traits = GT_MODULE_READ | GT_MODULE_JIT,
	};
	return module;
}

/* In the module that was added last. */
static void add_function(const char *name)
{
	*gt_array_push(&trace.functions) = (struct gt_function){
		.module = (gt_id)trace.modules.count - 1,
		.process = process,
		.context = trace.streams.rows[stream].context,
		.name = gt_strings_add(trace.strings, name),
		.name_hash = 7,
		.registers = 32,
		.known = GT_FUNCTION_LAUNCHED,
	};
}

/* Of CUPTI's kind, in a call. */
static void add_overhead(gt_count kind, gt_id call, gt_time start_ns, gt_time end_ns)
{
	*gt_array_push(&trace.overheads) = (struct gt_overhead){
		.start_ns = TRACE_START_NS + start_ns,
		.end_ns = TRACE_START_NS + end_ns,
		.process = process,
		.kind = kind,
		.api_call = call,
	};
}

Test(modules, tell_what_loading_cost_and_which_calls_waited)
{
	const gt_id call = trace_call(&trace, thread, "cuLaunchKernel", 0, 150);
	const gt_id other = trace_call(&trace, thread, "cuModuleLoadData", 200, 260);

	add_module(1, 90, 80)->api_call = call;
	add_module(2, 140, 40)->api_call = call;
	add_module(2, 250, 50)->api_call = other;
	add_module(3, 300, (double)NAN);
	run_report(&result, "modules", &trace);

	cr_assert(eq(sz, row_count(&result, "processes"), 1));
	expect_count(&result, "processes", 0, "modules", 4);
	expect_count(&result, "processes", 0, "different", 3);
	expect_count(&result, "processes", 0, "size_bytes", 4 * 4096);
	expect_count(&result, "processes", 0, "reading_ns", 0);
	expect_count(&result, "processes", 0, "load_ns", 170);
	expect_real(&result, "processes", 0, "load_percent", 17.0);
	expect_count(&result, "processes", 0, "not_measured", 1);
	expect_count(&result, "processes", 0, "calls", 2);
	expect_count(&result, "processes", 0, "functions", 16);
	expect_count(&result, "processes", 0, "gputrace_ns", 20);

	cr_assert(eq(sz, row_count(&result, "modules"), 4));
	expect_words(&result, "modules", 0, "hash", "0000000000000001");
	expect_count(&result, "modules", 0, "load_ns", 80);
	expect_count(&result, "modules", 0, "loaded_ns", 90);
	expect_words(&result, "modules", 0, "call", "cuLaunchKernel");
	expect_words(&result, "modules", 0, "arch", "sm_90");
	cr_expect(cell(&result, "modules", 0, "main_kernel")->unknown);
	cr_expect(cell(&result, "modules", 3, "load_ns")->unknown);
	cr_expect(cell(&result, "modules", 3, "call")->unknown);

	cr_assert(eq(sz, row_count(&result, "calls"), 3));
	expect_words(&result, "calls", 0, "call", "cuLaunchKernel");
	expect_count(&result, "calls", 0, "calls", 1);
	expect_count(&result, "calls", 0, "modules", 2);
	expect_count(&result, "calls", 0, "load_ns", 120);
	expect_count(&result, "calls", 0, "gputrace_ns", 10);
	expect_count(&result, "calls", 0, "call_ns", 150);
	expect_count(&result, "calls", 1, "most_ns", 60);
}

/* As cuBLAS loads its kernels. */
Test(modules, of_calls_that_are_not_recorded_stand_last_in_the_table_of_calls)
{
	add_module(1, 90, 80);
	add_module(2, 190, (double)NAN);
	run_report(&result, "modules", &trace);
	cr_assert(eq(sz, row_count(&result, "calls"), 1));
	cr_expect(cell(&result, "calls", 0, "call")->unknown);
	cr_expect(cell(&result, "calls", 0, "call_ns")->unknown);
	expect_count(&result, "calls", 0, "modules", 2);
	expect_count(&result, "calls", 0, "load_ns", 80);
	expect_count(&result, "calls", 0, "not_measured", 1);
	cr_expect(has_remark(&result, "Modules without a call were loaded in calls that are not"));
}

/* On what an option chooses. */
static void run_chosen(enum gt_filter_part part, const char *value)
{
	struct gt_error err = {0};
	struct gt_filter filter;
	struct gt_view view;

	gt_filter_init(&filter);
	cr_assert(eq(int, gt_filter_add(&filter, part, value, &err), 0), "%s", err.text);
	cr_assert(eq(int, gt_view_cut(&view, &trace, &filter, &err), 0), "%s", err.text);
	run_report_on(&result, "modules", &view);
	gt_filter_release(&filter);
}

/* Most of the time of a large library is not its loading, which is done when it is needed. */
Test(modules, count_calls_that_take_code_in_and_what_is_loaded_later)
{
	enum { RESOURCE = 3 << 16, LAZY_FUNCTION_LOADING = 5 << 16 };
	const gt_id outer = trace_call(&trace, thread, "cudaLibraryLoadData", 0, 300);
	const gt_id inner = trace_call(&trace, thread, "cuLibraryLoadData", 10, 290);
	const gt_id launch = trace_call(&trace, thread, "cuLaunchKernel", 400, 500);
	const gt_id unload = trace_call(&trace, thread, "cuLibraryUnload", 600, 700);

	trace.api_calls.rows[outer].kind = GT_API_MODULE;
	trace.api_calls.rows[inner].kind = GT_API_MODULE;
	trace.api_calls.rows[unload].kind = GT_API_MODULE;
	trace.api_calls.rows[launch].kind = GT_API_LAUNCH;
	add_module(1, 450, 50)->api_call = launch;
	add_overhead(RESOURCE, launch, 455, 460);
	add_overhead(LAZY_FUNCTION_LOADING, launch, 460, 480);
	add_overhead(LAZY_FUNCTION_LOADING, launch, 510,
	             520); /* after it: in one that is not there */
	run_report(&result, "modules", &trace);

	expect_count(&result, "processes", 0, "reading_ns", 300);
	expect_count(&result, "processes", 0, "load_ns", 50);
	expect_count(&result, "processes", 0, "functions_ns", 30);
	expect_real(&result, "processes", 0, "load_percent", 38.0);
	expect_count(&result, "processes", 0, "calls", 2);
	cr_assert(eq(sz, row_count(&result, "calls"), 2));
	expect_words(&result, "calls", 0, "call", "cudaLibraryLoadData");
	expect_count(&result, "calls", 0, "modules", 0);
	expect_count(&result, "calls", 0, "load_ns", 0);
	expect_count(&result, "calls", 0, "call_ns", 300);
	expect_count(&result, "calls", 1, "functions_ns", 20);
}

/* Load times begin before the window: no share is more than all of it. */
Test(modules, of_a_window_have_a_share_of_what_was_in_it)
{
	add_module(1, 650, 640);
	trace_kernel(&trace, stream, shape, 660, 670);
	run_chosen(GT_FILTER_FROM, "500ns");
	expect_count(&result, "processes", 0, "load_ns", 640);
	expect_real(&result, "processes", 0, "load_percent", 30.0);
}

Test(modules, of_chosen_kernels_are_those_that_they_are_of)
{
	add_module(1, 50, 10);
	add_function("gemm");
	add_module(2, 60, 10);
	add_function("other");
	trace_kernel(&trace, stream, shape, 100, 300);
	trace_kernel(&trace, stream, trace_shape(&trace, "other", 1, 32), 700, 800);
	run_chosen(GT_FILTER_KERNEL, "other");
	expect_count(&result, "processes", 0, "modules", 1);
	cr_assert(eq(sz, row_count(&result, "modules"), 1));
	expect_words(&result, "modules", 0, "hash", "0000000000000002");
	cr_assert(eq(sz, row_count(&result, "functions"), 1));
}

Test(modules, tell_what_ran_of_them)
{
	add_module(1, 50, 10);
	add_function("gemm");
	add_function("idle");
	add_module(1, 500, 10)->unloaded_ns =
		0; /* the same again: kernels from then on are of it */
	add_function("gemm");
	trace_kernel(&trace, stream, shape, 100, 300);
	trace_kernel(&trace, stream, shape, 600, 650);
	trace_kernel(&trace, stream, trace_shape(&trace, "stranger", 1, 32), 700, 800);
	run_report(&result, "modules", &trace);

	expect_count(&result, "modules", 0, "kernels", 1);
	expect_count(&result, "modules", 0, "kernel_ns", 200);
	expect_count(&result, "modules", 0, "functions_used", 1);
	expect_words(&result, "modules", 0, "main_kernel", "gemm");
	expect_count(&result, "modules", 1, "kernel_ns", 50);
	cr_assert(eq(sz, row_count(&result, "functions"), 1));
	expect_words(&result, "functions", 0, "function", "gemm");
	expect_count(&result, "functions", 0, "kernels", 2);
	expect_count(&result, "functions", 0, "kernel_ns", 250);
	expect_count(&result, "functions", 0, "registers", 32);
	cr_expect(cell(&result, "functions", 0, "compiled_registers")->unknown);
	cr_expect(cell(&result, "functions", 0, "constant_bytes")->unknown);
	cr_expect(cell(&result, "functions", 0, "source")->unknown);
	cr_expect(has_remark(&result, "1 kernels are of no known module"));
	cr_expect(not(has_remark(&result, "Compilations were not recorded")));
}

Test(modules, say_where_a_function_was_written)
{
	add_module(1, 50, 10)->traits |= GT_MODULE_KEPT;
	add_function("gemm");
	trace.functions.rows[0].known = GT_FUNCTION_READ;
	trace.functions.rows[0].source_file = gt_strings_add(trace.strings, "/src/gemm.py");
	trace.functions.rows[0].source_line = 42;
	trace.functions.rows[0].registers = 10;
	trace_kernel(&trace, stream, shape, 100, 300);
	run_report(&result, "modules", &trace);
	expect_words(&result, "functions", 0, "source", "/src/gemm.py:42");
	expect_count(&result, "functions", 0, "constant_bytes", 0);
	expect_count(&result, "functions", 0, "registers", 32);
	expect_count(&result, "functions", 0, "compiled_registers", 10);
	expect_unknown(&result, "functions", 0, "local_bytes");
	gt_result_release(&result);
	trace.functions.rows[0].local_known = 1;
	run_report(&result, "modules", &trace);
	expect_count(&result, "functions", 0, "local_bytes", 0);
}

Test(modules, whose_functions_nobody_noted_say_nothing_of_what_ran)
{
	add_module(1, 50, 10)->traits = 0;
	trace_kernel(&trace, stream, shape, 100, 300);
	run_report(&result, "modules", &trace);
	cr_expect(has_remark(&result, "Compilations were not recorded"));
	cr_expect(cell(&result, "modules", 0, "functions")->unknown);
	cr_expect(cell(&result, "modules", 0, "kernels")->unknown);
}

/* Eight threads load at once: the process loads for as long as any of them does. */
Test(modules, of_several_threads_are_loaded_at_the_same_time)
{
	for (gt_wide i = 0; i < 8; i++)
		add_module(i, 400, 300)->thread = trace_thread(&trace, process, 101 + (gt_count)i);
	run_report(&result, "modules", &trace);
	expect_count(&result, "processes", 0, "load_ns", 2400);
	expect_real(&result, "processes", 0, "load_percent", 30.0);
}

Test(modules, compilations_are_summed_by_what_was_done)
{
	for (int i = 0; i < 3; i++)
		*gt_array_push(&trace.jits) = (struct gt_jit){
			.start_ns = TRACE_START_NS + 100,
			.end_ns = TRACE_START_NS + 130,
			.operation = i < 2 ? 3 : 1,
			.entry = 1,
		};
	run_report(&result, "modules", &trace);
	cr_assert(eq(sz, row_count(&result, "compilations"), 2));
	expect_words(&result, "compilations", 0, "operation", "cache load");
	expect_words(&result, "compilations", 1, "operation", "compile");
	expect_words(&result, "compilations", 1, "what", "PTX to cubin");
	expect_count(&result, "compilations", 1, "count", 2);
	expect_count(&result, "compilations", 1, "total_ns", 60);
}

Test(modules, of_an_older_recording_are_not_measured)
{
	run_report(&result, "modules", &trace);
	cr_expect(eq(sz, row_count(&result, "modules"), 0));
	cr_expect(has_remark(&result, "No modules were recorded: not measured."));
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/check_scene.h"
#include "base/strings.h"
#include "model/view/filter.h"

/* The kernel began the process at 10 ms, recording began in it at 25 ms. */
enum { TICK_NS = 10000000, BEGAN_NS = 25000000, AT = BEGAN_NS - TRACE_START_NS };

static void begin(void)
{
	scene_begin(2000000000);
	trace.start_ns = TRACE_START_NS;
	trace.processes.rows[process].start_ns = BEGAN_NS;
	trace.processes.rows[process].started_ticks = 1;
}

TestSuite(startup, .init = begin, .fini = scene_end);

static int part(const char *name)
{
	for (size_t i = 0; i < row_count(&result, "parts"); i++)
		if (strcmp(cell(&result, "parts", (int)i, "part")->text, name) == 0)
			return (int)i;
	cr_assert(false, "no part %s", name);
	return 0;
}

static void expect_part(const char *name, int64_t wall_ns)
{
	expect_count(&result, "parts", part(name), "wall_ns", wall_ns);
}

/* Seven steps, the first two of which take longer; each launches a kernel. */
static void train(void)
{
	for (gt_time i = 0; i < 7; i++) {
		const gt_time at = AT + 1000 + 1000 * i;
		const gt_id step = trace_range(&trace, thread, GT_NONE, "step", at,
		                               at + (i == 0   ? 900
		                                     : i == 1 ? 130
		                                              : 100 + i));

		scene_launch(step, at + 10, at + 20, at + 30);
	}
}

static struct gt_module *add_module(gt_time loaded_ns, double load_ns, double jit_ns)
{
	struct gt_module *module = gt_array_push(&trace.modules);

	*module = (struct gt_module){
		.loaded_ns = TRACE_START_NS + loaded_ns,
		.noted_ns = TRACE_START_NS + loaded_ns,
		.load_ns = load_ns,
		.jit_ns = jit_ns,
		.process = process,
		.thread = thread,
		.context = trace.streams.rows[stream].context,
		.api_call = GT_NONE,
	};
	return module;
}

Test(startup, lasts_to_the_first_steady_step)
{
	trace_call(&trace, thread, "cudaGetDeviceCount", AT + 100, AT + 110);
	trace_call(&trace, thread, "cudaMalloc", AT + 200, AT + 500);
	trace_call(&trace, thread, "cudaMalloc", AT + 600, AT + 620);
	train();
	run_report(&result, "startup", &trace);
	expect_count(&result, "startup", 0, "startup_ns", BEGAN_NS - TICK_NS + 3000);
	expect_count(&result, "startup", 0, "before_ns", BEGAN_NS - TICK_NS);
	expect_count(&result, "startup", 0, "steps", 2);
	expect_count(&result, "startup", 0, "first_step_ns", 900);
	expect_count(&result, "startup", 0, "median_ns", 105);
	expect_words(&result, "startup", 0, "until", "step 3 of step");
	expect_part("before it used CUDA", BEGAN_NS - TICK_NS);
	expect_part("from cuInit to its first recorded call", 100);
	expect_part("other CUDA calls", 10);
	expect_part("making contexts", 300);
	expect_part("allocating memory", 20);
	expect_part("launching", 10);
	expect_part("in no CUDA call", 3000 - 100 - 10 - 300 - 20 - 10);
	expect_count(&result, "parts", part("launching"), "calls", 2);
	expect_unknown(&result, "parts", part("in no CUDA call"), "calls");
	cr_assert(eq(sz, row_count(&result, "savings"), 1));
	expect_count(&result, "savings", 0, "could_save_ns", 900 - 105 + 130 - 105);
	expect_count(&result, "savings", 0, "count", 2);
}

/* Threads at once: what stands first in the list of parts counts. */
Test(startup, has_one_part_at_each_moment)
{
	const gt_id other = trace_thread(&trace, process, 8);

	trace_call(&trace, thread, "cuCtxCreate_v2", AT + 100, AT + 200);
	trace_call(&trace, other, "cudaDeviceSynchronize", AT + 150, AT + 400);
	trace_call(&trace, thread, "cudaMemcpy", AT + 300, AT + 350);
	trace_kernel(&trace, stream, shape, AT + 600, AT + 700);
	trace_kernel(&trace, stream, shape, AT + 700, AT + 900);
	add_module(AT + 340, 20, 0);
	run_report(&result, "startup", &trace);
	expect_words(&result, "startup", 0, "until", "first kernel");
	expect_unknown(&result, "startup", 0, "steps");
	expect_part("making contexts", 100);
	expect_part("loading code", 20);
	expect_part("copying and filling", 30);
	expect_part("waiting for a GPU", 150);
	expect_part("in no CUDA call", 200);
	cr_expect(has_remark(&result, "A process without steps"));
}

/* In the module that was added last. */
static void add_function(const char *name)
{
	*gt_array_push(&trace.functions) = (struct gt_function){
		.module = (gt_id)trace.modules.count - 1,
		.process = process,
		.name = gt_strings_add(trace.strings, name),
	};
}

Test(startup, tells_what_could_be_saved)
{
	trace_kernel(&trace, stream, trace_shape(&trace, "trial", 1, 32), AT + 500, AT + 700);
	train();
	add_module(AT + 300, 50, 40);
	add_module(AT + 400, 70, 0);
	add_module(AT + 9000, 500, 300); /* after it */
	run_report(&result, "startup", &trace);
	/* Kernels are of modules that are not known: any may have been used. */
	cr_assert(eq(sz, row_count(&result, "savings"), 3));
	gt_result_release(&result);
	add_module(AT + 450, 20, 0);
	add_function("gemm");
	add_function("trial");
	run_report(&result, "startup", &trace);
	cr_assert(eq(sz, row_count(&result, "savings"), 4));
	expect_count(&result, "savings", 1, "could_save_ns", 40);
	expect_count(&result, "savings", 1, "count", 1);
	expect_count(&result, "savings", 2, "could_save_ns", 120);
	expect_count(&result, "savings", 2, "count", 2);
	expect_count(&result, "savings", 3, "could_save_ns", 200);
	expect_count(&result, "savings", 3, "count", 1);
}

/* A filter changes no figure of a process. */
Test(startup, is_of_all_that_happened)
{
	const gt_id second = trace_process(&trace, "other", 200);
	struct gt_filter filter;
	struct gt_view view;

	trace_call(&trace, thread, "cudaMalloc", AT + 200, AT + 500);
	train();
	gt_filter_init(&filter);
	cr_assert(eq(int, gt_filter_add(&filter, GT_FILTER_FROM, "4us", NULL), 0));
	cr_assert(eq(int, gt_filter_add(&filter, GT_FILTER_PROCESS, "app", NULL), 0));
	cr_assert(eq(int, gt_view_cut(&view, &trace, &filter, NULL), 0));
	run_report_on(&result, "startup", &view);
	cr_assert(eq(sz, row_count(&result, "startup"), 1));
	expect_count(&result, "startup", 0, "startup_ns", BEGAN_NS - TICK_NS + 3000);
	expect_part("making contexts", 300);
	cr_expect(second != process);
	gt_filter_release(&filter);
}

Test(startup, begins_with_the_recording_where_the_process_is_older_than_known)
{
	trace.processes.rows[process].started_ticks = 0;
	trace_kernel(&trace, stream, shape, AT + 600, AT + 700);
	run_report(&result, "startup", &trace);
	expect_count(&result, "startup", 0, "startup_ns", 600);
	expect_unknown(&result, "startup", 0, "before_ns");
	cr_expect(has_remark(&result, "When some process started is not known"));
	gt_result_release(&result);
	trace.processes.rows[process].started_ticks = 3; /* after recording began */
	run_report(&result, "startup", &trace);
	expect_unknown(&result, "startup", 0, "before_ns");
}

Test(startup, is_all_of_a_process_without_kernels)
{
	run_report(&result, "startup", &trace);
	expect_words(&result, "startup", 0, "until", "end: no kernel ran");
	cr_expect(has_remark(&result, "what processes did after recording began is not known"));
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/check_scene.h"

Test(api, puts_the_function_with_most_time_first)
{
	scene_begin(1000);
	trace_call(&trace, thread, "cudaLaunchKernel", 100, 104);
	trace_call(&trace, thread, "cudaLaunchKernel", 110, 112);
	trace_call(&trace, thread, "cudaDeviceSynchronize", 120, 200);
	run_report(&result, "api", &trace);

	cr_assert(eq(sz, row_count(&result, "functions"), 2));
	expect_words(&result, "functions", 0, "function", "cudaDeviceSynchronize");
	expect_real(&result, "functions", 0, "thread_percent", 80.0);
	expect_words(&result, "functions", 1, "function", "cudaLaunchKernel");
	expect_count(&result, "functions", 1, "calls", 2);
	expect_count(&result, "functions", 1, "total_ns", 6);
	expect_count(&result, "functions", 1, "mean_ns", 3);
	expect_count(&result, "functions", 1, "median_ns", 3);
	expect_count(&result, "functions", 1, "min_ns", 2);
	expect_count(&result, "functions", 1, "max_ns", 4);
	expect_count(&result, "functions", 1, "errors", 0);
	cr_expect(eq(sz, row_count(&result, "errors"), 0));
	scene_end();
}

Test(api, measures_time_against_all_threads)
{
	scene_begin(1000);

	const gt_id other = trace_thread(&trace, 0, 2);

	trace_call(&trace, thread, "cudaMalloc", 0, 100);
	trace_call(&trace, other, "cudaFree", 0, 50);
	trace_call(&trace, other, "cudaFree", 250, 300);
	run_report(&result, "api", &trace);

	expect_real(&result, "functions", 0, "thread_percent", 25.0);
	expect_real(&result, "functions", 1, "thread_percent", 25.0);
	scene_end();
}

/* The launch took 800 of 1,000 ns because gputrace held it up. It counts for the thread's span. */
Test(api, leaves_calls_that_were_held_up_out_of_the_time)
{
	gt_id held;

	scene_begin(1000);
	trace_call(&trace, thread, "cudaMalloc", 0, 50);
	held = trace_call(&trace, thread, "cuLaunchKernel", 200, 1000);
	trace.api_calls.rows[held].flags |= GT_PROFILED;
	run_report(&result, "api", &trace);

	cr_assert(eq(sz, row_count(&result, "functions"), 2));
	expect_real(&result, "functions", 0, "thread_percent", 25.0);
	expect_words(&result, "functions", 1, "function", "cuLaunchKernel");
	expect_count(&result, "functions", 1, "calls", 0);
	expect_unknown(&result, "functions", 1, "total_ns");
	scene_end();
}

Test(api, tells_errors_apart_by_function_and_result)
{
	scene_begin(1000);

	const gt_id calls[] = {
		trace_call(&trace, thread, "cudaMalloc", 10, 20),
		trace_call(&trace, thread, "cudaMalloc", 30, 40),
		trace_call(&trace, thread, "cuMemAlloc", 50, 60),
		trace_call(&trace, thread, "cudaEventQuery", 70, 80),
		trace_call(&trace, thread, "cudaMalloc", 90, 95),
		trace_call(&trace, thread, "cudaFree", 96, 97),
	};
	static const gt_code results[] = {2, 2, 2, 600, 0, 4711};

	for (size_t i = 0; i < 6; i++)
		trace.api_calls.rows[calls[i]].result = results[i];
	trace.api_calls.rows[calls[2]].flags = GT_DRIVER_API;
	run_report(&result, "api", &trace);

	cr_assert(eq(sz, row_count(&result, "errors"), 3));
	expect_words(&result, "errors", 0, "function", "cudaMalloc");
	expect_words(&result, "errors", 0, "result", "cudaErrorMemoryAllocation");
	expect_count(&result, "errors", 0, "code", 2);
	expect_count(&result, "errors", 0, "calls", 2);
	expect_count(&result, "errors", 0, "first_time_ns", 10);
	expect_words(&result, "errors", 1, "result", "CUDA_ERROR_OUT_OF_MEMORY");
	expect_unknown(&result, "errors", 2, "result");
	expect_count(&result, "errors", 2, "code", 4711);
	expect_words(&result, "functions", 0, "function", "cudaMalloc");
	expect_count(&result, "functions", 0, "calls", 3);
	expect_count(&result, "functions", 0, "errors", 2);
	cr_expect(has_remark(&result, "1 queries returned \"not ready\""));
	scene_end();
}

Test(api, names_calls_that_never_returned)
{
	scene_begin(1000);

	const gt_id stuck = trace_call(&trace, thread, "cudaDeviceSynchronize", 10, 10);

	trace.api_calls.rows[stuck].flags = GT_UNFINISHED;
	trace.api_calls.rows[stuck].end_ns = 0;
	run_report(&result, "api", &trace);

	cr_assert(eq(sz, row_count(&result, "functions"), 1));
	expect_count(&result, "functions", 0, "calls", 0);
	expect_count(&result, "functions", 0, "unfinished", 1);
	expect_unknown(&result, "functions", 0, "total_ns");
	expect_unknown(&result, "functions", 0, "median_ns");
	cr_expect(eq(sz, row_count(&result, "errors"), 0));
	cr_expect(has_remark(&result, "had not returned"));
	scene_end();
}

Test(api, says_when_time_is_counted_twice)
{
	scene_begin(1000);
	trace_call(&trace, thread, "cudaMalloc", 0, 100);

	const gt_id inner = trace_call(&trace, thread, "cuMemAlloc", 10, 90);

	trace.api_calls.rows[inner].flags = GT_DRIVER_API | GT_NESTED;
	run_report(&result, "api", &trace);
	cr_expect(has_remark(&result, "1 calls were made inside another"));
	scene_end();
}

Test(api, of_an_empty_trace_is_empty)
{
	struct gt_trace trace;
	struct gt_result result;

	gt_trace_init(&trace);
	run_report(&result, "api", &trace);
	cr_expect(eq(sz, row_count(&result, "functions"), 0));
	cr_expect(eq(sz, row_count(&result, "errors"), 0));
	cr_expect(has_remark(&result, "No API calls"));
	gt_result_release(&result);
	gt_trace_release(&trace);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/check_report.h"
#include "analysis/time/busy.h"
#include "model/names.h"
#include "model/view/filter.h"
#include "model/whole.h"

/*
 * A program with phases: what every report says of a part of it must be what it says of a program
 * that did only that part.
 */

/* One step of the program: a launch, a copy, a fill and a wait for them. */
struct step {
	gt_time at_ns;
	size_t process;
	size_t device;
	gt_count stream;
	const char *kernel;
};

/* Processes 0 and 1 use GPU 0, process 1 also GPU 1. No two kernels share a stream. */
static const struct step steps[] = {
	{1000, 0, 0, 7, "load"},      {2000, 0, 0, 7, "load"},    {3000, 0, 0, 8, "solve<4>"},
	{3500, 1, 0, 9, "step"},      {5000, 0, 0, 7, "load"},    {5100, 1, 0, 9, "step"},
	{6000, 1, 1, 10, "reduce"},   {7000, 1, 1, 10, "reduce"}, {8000, 0, 0, 8, "solve<8>"},
	{9000, 1, 1, 11, "solve<8>"},
};

enum { STEPS = sizeof(steps) / sizeof(steps[0]), LENGTH = 20000 };

/* The steps that are done; NULL: all. */
struct part {
	bool (*has)(const struct step *step);
	bool kernels_only;
	bool by_process; /* there is no other process, nor a device that it does not use */
	bool by_device;  /* there is no other device */
};

struct program {
	struct gt_trace trace;
	const struct part *part;
	gt_id processes[2];
	gt_id threads[2];
	gt_id devices[2];
};

/* Whether a process or a device is there at all. */
static bool is_used(const struct program *program, size_t process, size_t device)
{
	const struct part *part = program->part;

	if (process < 2 ? !part->by_process : !part->by_process && !part->by_device)
		return true;
	for (size_t i = 0; i < STEPS; i++)
		if (part->has(&steps[i]) && (steps[i].process == process || process == 2) &&
		    (steps[i].device == device || device == 2))
			return true;
	return false;
}

static gt_id stream_of(struct program *program, const struct step *step)
{
	struct gt_trace *trace = &program->trace;
	gt_id stream;

	for (size_t i = 0; i < trace->streams.count; i++)
		if (trace->streams.rows[i].number == step->stream)
			return (gt_id)i;
	stream = trace_stream(trace, program->processes[step->process],
	                      program->devices[step->device]);
	trace->streams.rows[stream].number = step->stream;
	return stream;
}

static void add_wait(struct program *program, const struct step *step, gt_id stream, gt_id call)
{
	struct gt_trace *trace = &program->trace;

	*gt_array_push(&trace->syncs) = (struct gt_sync){
		.start_ns = trace->api_calls.rows[call].start_ns,
		.end_ns = trace->api_calls.rows[call].end_ns,
		.thread = program->threads[step->process],
		.context = trace->streams.rows[stream].context,
		.stream = stream,
		.event = GT_NONE,
		.record = GT_NONE,
		.api_call = call,
	};
}

static void do_step(struct program *program, const struct step *step)
{
	struct gt_trace *trace = &program->trace;
	const gt_id stream = stream_of(program, step);
	const gt_id thread = program->threads[step->process];
	const gt_id shape = trace_shape(trace, step->kernel, 64, 128);
	const gt_time at = step->at_ns;
	gt_id call = trace_call(trace, thread, "cudaLaunchKernel", at, at + 10);

	trace_kernel(trace, stream, shape, at + 20, at + 300)->api_call = call;
	if (!program->part->kernels_only) {
		call = trace_call(trace, thread, "cudaMemcpyAsync", at + 30, at + 40);
		trace_copy(trace, stream, GT_COPY_HOST_TO_DEVICE, 4096, at + 320, at + 400)
			->api_call = call;
		call = trace_call(trace, thread, "cudaMemsetAsync", at + 50, at + 60);
		trace_fill(trace, stream, 4096, at + 410, at + 430)->api_call = call;
	}
	add_wait(program, step, stream,
	         trace_call(trace, thread, "cudaStreamSynchronize", at + 70, at + 450));
}

static void program_init(struct program *program, const struct part *part)
{
	struct gt_trace *trace = &program->trace;

	*program = (struct program){.part = part};
	trace_init(trace, LENGTH);
	for (gt_count i = 0; i < 2; i++) {
		if (is_used(program, i, 2)) {
			program->processes[i] =
				trace_process(trace, i ? "second" : "first", 10 + i);
			program->threads[i] = trace_thread(trace, program->processes[i], 10 + i);
		}
		if (is_used(program, 2, i)) {
			program->devices[i] = trace_device(trace);
			trace->devices.rows[program->devices[i]].index = (gt_code)i;
		}
	}
	for (size_t i = 0; i < STEPS; i++)
		if (!part->has || part->has(&steps[i]))
			do_step(program, &steps[i]);
}

static void expect_same_cell(const struct gt_cell *actual, const struct gt_cell *expected,
                             const char *report, const char *title, const char *heading)
{
	cr_assert(eq(int, actual->unknown, expected->unknown), "%s: %s of %s", report, heading,
	          title);
	if (actual->unknown)
		return;
	if (actual->unit == GT_UNIT_TEXT)
		cr_expect(eq(str, (char *)actual->text, (char *)expected->text), "%s: %s of %s",
		          report, heading, title);
	else
		cr_expect(eq(i64, actual->count, expected->count), "%s: %s of %s", report, heading,
		          title);
}

static void expect_same_section(const struct gt_section *actual, const struct gt_section *expected,
                                const char *report)
{
	cr_assert(eq(sz, gt_section_row_count(actual), gt_section_row_count(expected)),
	          "%s: rows of %s", report, actual->title);
	for (size_t i = 0; i < actual->cells.count; i++)
		expect_same_cell(&actual->cells.rows[i], &expected->cells.rows[i], report,
		                 actual->title, actual->headings[i % actual->heading_count].name);
}

/* Reports about what happened: a filter chooses which GPUs and processes have rows in them. */
static bool is_about_what_happened(const char *report)
{
	static const char *const reports[] = {"advice",  "critical-path", "gaps",    "ranges",
	                                      "startup", "streams",       "summary", "waits"};

	for (size_t i = 0; i < GT_COUNT_OF(reports); i++)
		if (strcmp(reports[i], report) == 0)
			return true;
	return false;
}

static void expect_same_report(const char *name, const struct gt_view *actual,
                               const struct gt_view *expected)
{
	struct gt_result filtered;
	struct gt_result plain;

	run_report_on(&filtered, name, actual);
	run_report_on(&plain, name, expected);
	cr_assert(eq(sz, filtered.remarks.count, plain.remarks.count + 1), "%s", name);
	for (size_t i = 0; i < plain.remarks.count; i++)
		expect_text(filtered.remarks.rows[i + 1].text, plain.remarks.rows[i].text);
	for (size_t i = 0; i < plain.sections.count; i++)
		expect_same_section(&filtered.sections.rows[i], &plain.sections.rows[i], name);
	gt_result_release(&filtered);
	gt_result_release(&plain);
}

struct option {
	enum gt_filter_part part;
	const char *value;
};

/* The options, up to two, give what the program would give that did only this part. */
static void expect_part(const struct option *options, size_t count, const struct part *part)
{
	static const struct part whole = {0};
	struct gt_error err = {0};
	struct gt_filter filter;
	struct program program;
	struct program alone;
	struct gt_view actual;
	struct gt_view expected;

	gt_filter_init(&filter);
	program_init(&program, &whole);
	program_init(&alone, part);
	for (size_t i = 0; i < count; i++)
		cr_assert(gt_filter_add(&filter, options[i].part, options[i].value, &err) == 0);
	cr_assert(eq(int, gt_view_cut(&actual, &program.trace, &filter, &err), 0), "%s", err.text);
	expected = gt_view_of(&alone.trace);
	expected.start_ns = actual.start_ns;
	expected.end_ns = actual.end_ns;
	if (actual.trace->parts.count > 0)
		*gt_array_push(&alone.trace.parts) =
			(struct gt_interval){actual.start_ns, actual.end_ns};
	for (size_t i = 0; i < gt_report_count; i++)
		if (!is_about_what_happened(gt_reports[i]->name))
			expect_same_report(gt_reports[i]->name, &actual, &expected);
	gt_filter_release(&filter);
	gt_trace_release(&program.trace);
	gt_trace_release(&alone.trace);
}

static bool in_window(const struct step *step)
{
	return step->at_ns >= 2000 && step->at_ns < 7000;
}

static bool on_streams(const struct step *step)
{
	return step->stream == 7 || step->stream == 10;
}

static bool on_second_device(const struct step *step)
{
	return step->device == 1;
}

static bool of_first_process(const struct step *step)
{
	return step->process == 0;
}

static bool of_kernel(const struct step *step)
{
	return strncmp(step->kernel, "solve<", 6) == 0;
}

static bool of_kernel_in_window(const struct step *step)
{
	return of_kernel(step) && step->at_ns >= 8000;
}

Test(filtered, window_is_a_program_that_did_only_what_is_in_it)
{
	expect_part((struct option[]){{GT_FILTER_FROM, "2us"}, {GT_FILTER_TO, "-13us"}}, 2,
	            &(struct part){.has = in_window});
}

Test(filtered, stream_is_a_program_that_used_only_it)
{
	expect_part((struct option[]){{GT_FILTER_STREAM, "7"}, {GT_FILTER_STREAM, "10"}}, 2,
	            &(struct part){.has = on_streams});
}

Test(filtered, device_is_a_program_that_used_only_it)
{
	expect_part((struct option[]){{GT_FILTER_DEVICE, "1"}}, 1,
	            &(struct part){.has = on_second_device, .by_device = true});
}

Test(filtered, process_is_a_program_of_only_it)
{
	expect_part((struct option[]){{GT_FILTER_PROCESS, "first"}}, 1,
	            &(struct part){.has = of_first_process, .by_process = true});
}

Test(filtered, kernel_is_a_program_that_launched_only_it)
{
	expect_part((struct option[]){{GT_FILTER_KERNEL, "^solve<[48]>$"}}, 1,
	            &(struct part){.has = of_kernel, .kernels_only = true});
}

/* The busy, idle and gap figures of a GPU, as a report has them under a filter and without. */
static void expect_unchanged(const struct gt_view *filtered, const struct gt_view *whole,
                             const char *report, const char *table)
{
	struct gt_result actual;
	struct gt_result expected;

	run_report_on(&actual, report, filtered);
	run_report_on(&expected, report, whole);
	expect_same_section(gt_result_find(&actual, table), gt_result_find(&expected, table),
	                    report);
	gt_result_release(&actual);
	gt_result_release(&expected);
}

static void expect_what_happened(enum gt_filter_part part, const char *value)
{
	static const struct part all = {0};
	struct gt_error err = {0};
	struct gt_filter filter;
	struct program program;
	struct program other;
	struct gt_view view;
	struct gt_view whole;

	program_init(&program, &all);
	program_init(&other, &all);
	gt_filter_init(&filter);
	cr_assert(gt_filter_add(&filter, part, value, &err) == 0);
	cr_assert(eq(int, gt_view_cut(&view, &program.trace, &filter, &err), 0), "%s", err.text);
	whole = gt_view_of(&other.trace);
	expect_unchanged(&view, &whole, "gaps", "devices");
	expect_unchanged(&view, &whole, "gaps", "waited_for");
	expect_unchanged(&view, &whole, "gaps", "largest_gaps");
	expect_unchanged(&view, &whole, "gaps", "gap_sizes");
	expect_unchanged(&view, &whole, "streams", "devices");
	gt_filter_release(&filter);
	gt_trace_release(&program.trace);
	gt_trace_release(&other.trace);
}

Test(filtered, gpus_are_as_busy_and_idle_as_they_were)
{
	expect_what_happened(GT_FILTER_KERNEL, "^solve<[48]>$");
	expect_what_happened(GT_FILTER_STREAM, "7");
}

/* A kernel that reaches over the edge of two windows is busy time of both. */
Test(filtered, the_pieces_of_a_recording_add_up)
{
	static const char *const edges[] = {"0s", "2030ns", "5100ns", "8us", "20us"};
	static const struct part all = {0};
	struct gt_busy *devices;
	uint64_t pieces_ns[2] = {0};
	struct program program;
	struct gt_view view;

	for (size_t i = 0; i + 1 < GT_COUNT_OF(edges); i++) {
		struct gt_error err = {0};
		struct gt_filter filter;

		program_init(&program, &all);
		gt_filter_init(&filter);
		cr_assert(gt_filter_add(&filter, GT_FILTER_FROM, edges[i], &err) == 0);
		cr_assert(gt_filter_add(&filter, GT_FILTER_TO, edges[i + 1], &err) == 0);
		cr_assert(eq(int, gt_view_cut(&view, &program.trace, &filter, &err), 0), "%s",
		          err.text);
		devices = gt_busy_of_devices(&view);
		for (size_t device = 0; device < 2; device++)
			pieces_ns[device] += devices[device].kernels.covered_ns;
		gt_array_free(devices);
		gt_filter_release(&filter);
		gt_trace_release(&program.trace);
	}
	program_init(&program, &all);
	view = gt_view_of(&program.trace);
	devices = gt_busy_of_devices(&view);
	cr_expect(eq(u64, pieces_ns[0], devices[0].kernels.covered_ns));
	cr_expect(eq(u64, pieces_ns[1], devices[1].kernels.covered_ns));
	gt_array_free(devices);
	gt_trace_release(&program.trace);
}

Test(filtered, options_restrict_each_other)
{
	expect_part((struct option[]){{GT_FILTER_KERNEL, "^solve"}, {GT_FILTER_FROM, "8us"}}, 2,
	            &(struct part){.has = of_kernel_in_window, .kernels_only = true});
}

/* Reports on a program whose calls the window leaves out, and on one that was recorded without
 * calls. */
static void expect_remarks_on_calls(const char *name, const char *about, bool with_graph)
{
	struct gt_error err = {0};
	struct gt_trace trace;
	struct gt_result result;
	struct gt_filter filter;
	struct gt_view view;
	gt_id stream;
	gt_id process;

	trace_init(&trace, 10000);
	process = trace_process(&trace, "app", 100);
	stream = trace_stream(&trace, process, trace_device(&trace));
	trace_kernel(&trace, stream, trace_shape(&trace, "gemm", 1, 32), 5000, 6000)->api_call =
		trace_call(&trace, trace_thread(&trace, process, 100), "cudaLaunchKernel", 10, 20);
	if (with_graph)
		*gt_array_push(&trace.graph_launches) =
			(struct gt_graph_launch){.start_ns = TRACE_START_NS + 5000,
		                                 .thread = 0,
		                                 .context = GT_NONE,
		                                 .stream = GT_NONE,
		                                 .api_call = GT_NONE,
		                                 .exec = GT_NONE};
	gt_filter_init(&filter);
	cr_assert(gt_filter_add(&filter, GT_FILTER_FROM, "4us", &err) == 0);
	cr_assert(eq(int, gt_view_cut(&view, &trace, &filter, &err), 0), "%s", err.text);
	run_report_on(&result, name, &view);
	cr_expect(has_remark(&result, "No API calls are in what was chosen"), "%s", name);
	cr_expect(eq(int, has_remark(&result, "No API calls were recorded"), false), "%s", name);
	cr_expect(has_remark(&result, about), "%s", name);
	gt_result_release(&result);
	trace.whole->trace.api_calls.count = 0;
	run_report_on(&result, name, &view);
	cr_expect(has_remark(&result, "No API calls were recorded"), "%s", name);
	gt_result_release(&result);
	gt_filter_release(&filter);
	gt_trace_release(&trace);
}

Test(filtered, calls_that_a_window_leaves_out_are_not_said_to_be_unrecorded)
{
	expect_remarks_on_calls("api", "chosen.", false);
	expect_remarks_on_calls("graphs", "what a launch ran", true);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/summary.h"

#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/result.h"
#include "base/array.h"
#include "cli/ledger.h"
#include "cli/manifest.h"
#include "cli/render.h"
#include "cli/say.h"
#include "cli/units.h"
#include "model/intervals.h"
#include "model/trace.h"

enum { TOP_KERNELS = 5, MOST_NOTES = 5 };

static const struct gt_heading device_headings[] = {
	{"device", GT_UNIT_TEXT, "Product name"},
	{"ordinal", GT_UNIT_COUNT, "Number of the GPU in the process that first used it"},
	{"kernels", GT_UNIT_COUNT, "Kernels with times"},
	{"busy_ns", GT_UNIT_NS, "Time in which at least one kernel ran"},
	{"share_percent", GT_UNIT_PERCENT, "busy_ns / the program's duration"},
};

static const struct gt_heading kernel_headings[] = {
	{"kernel", GT_UNIT_TEXT, "Name"},
	{"calls", GT_UNIT_COUNT, "Executions with times"},
	{"total_ns", GT_UNIT_NS, "Sum of their durations"},
	{"share_percent", GT_UNIT_PERCENT, "total_ns / that of all kernels"},
};

static void say_files(const struct gt_summary *summary)
{
	const struct gt_figure folder = gt_figure_bytes((int64_t)summary->folder_bytes);

	if (summary->exported)
		gt_say("%s (%s), %s (%s)", summary->folder, folder.text, summary->exported,
		       gt_figure_bytes((int64_t)summary->exported_bytes).text);
	else
		gt_say("%s (%s)", summary->folder, folder.text);
}

/* The plugins that show launch facts and GPU tracks by process are not on by default. */
static void say_viewer(const struct gt_summary *summary)
{
	if (summary->exported)
		gt_say("open %s at "
		       "https://ui.perfetto.dev/#!/?enablePlugins=com.meta.GpuCompute,"
		       "dev.perfetto.GpuByProcess",
		       summary->exported);
}

static int64_t duration_ns(const struct gt_manifest *manifest)
{
	return manifest->end.boottime_ns - manifest->start.boottime_ns;
}

static void say_ending(const struct gt_manifest *manifest)
{
	const struct gt_figure duration = gt_figure_ns(duration_ns(manifest));
	const char *program = manifest->command.rows[0];
	const int signal = manifest->ending.signal;
	const char *name = sigabbrev_np(signal);

	if (signal)
		gt_say("%s was killed by signal %d (%s%s) after %s", program, signal,
		       name ? "SIG" : "", name ? name : "real-time", duration.text);
	else
		gt_say("%s exited with status %d after %s", program, manifest->ending.exit_status,
		       duration.text);
}

static void add_device(struct gt_result *result, const struct gt_summary *summary, gt_id device)
{
	const struct gt_trace *trace = summary->trace;
	const int64_t duration = duration_ns(summary->manifest);
	struct gt_cover busy = {0};
	int64_t count = 0;

	/* Kernels come in the order of their start. */
	gt_array_each(const struct gt_kernel, kernel, &trace->kernels) {
		if (kernel->device != device || (kernel->flags & GT_UNFINISHED))
			continue;
		(void)gt_cover_add(&busy, (struct gt_interval){kernel->start_ns, kernel->end_ns});
		count++;
	}
	gt_result_add_text(result, gt_trace_text(trace, trace->devices.rows[device].name));
	gt_result_add_count(result, trace->devices.rows[device].ordinal);
	gt_result_add_count(result, count);
	gt_result_add_count(result, (int64_t)busy.covered_ns);
	gt_result_add_real(result,
	                   duration > 0 ? 100.0 * (double)busy.covered_ns / (double)duration : NAN);
}

/* All launch shapes of one name together. */
struct total {
	gt_string name;
	int64_t calls;
	int64_t total_ns;
};

static int compare_names(const void *a, const void *b)
{
	const struct total *left = a;
	const struct total *right = b;

	return (left->name > right->name) - (left->name < right->name);
}

static int compare_totals(const void *a, const void *b)
{
	const struct total *left = a;
	const struct total *right = b;

	if (left->total_ns != right->total_ns)
		return left->total_ns < right->total_ns ? 1 : -1;
	return compare_names(a, b);
}

/* One for each launch shape, in the order of shapes. */
static struct total *totals_of_shapes(const struct gt_trace *trace)
{
	const size_t count = trace->launch_shapes.count;
	struct total *totals = gt_allocate(count * sizeof(*totals));

	for (size_t i = 0; i < count; i++)
		totals[i] = (struct total){.name = trace->launch_shapes.rows[i].demangled};
	gt_array_each(const struct gt_kernel, kernel, &trace->kernels) {
		if (kernel->shape >= count || (kernel->flags & GT_UNFINISHED))
			continue;
		totals[kernel->shape].calls++;
		totals[kernel->shape].total_ns += kernel->end_ns - kernel->start_ns;
	}
	return totals;
}

/* Adds up what has the same name and sorts, the longest first. Returns how many are left. */
static size_t merge_totals(struct total *totals, size_t count)
{
	size_t merged = 0;

	qsort(totals, count, sizeof(*totals), compare_names);
	for (size_t i = 0; i < count; i++) {
		if (merged > 0 && totals[merged - 1].name == totals[i].name) {
			totals[merged - 1].calls += totals[i].calls;
			totals[merged - 1].total_ns += totals[i].total_ns;
		} else {
			totals[merged++] = totals[i];
		}
	}
	qsort(totals, merged, sizeof(*totals), compare_totals);
	return merged;
}

static void add_kernels(struct gt_result *result, const struct gt_trace *trace)
{
	struct total *totals = totals_of_shapes(trace);
	const size_t count = merge_totals(totals, trace->launch_shapes.count);
	int64_t all_ns = 0;

	for (size_t i = 0; i < count; i++)
		all_ns += totals[i].total_ns;
	for (size_t i = 0; i < count && i < TOP_KERNELS && totals[i].calls > 0; i++) {
		gt_result_add_text(result, gt_trace_text(trace, totals[i].name));
		gt_result_add_count(result, totals[i].calls);
		gt_result_add_count(result, totals[i].total_ns);
		gt_result_add_real(
			result, all_ns ? 100.0 * (double)totals[i].total_ns / (double)all_ns : NAN);
	}
	free(totals);
}

static void print_tables(const struct gt_summary *summary)
{
	const struct gt_trace *trace = summary->trace;
	const struct gt_rendering rendering = {.limit = UINT64_MAX,
	                                       .width = gt_render_width(stderr)};
	struct gt_result result;

	gt_result_init(&result);
	if (trace->devices.count > 0) {
		gt_result_begin(&result, "devices", device_headings,
		                sizeof(device_headings) / sizeof(device_headings[0]));
		for (size_t i = 0; i < trace->devices.count; i++)
			add_device(&result, summary, (gt_id)i);
	}
	if (trace->kernels.count > 0) {
		gt_result_begin(&result, "busiest_kernels", kernel_headings,
		                sizeof(kernel_headings) / sizeof(kernel_headings[0]));
		add_kernels(&result, trace);
	}
	(void)gt_render(&rendering, &(struct gt_named_result){"run", &result}, 1, stderr, NULL);
	gt_result_release(&result);
}

static bool said_before(const struct gt_trace *trace, size_t note)
{
	for (size_t i = 0; i < note; i++)
		if (trace->notes.rows[i].text == trace->notes.rows[note].text)
			return true;
	return false;
}

/* Processes of one program note the same things: each is said once. */
static void say_notes(const struct gt_summary *summary)
{
	const struct gt_trace *trace = summary->trace;
	size_t said = 0;

	for (size_t i = 0; i < trace->notes.count; i++) {
		if (said == MOST_NOTES) {
			gt_say("more notes: gputrace info %s", summary->folder);
			return;
		}
		if (!said_before(trace, i)) {
			gt_say("note: %s", gt_trace_text(trace, trace->notes.rows[i].text));
			said++;
		}
	}
}

void gt_summary_print(const struct gt_summary *summary)
{
	char ledger[512];

	say_ending(summary->manifest);
	say_files(summary);
	say_viewer(summary);
	print_tables(summary);
	(void)gt_ledger_sentence(summary->trace, ledger, sizeof(ledger));
	gt_say("%s", ledger);
	say_notes(summary);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/summary.h"

#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "analysis/parameter.h"
#include "analysis/report.h"
#include "analysis/result.h"
#include "base/array.h"
#include "cli/address.h"
#include "cli/ledger.h"
#include "cli/manifest.h"
#include "cli/render.h"
#include "cli/say.h"
#include "cli/units.h"
#include "model/ledger.h"
#include "model/trace.h"
#include "model/view.h"

enum { MOST_NOTES = 5 };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct gt_heading device_headings[] = {
	{"device", GT_UNIT_TEXT, "Product name"},
	{"ordinal", GT_UNIT_COUNT, "Number of the GPU in the process that first used it"},
	{"kernels", GT_UNIT_COUNT, "Kernels with times"},
	{"busy_ns", GT_UNIT_NS, "Time in which at least one kernel ran"},
	{"share_percent", GT_UNIT_PERCENT, "busy_ns / the recording's duration"},
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

static double real_of(const struct gt_cell *cell)
{
	return cell->unknown ? NAN : cell->real;
}

static int64_t duration_ns(const struct gt_manifest *manifest)
{
	return manifest->end.boottime_ns - manifest->start.boottime_ns;
}

void gt_summary_say_ending(const struct gt_manifest *manifest)
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

/* The rows of the report's section, without the columns that are of no use here. */
static void add_devices(struct gt_result *result, const struct gt_trace *trace,
                        const struct gt_section *devices)
{
	gt_result_begin(result, "devices", device_headings, COUNT(device_headings));
	for (size_t i = 0; i < trace->devices.count; i++) {
		const struct gt_device *device = &trace->devices.rows[i];

		gt_result_add_text(result, gt_trace_text(trace, device->name));
		gt_result_add_count(result, device->ordinal);
		gt_result_add_count(result, gt_section_cell(devices, i, "kernels")->count);
		gt_result_add_count(result, gt_section_cell(devices, i, "busy_ns")->count);
		gt_result_add_real(result, real_of(gt_section_cell(devices, i, "busy_percent")));
	}
}

static void add_kernels(struct gt_result *result, const struct gt_section *kernels)
{
	gt_result_begin(result, "busiest_kernels", kernel_headings, COUNT(kernel_headings));
	for (size_t i = 0; i < gt_section_row_count(kernels); i++) {
		gt_result_add_text(result, gt_section_cell(kernels, i, "kernel")->text);
		gt_result_add_count(result, gt_section_cell(kernels, i, "calls")->count);
		gt_result_add_count(result, gt_section_cell(kernels, i, "total_ns")->count);
		gt_result_add_real(result, real_of(gt_section_cell(kernels, i, "share_percent")));
	}
}

static void print_tables(const struct gt_summary *summary)
{
	const struct gt_rendering rendering = {.limit = UINT64_MAX,
	                                       .width = gt_render_width(stderr)};
	const struct gt_report *report = gt_report_find("summary");
	const struct gt_trace *trace = summary->view->trace;
	struct gt_arguments arguments;
	struct gt_result found;
	struct gt_result result;

	gt_result_init(&found);
	gt_result_init(&result);
	gt_arguments_init(&arguments, report->parameters);
	(void)gt_arguments_set(&arguments, report->parameters, "top=5", NULL);
	if (gt_report_run(report, summary->view, &arguments, &found, NULL) == 0) {
		if (trace->devices.count > 0)
			add_devices(&result, trace, gt_result_find(&found, "devices"));
		if (trace->kernels.count > 0)
			add_kernels(&result, gt_result_find(&found, "top_kernels"));
	}
	(void)gt_render(&rendering, &(struct gt_named_result){"run", &result}, 1, stderr, NULL);
	gt_result_release(&result);
	gt_result_release(&found);
}

static bool is_among(const gt_string *texts, size_t count, gt_string text)
{
	for (size_t i = 0; i < count; i++)
		if (texts[i] == text)
			return true;
	return false;
}

/* Processes of one program note the same things: each is said once. */
static void say_notes(const struct gt_summary *summary)
{
	const struct gt_trace *trace = summary->view->trace;
	gt_string said[MOST_NOTES];
	size_t count = 0;

	gt_array_each(const struct gt_note, note, &trace->notes) {
		if (is_among(said, count, note->text))
			continue;
		if (count == MOST_NOTES) {
			gt_say("more notes: gputrace info %s", summary->folder);
			return;
		}
		gt_say("note: %s", gt_trace_text(trace, note->text));
		said[count++] = note->text;
	}
}

void gt_summary_print(const struct gt_summary *summary)
{
	char ledger[GT_LEDGER_BYTES];

	gt_summary_say_ending(summary->manifest);
	say_files(summary);
	if (summary->exported)
		gt_address_say(summary->exported);
	print_tables(summary);
	say_notes(summary);
	(void)gt_ledger_sentence(summary->view->trace, ledger, sizeof(ledger));
	gt_say("%s", ledger);
}

void gt_summary_print_missing(const struct gt_trace *trace)
{
	const struct gt_ledger_state state = gt_ledger_state(trace);
	char ledger[GT_LEDGER_BYTES];

	if (state.unrecorded == 0)
		return;
	(void)gt_ledger_sentence(trace, ledger, sizeof(ledger));
	gt_say("%s", ledger);
}

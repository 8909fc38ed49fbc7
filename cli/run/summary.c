/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/summary.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "analysis/report.h"
#include "analysis/result.h"
#include "base/units.h"
#include "cli/output/say.h"
#include "cli/recording/manifest.h"
#include "cli/recording/reading.h"
#include "cli/render/render.h"
#include "cli/view/trace_file.h"
#include "model/ledger.h"

static void say_files(const struct gt_summary *summary)
{
	const struct gt_figure folder = gt_figure_bytes((int64_t)summary->folder_bytes);

	if (summary->exported)
		gt_say("wrote %s (%s) and %s (%s)", summary->folder, folder.text, summary->exported,
		       gt_figure_bytes((int64_t)summary->exported_bytes).text);
	else
		gt_say("wrote %s (%s)", summary->folder, folder.text);
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

/* Prints report summary, as far as it can be made. */
static void print_page(const struct gt_summary *summary)
{
	const struct gt_rendering rendering = {
		.limit = UINT64_MAX,
		.width = gt_render_width(stderr),
		.colour = gt_render_in_colour("auto", stderr),
	};
	const struct gt_report *report = gt_report_find("summary");
	struct gt_result result;

	gt_result_init(&result);
	if (gt_report_run(report, &summary->reading->view, NULL, &result, NULL) == 0)
		(void)gt_render(&rendering, &(struct gt_named_result){"run", &result}, 1, stderr,
		                NULL);
	gt_result_release(&result);
}

void gt_summary_print(const struct gt_summary *summary)
{
	gt_summary_say_ending(summary->manifest);
	say_files(summary);
	if (summary->exported)
		gt_trace_file_say(summary->exported, gt_exporter_find("perfetto"),
		                  summary->at_length);
	print_page(summary);
	gt_say_condition(summary->folder, summary->reading->condition);
	gt_say("%s", summary->reading->ledger);
}

void gt_summary_print_missing(const struct gt_reading *reading)
{
	if (gt_ledger_state(&reading->trace).unrecorded > 0)
		gt_say("%s", reading->ledger);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/compare/both.h"

#include <stddef.h>
#include <stdio.h>

#include "analysis/compare/steady.h"
#include "analysis/ranges/steps/steps.h"
#include "base/strings.h"
#include "cli/output/output.h"
#include "cli/output/progress.h"
#include "cli/recording/reading.h"
#include "cli/recording/recording.h"
#include "cli/view/trace_file.h"
#include "model/view/append.h"
#include "model/view/view.h"

bool gt_is_both(const char *output)
{
	return output && gt_recording_is_trace(output);
}

/* When the first steady step begins, or the first kernel; else the recording. */
static gt_time begin_of(const struct gt_trace *trace)
{
	const struct gt_view view = gt_view_of(trace);
	struct gt_steps steps;
	struct gt_steady steady;
	gt_time begin_ns = trace->kernels.count > 0 ? trace->kernels.rows[0].start_ns : 0;
	bool found = false;

	gt_steps_init(&steps, &view);
	gt_steady_init(&steady, &steps);
	for (size_t i = 0; i < steps.rows.count; i++)
		if (steady.rows[i] && (!found || steps.rows.rows[i].start_ns < begin_ns)) {
			begin_ns = steps.rows.rows[i].start_ns;
			found = true;
		}
	gt_steady_release(&steady);
	gt_steps_release(&steps);
	return begin_ns > 0 ? begin_ns : trace->start_ns;
}

/* Machines tell apart what both sides have, as a GPU; processes say the side in their names. */
static void name_side(struct gt_trace *trace, const char *side)
{
	const gt_string host = gt_strings_add(trace->strings, side);
	char name[256];

	gt_array_each(struct gt_process, process, &trace->processes) {
		snprintf(name, sizeof(name), "%s: %s", side, gt_trace_text(trace, process->name));
		process->name = gt_strings_add(trace->strings, name);
		process->host = host;
	}
	gt_array_each(struct gt_device, device, &trace->devices)
		device->host = host;
}

static int write_trace(const struct gt_trace *trace, const char *path, bool replace,
                       struct gt_error *err)
{
	const struct gt_view view = gt_view_of(trace);
	struct gt_output output = GT_OUTPUT_INIT;
	struct gt_export_counts counts = {0};
	struct gt_progress progress = {0};
	int result = gt_output_open(&output, path, replace, err);

	if (result == 0) {
		const struct gt_trace_file file = {
			.exporter = gt_exporter_find("perfetto"),
			.name = output.path,
			.path = output.temporary,
			.file = output.file,
		};

		gt_progress_begin(&progress, false, "writing %s", path);
		result = gt_trace_file_write(&file, &view, &progress, &counts, err);
		gt_progress_end(&progress);
	}
	if (result == 0)
		result = gt_output_commit(&output, err);
	if (result == 0) {
		gt_output_say(&output, "both sides, aligned at a step");
		gt_trace_file_say(path, gt_exporter_find("perfetto"), false);
	}
	gt_output_release(&output);
	return result;
}

static int read(struct gt_reading *reading, const char *path, struct gt_error *err)
{
	struct gt_progress progress = {0};
	int result;

	gt_progress_begin(&progress, false, "reading %s", path);
	result = gt_reading_read(reading, path, GT_NAMES_SHORT, &progress, err);
	gt_progress_end(&progress);
	gt_say_condition(path, reading->condition);
	return result;
}

int gt_both_write(const char *a, const char *b, const char *output, bool replace,
                  struct gt_error *err)
{
	struct gt_reading sides[2];
	int result;

	gt_reading_init(&sides[0]);
	gt_reading_init(&sides[1]);
	result = read(&sides[0], a, err);
	if (result == 0)
		result = read(&sides[1], b, err);
	if (result == 0) {
		struct gt_trace *trace = &sides[0].trace;

		name_side(trace, "A");
		name_side(&sides[1].trace, "B");
		gt_trace_append(trace, &sides[1].trace,
		                begin_of(trace) - begin_of(&sides[1].trace));
		result = write_trace(trace, output, replace, err);
	}
	gt_reading_release(&sides[1]);
	gt_reading_release(&sides[0]);
	return result;
}

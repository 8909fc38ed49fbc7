/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/info/tables.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/path.h"
#include "format/recording.h"

static const struct gt_heading recording_headings[] = {
	{"command", GT_UNIT_TEXT, "Command line"},
	{"folder", GT_UNIT_TEXT, "Folder the program was started in"},
	{"host", GT_UNIT_TEXT, "Machine it ran on"},
	{"started", GT_UNIT_TEXT, "When the program was started, UTC"},
	{"ended", GT_UNIT_TEXT, "When it ended, the last of several runs, UTC"},
	{"duration_ns", GT_UNIT_NS, "ended - started"},
	{"exit_status", GT_UNIT_COUNT,
         "Exit status of the program; with several runs, the first that is not 0"},
	{"signal", GT_UNIT_COUNT, "That killed the program, of several runs the first"},
	{"recorded_ns", GT_UNIT_NS, "From the first to the last thing recorded"},
	{"gputrace", GT_UNIT_TEXT, "Version of gputrace that recorded"},
	{"cupti", GT_UNIT_TEXT, "CUPTI library that was used, with its version"},
	{"driver", GT_UNIT_TEXT, "CUDA version of the driver"},
	{"clock_bound_ns", GT_UNIT_NS, "GPU and host times are related to within this"},
	{"files_bytes", GT_UNIT_BYTES, "Size of all files"},
	{"bytes_per_launch", GT_UNIT_REAL, "Size of the captures / launches"},
};

static const struct gt_heading run_headings[] = {
	{"manifest", GT_UNIT_TEXT, "Its file", GT_WORTH_KEY},
	{"command", GT_UNIT_TEXT, "Command line", GT_WORTH_PROSE},
	{"folder", GT_UNIT_TEXT, "Folder the program was started in"},
	{"host", GT_UNIT_TEXT, "Machine it ran on"},
	{"started", GT_UNIT_TEXT, "When the program was started, UTC"},
	{"ended", GT_UNIT_TEXT, "When it ended, UTC; it still runs, or gputrace was killed"},
	{"duration_ns", GT_UNIT_NS, "ended - started"},
	{"exit_status", GT_UNIT_COUNT, "Exit status of the program"},
	{"signal", GT_UNIT_COUNT, "That killed the program"},
};

void gt_info_add_text(struct gt_result *result, const char *text)
{
	if (text && *text)
		gt_result_add_text(result, text);
	else
		gt_result_add_unknown(result);
}

/* The first process that says what it is; NULL when there is none. */
static const struct gt_process *first_known(const struct gt_trace *trace)
{
	gt_array_each(const struct gt_process, process, &trace->processes)
		if (process->command)
			return process;
	return trace->processes.count ? trace->processes.rows : NULL;
}

static void add_command(struct gt_result *result, const struct gt_manifest *manifest,
                        const char *otherwise)
{
	char *command = gt_manifest_command(manifest);

	if (*command)
		gt_result_add_format(result, "%s", command);
	else
		gt_info_add_text(result, otherwise);
	free(command);
}

/* When it was started, when and how it ended. Only clocks of one machine give a duration. */
static void add_course(struct gt_result *result, const struct gt_manifest *manifest,
                       bool one_machine)
{
	const bool ended = manifest->ended;
	const int signal = manifest->ending.signal;

	gt_info_add_text(result, manifest->start.utc);
	gt_info_add_text(result, ended ? manifest->end.utc : "");
	gt_result_add_count_if(result, ended && one_machine,
	                       manifest->end.boottime_ns - manifest->start.boottime_ns);
	gt_result_add_count_if(result, ended && !signal, manifest->ending.exit_status);
	gt_result_add_count_if(result, ended && signal, signal);
}

struct gt_manifest gt_info_sum(const struct gt_manifests *runs)
{
	struct gt_manifest sum = {0};

	if (runs->list.count > 0)
		sum = runs->list.rows[0];
	gt_array_each(const struct gt_manifest, manifest, &runs->list) {
		sum.ended = sum.ended && manifest->ended;
		if (strcmp(manifest->end.utc, sum.end.utc) > 0)
			sum.end = manifest->end;
		if (gt_ending_status(&sum.ending) == 0)
			sum.ending = manifest->ending;
	}
	return sum;
}

static bool of_one_machine(const struct gt_manifests *runs)
{
	gt_array_each(const struct gt_manifest, manifest, &runs->list)
		if (strcmp(manifest->boot_id, runs->list.rows[0].boot_id) != 0)
			return false;
	return true;
}

static void add_manifest(struct gt_result *result, const struct gt_info_facts *facts)
{
	const struct gt_manifest *sum = &facts->sum;
	const struct gt_trace *trace = &facts->reading.trace;
	const struct gt_process *first = first_known(trace);

	add_command(result, sum, first ? gt_trace_text(trace, first->command) : "");
	gt_info_add_text(result, sum->folder);
	gt_info_add_text(result, facts->runs.list.count > 0 ? sum->host
	                         : first                    ? gt_trace_text(trace, first->host)
	                                                    : "");
	add_course(result, sum, of_one_machine(&facts->runs));
}

void gt_info_add_runs(struct gt_result *result, const struct gt_manifests *runs)
{
	gt_result_begin(result, "runs", run_headings, GT_COUNT_OF(run_headings));
	if (runs->list.count <= 1) /* the table recording says the same */
		gt_result_detail(result);
	gt_array_each(const struct gt_manifest, manifest, &runs->list) {
		gt_info_add_text(result, manifest->file);
		add_command(result, manifest, "");
		gt_info_add_text(result, manifest->folder);
		gt_info_add_text(result, manifest->host);
		add_course(result, manifest, true);
	}
}

static double bytes_per_launch(const struct gt_info_facts *facts)
{
	uint64_t launches = 0;
	uint64_t bytes = 0;

	if (gt_trace_ledger(&facts->reading.trace, "launches", &launches) < 0 || launches == 0)
		launches = facts->reading.trace.kernels.count;
	gt_array_each(const struct gt_recording_file, file, &facts->files.list)
		if (gt_has_suffix(file->name, GT_CAPTURE_SUFFIX))
			bytes += file->bytes;
	return launches ? (double)bytes / (double)launches : NAN;
}

void gt_info_add_recording(struct gt_result *result, const struct gt_info_facts *facts)
{
	const struct gt_trace *trace = &facts->reading.trace;

	gt_result_begin(result, "recording", recording_headings, GT_COUNT_OF(recording_headings));
	gt_result_single(result);
	add_manifest(result, facts);
	gt_result_add_count(result, trace->end_ns - trace->start_ns);
	gt_info_add_text(result, gt_trace_text(trace, trace->tool_version));
	gt_info_add_text(result, gt_trace_text(trace, trace->cupti));
	gt_info_add_text(result, gt_trace_text(trace, trace->driver));
	gt_result_add_count_if(result, gt_trace_clock_bound(trace) > 0,
	                       (int64_t)gt_trace_clock_bound(trace));
	gt_result_add_count(result, (int64_t)facts->files.bytes);
	gt_result_add_real(result, bytes_per_launch(facts));
}

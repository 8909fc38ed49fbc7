/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/report.h"
#include "analysis/result.h"
#include "analysis/variables.h"
#include "base/array.h"
#include "base/error.h"
#include "base/path.h"
#include "base/strings.h"
#include "cli/command_line/command.h"
#include "cli/command_line/filter.h"
#include "cli/command_line/option.h"
#include "cli/output/progress.h"
#include "cli/recording/manifest.h"
#include "cli/recording/reading.h"
#include "cli/recording/recording.h"
#include "cli/render/render.h"
#include "cli/render/show.h"
#include "format/arena/salvage.h"
#include "format/recording.h"
#include "model/ledger.h"
#include "model/names.h"
#include "model/trace.h"

struct args {
	struct gt_filter_args filter;
	struct gt_show_args show;
};

static const struct gt_option options[] = {
	GT_FILTER_OPTIONS(struct args, filter),
	GT_SHOW_OPTIONS(struct args, show),
	OPT_END_OF("info"),
};

/* Everything that is known of a recording. */
struct facts {
	struct gt_manifests runs; /* those whose manifest can be read */
	struct gt_manifest sum;   /* of them: what the table refers to */
	struct gt_recording_files files;
	struct gt_reading reading;
};

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

static const struct gt_heading process_headings[] = {
	{"pid", GT_UNIT_COUNT, "Process id", GT_WORTH_KEY},
	{"parent_pid", GT_UNIT_COUNT, "Process id of its parent"},
	{"name", GT_UNIT_TEXT, "Program", GT_WORTH_KEY},
	{"ended", GT_UNIT_TEXT, "How its recording ended"},
	{"start_ns", GT_UNIT_TIME, "When recording began in it"},
	{"duration_ns", GT_UNIT_NS, "Until the last thing known of it"},
	{"capture", GT_UNIT_TEXT, "Its file", GT_WORTH_NAME},
};

static const struct gt_heading device_headings[] = {
	{"ordinal", GT_UNIT_COUNT, "Number in the process that first used it", GT_WORTH_KEY},
	{"name", GT_UNIT_TEXT, "Product name", GT_WORTH_KEY},
	{"compute_capability", GT_UNIT_TEXT, "Major and minor version"},
	{"sm_count", GT_UNIT_COUNT, "Multiprocessors"},
	{"memory_bytes", GT_UNIT_BINARY_BYTES, "Device memory"},
	{"pci", GT_UNIT_TEXT, "PCI address", GT_WORTH_LITTLE},
	{"uuid", GT_UNIT_TEXT, "As nvidia-smi prints it", GT_WORTH_LITTLE},
};

static const struct gt_heading table_headings[] = {
	{"table", GT_UNIT_TEXT, "Table of the trace"},
	{"rows", GT_UNIT_COUNT, "How many"},
};

static const struct gt_heading memory_headings[] = {
	{"kind", GT_UNIT_TEXT, "Memory, or what stands for some", GT_WORTH_KEY},
	{"made", GT_UNIT_COUNT, "How many"},
	{"bytes", GT_UNIT_BYTES, "All of them together"},
	{"kept", GT_UNIT_COUNT, "Those that were there at the end"},
	{"kept_bytes", GT_UNIT_BYTES, "All of those together"},
	{"failed", GT_UNIT_COUNT, "Calls that failed"},
};

static const struct gt_heading library_headings[] = {
	{"library", GT_UNIT_TEXT, "Shared object that asked for memory", GT_WORTH_KEY},
	{"made", GT_UNIT_COUNT, "How often"},
	{"bytes", GT_UNIT_BYTES, "All of it together"},
};

static const struct gt_heading unified_headings[] = {
	{"kind", GT_UNIT_TEXT, "Kind of event of managed memory", GT_WORTH_KEY},
	{"events", GT_UNIT_COUNT, "How often"},
	{"value", GT_UNIT_COUNT, "Bytes, of faults how many"},
};

static const struct gt_heading ledger_headings[] = {
	{"class", GT_UNIT_TEXT, "Its fate"},
	{"count", GT_UNIT_COUNT, "How many, over all processes"},
	{"time_ns", GT_UNIT_NS, "How long, for classes that are times"},
};

static const struct gt_heading setting_headings[] = {
	{"name", GT_UNIT_TEXT, "Environment variable", GT_WORTH_KEY},
	{"value", GT_UNIT_TEXT, "Its value", GT_WORTH_PROSE},
};

static const struct gt_heading environment_headings[] = {
	{"name", GT_UNIT_TEXT, "Environment variable that changes how fast programs run",
         GT_WORTH_KEY},
	{"value", GT_UNIT_TEXT, "Its value", GT_WORTH_PROSE},
	{"processes", GT_UNIT_COUNT, "Processes that had it"},
};

static const struct gt_heading note_headings[] = {
	{"pid", GT_UNIT_COUNT, "Process it is about", GT_WORTH_KEY},
	{"topic", GT_UNIT_TEXT, "Source, stage or file it is about", GT_WORTH_LITTLE},
	{"text", GT_UNIT_TEXT, "The note", GT_WORTH_PROSE},
};

static const struct gt_heading file_headings[] = {
	{"file", GT_UNIT_TEXT, "Name", GT_WORTH_NAME},
	{"bytes", GT_UNIT_BYTES, "Size"},
};

/* "" is what is not known. */
static void add_text(struct gt_result *result, const char *text)
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
		add_text(result, otherwise);
	free(command);
}

/* When it was started, when and how it ended. Only clocks of one machine give a duration. */
static void add_course(struct gt_result *result, const struct gt_manifest *manifest,
                       bool one_machine)
{
	const bool ended = manifest->ended;
	const int signal = manifest->ending.signal;

	add_text(result, manifest->start.utc);
	add_text(result, ended ? manifest->end.utc : "");
	gt_result_add_count_if(result, ended && one_machine,
	                       manifest->end.boottime_ns - manifest->start.boottime_ns);
	gt_result_add_count_if(result, ended && !signal, manifest->ending.exit_status);
	gt_result_add_count_if(result, ended && signal, signal);
}

/*
 * All runs as if they were the first: from its start to the end of the last, as far as all have
 * ended, and the first ending that was no success. The texts stay those of the runs.
 */
static struct gt_manifest sum_of(const struct gt_manifests *runs)
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

static void add_manifest(struct gt_result *result, const struct facts *facts)
{
	const struct gt_manifest *sum = &facts->sum;
	const struct gt_trace *trace = &facts->reading.trace;
	const struct gt_process *first = first_known(trace);

	add_command(result, sum, first ? gt_trace_text(trace, first->command) : "");
	add_text(result, sum->folder);
	add_text(result, facts->runs.list.count > 0 ? sum->host
	                 : first                    ? gt_trace_text(trace, first->host)
	                                            : "");
	add_course(result, sum, of_one_machine(&facts->runs));
}

static void add_runs(struct gt_result *result, const struct gt_manifests *runs)
{
	gt_result_begin(result, "runs", run_headings, GT_COUNT_OF(run_headings));
	if (runs->list.count <= 1) /* the table recording says the same */
		gt_result_detail(result);
	gt_array_each(const struct gt_manifest, manifest, &runs->list) {
		add_text(result, manifest->file);
		add_command(result, manifest, "");
		add_text(result, manifest->folder);
		add_text(result, manifest->host);
		add_course(result, manifest, true);
	}
}

static double bytes_per_launch(const struct facts *facts)
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

static void add_recording(struct gt_result *result, const struct facts *facts)
{
	const struct gt_trace *trace = &facts->reading.trace;

	gt_result_begin(result, "recording", recording_headings, GT_COUNT_OF(recording_headings));
	gt_result_single(result);
	add_manifest(result, facts);
	gt_result_add_count(result, trace->end_ns - trace->start_ns);
	add_text(result, gt_trace_text(trace, trace->tool_version));
	add_text(result, gt_trace_text(trace, trace->cupti));
	add_text(result, gt_trace_text(trace, trace->driver));
	gt_result_add_count_if(result, trace->clocks.count > 0,
	                       (int64_t)gt_trace_clock_bound(trace));
	gt_result_add_count(result, (int64_t)facts->files.bytes);
	gt_result_add_real(result, bytes_per_launch(facts));
}

/* Little is known of a process whose capture could not be read, or stops at once. */
static void add_processes(struct gt_result *result, const struct gt_trace *trace)
{
	gt_result_begin(result, "processes", process_headings, GT_COUNT_OF(process_headings));
	gt_array_each(const struct gt_process, process, &trace->processes) {
		const bool timed = process->start_ns != 0;

		gt_result_add_count_if(result, process->pid != 0, process->pid);
		gt_result_add_count_if(result, process->parent_pid != 0, process->parent_pid);
		add_text(result, gt_trace_text(trace, process->name));
		gt_result_add_text(result, gt_end_name(process->ended));
		gt_result_add_count_if(result, timed, process->start_ns - trace->start_ns);
		gt_result_add_count_if(result, timed, process->end_ns - process->start_ns);
		add_text(result, gt_trace_text(trace, process->capture));
	}
}

static void add_devices(struct gt_result *result, const struct gt_trace *trace)
{
	gt_result_begin(result, "devices", device_headings, GT_COUNT_OF(device_headings));
	gt_array_each(const struct gt_device, device, &trace->devices) {
		gt_result_add_count(result, device->ordinal);
		add_text(result, gt_trace_text(trace, device->name));
		gt_result_add_format(result, "%u.%u", device->cc_major, device->cc_minor);
		gt_result_add_count(result, device->sm_count);
		gt_result_add_count(result, (int64_t)device->memory_bytes);
		add_text(result, gt_trace_text(trace, device->pci));
		add_text(result, gt_trace_text(trace, device->uuid));
	}
}

static void add_tables(struct gt_result *result, const struct gt_trace *trace)
{
	gt_result_begin(result, "tables", table_headings, GT_COUNT_OF(table_headings));
	gt_result_whole(result);
	for (size_t i = 0; i < GT_TABLE_COUNT; i++) {
		const struct gt_table table = gt_trace_table(trace, i);

		gt_result_add_text(result, table.name);
		gt_result_add_count(result, (int64_t)table.row_count);
	}
}

/* Memory of one kind that programs made. */
struct sum_of_kind {
	int64_t made;
	int64_t bytes;
	int64_t kept;
	int64_t kept_bytes;
	int64_t failed;
};

enum { KINDS = 64 }; /* of memory; those above make nothing */

static void add_memory(struct gt_result *result, const struct gt_trace *trace)
{
	struct sum_of_kind sums[KINDS] = {{0}};

	gt_array_each(const struct gt_allocation, allocation, &trace->allocations) {
		struct sum_of_kind *sum = &sums[allocation->kind % KINDS];
		const bool kept = allocation->flags & GT_UNFINISHED;

		sum->made++;
		sum->bytes += (int64_t)allocation->size_bytes;
		sum->kept += kept;
		sum->kept_bytes += kept ? (int64_t)allocation->size_bytes : 0;
	}
	gt_array_each(const struct gt_memory_call, call, &trace->memory_calls)
		if (call->kind < KINDS)
			sums[call->kind].failed += call->result != 0;
	gt_result_begin(result, "memory", memory_headings, GT_COUNT_OF(memory_headings));
	gt_result_detail(result);
	for (uint32_t kind = 0; kind < KINDS; kind++) {
		if (!sums[kind].made && !sums[kind].failed)
			continue;
		gt_result_add_text(result, gt_memory_call_name(kind));
		gt_result_add_count(result, sums[kind].made);
		gt_result_add_count(result, sums[kind].bytes);
		gt_result_add_count(result, sums[kind].kept);
		gt_result_add_count(result, sums[kind].kept_bytes);
		gt_result_add_count(result, sums[kind].failed);
	}
}

static void add_libraries(struct gt_result *result, const struct gt_trace *trace)
{
	const size_t count = gt_strings_count(trace->strings);
	struct sum_of_kind *sums = gt_allocate_zeroed(count, sizeof(*sums));

	gt_array_each(const struct gt_allocation, allocation, &trace->allocations) {
		if (allocation->library >= count)
			continue;
		sums[allocation->library].made++;
		sums[allocation->library].bytes += (int64_t)allocation->size_bytes;
	}
	gt_result_begin(result, "libraries", library_headings, GT_COUNT_OF(library_headings));
	gt_result_detail(result);
	for (size_t i = 1; i < count; i++) {
		if (!sums[i].made)
			continue;
		gt_result_add_text(result, gt_trace_text(trace, (gt_string)i));
		gt_result_add_count(result, sums[i].made);
		gt_result_add_count(result, sums[i].bytes);
	}
	free(sums);
}

enum { UNIFIED_KINDS = 16 };

static void add_unified(struct gt_result *result, const struct gt_trace *trace)
{
	int64_t events[UNIFIED_KINDS] = {0};
	int64_t values[UNIFIED_KINDS] = {0};

	gt_array_each(const struct gt_unified_event, event, &trace->unified_events) {
		events[event->kind % UNIFIED_KINDS]++;
		values[event->kind % UNIFIED_KINDS] += (int64_t)event->value;
	}
	gt_result_begin(result, "unified", unified_headings, GT_COUNT_OF(unified_headings));
	gt_result_detail(result);
	for (uint32_t kind = 0; kind < UNIFIED_KINDS; kind++) {
		if (!events[kind])
			continue;
		gt_result_add_text(result, gt_unified_kind_name(kind));
		gt_result_add_count(result, events[kind]);
		gt_result_add_count(result, values[kind]);
	}
}

static bool is_time(const char *class)
{
	return gt_has_suffix(class, "_ns");
}

/* Only some callbacks are timed; of a short program perhaps none. */
static bool has_samples(const struct gt_trace *trace)
{
	uint64_t samples = 0;

	(void)gt_trace_ledger(trace, "callback_samples", &samples);
	return samples > 0;
}

static void add_ledger(struct gt_result *result, const struct gt_trace *trace)
{
	const size_t count = gt_strings_count(trace->strings);
	bool *seen = gt_allocate_zeroed(count, sizeof(*seen));
	uint64_t *sums = gt_ledger_sums(trace);

	gt_result_begin(result, "ledger", ledger_headings, GT_COUNT_OF(ledger_headings));
	gt_result_whole(result);
	gt_array_each(const struct gt_ledger, row, &trace->ledgers) {
		const char *class = gt_trace_text(trace, row->name);
		uint64_t value;
		bool known;

		if (row->name >= count || seen[row->name])
			continue;
		seen[row->name] = true;
		value = sums[row->name];
		known = strcmp(class, "callback_ns") != 0 || has_samples(trace);
		gt_result_add_text(result, class);
		gt_result_add_count_if(result, !is_time(class), (int64_t)value);
		gt_result_add_count_if(result, known && is_time(class), (int64_t)value);
	}
	free(seen);
	free(sums);
}

static void add_notes(struct gt_result *result, const struct gt_trace *trace)
{
	gt_result_begin(result, "notes", note_headings, GT_COUNT_OF(note_headings));
	gt_array_each(const struct gt_note, note, &trace->notes) {
		const gt_id process = note->process;
		const gt_count pid =
			process < trace->processes.count ? trace->processes.rows[process].pid : 0;

		gt_result_add_count_if(result, pid != 0, pid);
		add_text(result, gt_trace_text(trace, note->topic));
		add_text(result, gt_trace_text(trace, note->text));
	}
}

/* Those of the first run: ranks of a job have the same. */
static void add_settings(struct gt_result *result, const struct gt_manifests *runs)
{
	gt_result_begin(result, "settings", setting_headings, GT_COUNT_OF(setting_headings));
	if (runs->list.count == 0)
		return;
	gt_array_each(const struct gt_setting, setting, &runs->list.rows[0].settings) {
		gt_result_add_text(result, setting->name);
		gt_result_add_text(result, setting->value);
	}
}

static void add_environment(struct gt_result *result, const struct gt_trace *trace)
{
	struct gt_variables variables;

	gt_variables_init(&variables, trace);
	gt_result_begin(result, "environment", environment_headings,
	                GT_COUNT_OF(environment_headings));
	gt_array_each(const struct gt_variable, variable, &variables.list) {
		const char *equals = memchr(variable->text, '=', variable->length);
		const size_t name = equals ? (size_t)(equals - variable->text) : variable->length;
		const size_t value = equals ? variable->length - name - 1 : 0;

		gt_result_add_format(result, "%.*s", (int)name, variable->text);
		gt_result_add_format(result, "%.*s", (int)value, equals ? equals + 1 : "");
		gt_result_add_count(result, (int64_t)variable->processes);
	}
	gt_variables_release(&variables);
}

static bool is_module(const struct gt_recording_file *file)
{
	return strncmp(file->name, GT_MODULES_FOLDER "/", strlen(GT_MODULES_FOLDER "/")) == 0;
}

/* Kept modules are many: one row. */
static void add_modules(struct gt_result *result, const struct gt_recording_files *files)
{
	int64_t bytes = 0;
	size_t count = 0;

	gt_array_each(const struct gt_recording_file, file, &files->list) {
		if (!is_module(file))
			continue;
		bytes += (int64_t)file->bytes;
		count++;
	}
	if (count == 0)
		return;
	gt_result_add_format(result, GT_MODULES_FOLDER " (%zu file%s)", count,
	                     count == 1 ? "" : "s");
	gt_result_add_count(result, bytes);
}

static void add_files(struct gt_result *result, const struct gt_recording_files *files)
{
	gt_result_begin(result, "files", file_headings, GT_COUNT_OF(file_headings));
	gt_array_each(const struct gt_recording_file, file, &files->list) {
		if (is_module(file))
			continue;
		gt_result_add_text(result, file->name);
		gt_result_add_count(result, (int64_t)file->bytes);
	}
	add_modules(result, files);
}

static void fill(struct gt_result *result, const struct facts *facts)
{
	add_recording(result, facts);
	add_runs(result, &facts->runs);
	add_processes(result, &facts->reading.trace);
	add_devices(result, &facts->reading.trace);
	add_tables(result, &facts->reading.trace);
	add_memory(result, &facts->reading.trace);
	add_libraries(result, &facts->reading.trace);
	add_unified(result, &facts->reading.trace);
	add_ledger(result, &facts->reading.trace);
	add_settings(result, &facts->runs);
	add_environment(result, &facts->reading.trace);
	add_notes(result, &facts->reading.trace);
	add_files(result, &facts->files);
	gt_result_remark(result, "%s", facts->reading.ledger);
}

/* Those of a recording of nothing. */
static void make_tables(struct gt_result *result)
{
	struct facts facts = {0};

	gt_reading_init(&facts.reading);
	fill(result, &facts);
	gt_reading_release(&facts.reading);
}

/* loaded is what came of loading them. */
static void remark_manifests(struct gt_result *result, const struct gt_manifests *runs, int loaded,
                             const struct gt_error *problem)
{
	if (loaded == -ENOENT || loaded == -ENOTDIR)
		gt_result_remark(result,
		                 "There is no manifest: it was not recorded by gputrace run, "
		                 "or is a part of a recording.");
	else if (loaded < 0)
		gt_result_remark(result, "%s", problem->text);
	gt_array_each(const struct gt_manifest, manifest, &runs->list)
		if (manifest->version > GT_MANIFEST_VERSION)
			gt_result_remark(result,
			                 "The manifest was written by a newer gputrace, %s: it may "
			                 "say more than is shown.",
			                 manifest->tool_version);
}

/* The captures must be readable; a manifest that is not is worth a remark. */
static int load(struct facts *facts, const char *path, const struct gt_filter_args *filter,
                struct gt_result *result, struct gt_error *err)
{
	struct gt_error problem = {0};
	struct gt_salvage left;
	struct gt_progress progress = {0};
	int loaded = gt_reading_choose(&facts->reading, filter, err);

	gt_progress_begin(&progress, false, "reading %s", path);
	if (loaded == 0)
		loaded = gt_reading_read(&facts->reading, path, GT_NAMES_SHORT, &progress, err);
	gt_progress_end(&progress);
	gt_say_condition(path, facts->reading.condition);
	if (loaded == 0)
		loaded = gt_recording_list(&facts->files, path, err);
	if (loaded < 0)
		return loaded;
	gt_remark_restriction(result, facts->reading.view.restriction);
	remark_manifests(result, &facts->runs, gt_manifests_load(&facts->runs, path, &problem),
	                 &problem);
	facts->sum = sum_of(&facts->runs);
	if (gt_salvage_look(path, &left, NULL) == 0 && left.arenas > 0)
		gt_result_remark(result,
		                 "A part of it is still in arenas of processes that were killed; "
		                 "gputrace finish puts it into their captures.");
	return 0;
}

static bool is_table(const char *word)
{
	struct gt_result tables;
	bool found = false;

	gt_result_init(&tables);
	make_tables(&tables);
	gt_array_each(const struct gt_section, table, &tables.sections)
		found = found || strcmp(word, table->title) == 0;
	gt_result_release(&tables);
	return found;
}

/* A word that is no recording, but what is to be seen of one. */
static int check_word(const char *word, struct gt_error *err)
{
	char *found = gt_recording_find(word);
	const bool exists = found || access(word, F_OK) == 0;

	free(found);
	if (!exists && is_table(word))
		return gt_fail(err, EINVAL,
		               "'%s' is no recording; to see that table alone: --section %s", word,
		               word);
	if (!exists && gt_report_find(word))
		return gt_fail(err, EINVAL,
		               "'%s' is no recording, but a report: gputrace report %s", word,
		               word);
	return 0;
}

static int check_operands(int count, char **words, struct gt_error *err)
{
	int result = 0;

	for (int i = 0; result == 0 && i < count; i++)
		result = check_word(words[i], err);
	return result < 0 ? result : gt_recording_one(count, words, err);
}

static int run(int argc, char **argv, struct gt_error *err)
{
	struct args args = {.show = GT_SHOW_ARGS_INIT};
	const int left = gt_options_parse(options, &args, argc, argv, err);
	struct gt_rendering rendering = {0};
	struct facts facts = {0};
	struct gt_result result;
	char *recording = NULL;
	int status;

	if (left < 0)
		return left;
	status = check_operands(left, argv, err);
	if (status == 0)
		status = gt_show_style(&args.show, &rendering.style, err);
	if (status < 0)
		return status;
	gt_reading_init(&facts.reading);
	gt_result_init(&result);
	if (status == 0)
		status = gt_recording_choose(left > 0 ? argv[0] : NULL, &recording, err);
	if (status == 0)
		status = load(&facts, recording, &args.filter, &result, err);
	if (status == 0) {
		fill(&result, &facts);
		status = gt_result_check(&result, err);
	}
	if (status == 0)
		status = gt_show(&args.show, &rendering, &(struct gt_named_result){"info", &result},
		                 1, err);
	gt_result_release(&result);
	gt_reading_release(&facts.reading);
	gt_recording_files_release(&facts.files);
	gt_manifests_release(&facts.runs);
	free(recording);
	return status < 0 ? status : GT_EXIT_OK;
}

const struct gt_command gt_command_info = {
	.name = "info",
	.operands = "[RECORDING]",
	.summary = "Show what a recording holds",
	.details = GT_RECORDING_HELP,
	.tables = make_tables,
	.options = options,
	.run = run,
};

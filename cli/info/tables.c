/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/info/tables.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/advice/variables.h"
#include "base/array.h"
#include "base/path.h"
#include "base/strings.h"
#include "format/recording.h"
#include "model/ledger.h"
#include "model/names.h"
#include "model/naming/job_rank.h"

static const struct gt_heading process_headings[] = {
	{"pid", GT_UNIT_COUNT, "Process id", GT_WORTH_KEY},
	{"parent_pid", GT_UNIT_COUNT, "Process id of its parent"},
	{"name", GT_UNIT_TEXT, "Program", GT_WORTH_KEY},
	{"ended", GT_UNIT_TEXT, "How its recording ended"},
	{"start_ns", GT_UNIT_TIME, "When recording began in it"},
	{"duration_ns", GT_UNIT_NS, "Until the last thing known of it"},
	{"rank", GT_UNIT_COUNT, "In its job, as the launcher of the job told it"},
	{"world_size", GT_UNIT_COUNT, "Ranks of the job", GT_WORTH_LITTLE},
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

/* Little is known of a process whose capture could not be read, or stops at once. */
static void add_processes(struct gt_result *result, const struct gt_trace *trace)
{
	gt_result_begin(result, "processes", process_headings, GT_COUNT_OF(process_headings));
	gt_array_each(const struct gt_process, process, &trace->processes) {
		const bool timed = process->start_ns != 0;
		const struct gt_job_rank rank = gt_job_rank_of(trace, process);

		gt_result_add_count_if(result, process->pid != 0, process->pid);
		gt_result_add_count_if(result, process->parent_pid != 0, process->parent_pid);
		gt_info_add_text(result, gt_trace_text(trace, process->name));
		gt_result_add_text(result, gt_end_name(process->ended));
		gt_result_add_count_if(result, timed, process->start_ns - trace->start_ns);
		gt_result_add_count_if(result, timed, process->end_ns - process->start_ns);
		gt_result_add_count_if(result, rank.rank >= 0, rank.rank);
		gt_result_add_count_if(result, rank.size >= 0, rank.size);
		gt_info_add_text(result, gt_trace_text(trace, process->capture));
	}
}

static void add_devices(struct gt_result *result, const struct gt_trace *trace)
{
	gt_result_begin(result, "devices", device_headings, GT_COUNT_OF(device_headings));
	gt_array_each(const struct gt_device, device, &trace->devices) {
		gt_result_add_count(result, device->ordinal);
		gt_info_add_text(result, gt_trace_text(trace, device->name));
		if (device->cc_major)
			gt_result_add_format(result, "%u.%u", device->cc_major, device->cc_minor);
		else
			gt_result_add_unknown(result);
		gt_result_add_count_if(result, device->sm_count > 0, device->sm_count);
		gt_result_add_count_if(result, device->memory_bytes > 0,
		                       (int64_t)device->memory_bytes);
		gt_info_add_text(result, gt_trace_text(trace, device->pci));
		gt_info_add_text(result, gt_trace_text(trace, device->uuid));
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
		gt_info_add_text(result, gt_trace_text(trace, note->topic));
		gt_info_add_text(result, gt_trace_text(trace, note->text));
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

void gt_info_fill(struct gt_result *result, const struct gt_info_facts *facts)
{
	gt_info_add_recording(result, facts);
	gt_info_add_runs(result, &facts->runs);
	add_processes(result, &facts->reading.trace);
	add_devices(result, &facts->reading.trace);
	add_tables(result, &facts->reading.trace);
	gt_info_add_memory(result, &facts->reading.trace);
	gt_info_add_libraries(result, &facts->reading.trace);
	gt_info_add_unified(result, &facts->reading.trace);
	add_ledger(result, &facts->reading.trace);
	add_settings(result, &facts->runs);
	add_environment(result, &facts->reading.trace);
	add_notes(result, &facts->reading.trace);
	add_files(result, &facts->files);
	gt_result_remark(result, "%s", facts->reading.ledger);
}

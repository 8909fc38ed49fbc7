/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/result.h"
#include "base/array.h"
#include "base/error.h"
#include "base/path.h"
#include "base/text_room.h"
#include "base/units.h"
#include "cli/command_line/command.h"
#include "cli/command_line/filter.h"
#include "cli/command_line/habits.h"
#include "cli/command_line/names.h"
#include "cli/command_line/option.h"
#include "cli/output/output.h"
#include "cli/output/progress.h"
#include "cli/output/say.h"
#include "cli/output/words.h"
#include "cli/recording/reading.h"
#include "cli/recording/recording.h"
#include "cli/recording/telling.h"
#include "cli/render/render.h"
#include "cli/view/trace_file.h"
#include "exporters/exporter.h"
#include "format/recording.h"
#include "model/trace.h"
#include "model/view/view.h"

struct args {
	const char *format;
	const char *output;
	bool force;
	const char *compression;
	enum gt_compression compression_kind; /* what it comes to */
	bool uncompressed;
	bool without_calls;
	bool quiet;
	bool verbose;
	bool json;
	struct gt_filter_args filter;
	bool strict;
	const char *names;
};

/* enum gt_compression, in words. */
static const char *const compressions[] = {
	[GT_COMPRESSION_DEFAULT] = "default", [GT_COMPRESSION_NONE] = "none",
	[GT_COMPRESSION_ZLIB] = "zlib",       [GT_COMPRESSION_GZIP] = "gzip",
	[GT_COMPRESSION_ZSTD] = "zstd",       NULL,
};

static const struct gt_option options[] = {
	OPT_TEXT("format", 't', struct args, format, "FORMAT",
                 "Format to write; default: the one that the name of FILE ends with, else perfetto"),
	OPT_TEXT("output", 'o', struct args, output, "FILE",
                 "Write to FILE, or into it if it is a folder; - is standard output. Default: the "
                 "recording's name with the ending of the format"),
	OPT_FLAG("force", 'f', struct args, force, "Overwrite an existing file"),
	OPT_CHOICE("compression", 0, struct args, compression, "KIND", compressions,
                   "How to compress: default (what opens everywhere), none, zlib, gzip, or zstd for "
                   "smaller Perfetto traces, which viewers from v58 on open"),
	OPT_FLAG("uncompressed", 0, struct args, uncompressed, "The same as --compression none"),
	OPT_FLAG("no-api", 0, struct args, without_calls,
                 "Leave out API calls, for smaller files; waits and failed calls stay"),
	OPT_FLAG(
		"json", 0, struct args, json,
		"Say in JSON what was written, on standard output; a trace in JSON is --format chrome"),
	GT_NAMES_OPTION(struct args, names),
	OPT_FLAG("quiet", 'q', struct args, quiet, "Say nothing when all went well"),
	OPT_FLAG(
		"verbose", 'v', struct args, verbose,
		"Also print the address, a long one, at which Perfetto's UI unfolds what it is given"),
	GT_FILTER_OPTIONS(struct args, filter),
	GT_STRICT_OPTION(struct args, strict),
	OPT_END_OF("export"),
};

static void list_formats(void (*entry)(const char *name, const char *text, FILE *out), FILE *out)
{
	for (size_t i = 0; i < gt_exporter_count; i++)
		entry(gt_exporters[i]->name, gt_exporters[i]->summary, out);
}

/* The names of all formats: "perfetto, other". */
static void name_formats(char *text, size_t size)
{
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < gt_exporter_count && length < size; i++)
		length += (size_t)snprintf(text + length, size - length, "%s%s", i ? ", " : "",
		                           gt_exporters[i]->name);
}

static int unknown_format(const char *name, struct gt_error *err)
{
	struct gt_words names = {0};
	const char *nearest;
	char all[128];
	int result;

	for (size_t i = 0; i < gt_exporter_count; i++)
		gt_words_add(&names, gt_exporters[i]->name, strlen(gt_exporters[i]->name));
	name_formats(all, sizeof(all));
	nearest = gt_words_nearest(&names, name);
	if (nearest)
		result = gt_fail(err, EINVAL, "no format '%s'; did you mean %s?", name, nearest);
	else
		result = gt_fail(err, EINVAL, "no format '%s'; there is: %s", name, all);
	gt_words_release(&names);
	return result;
}

/* Other endings that people and ui.perfetto.dev give to Perfetto's traces. */
static bool is_perfetto_ending(const char *ending)
{
	static const char *const endings[] = {".pftrace", ".perfetto-trace", ".pb"};

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (strcmp(endings[i], ending) == 0)
			return true;
	return false;
}

/* By --format, else by the ending of the file's name, else Perfetto's. */
static int choose(const struct args *args, const struct gt_exporter **exporter,
                  struct gt_error *err)
{
	const char *ending = args->output && !gt_path_is_folder(args->output)
	                             ? gt_path_ending(args->output)
	                             : "";
	char all[128];

	*exporter = NULL;
	if (args->format) {
		const char *alias = gt_format_alias(args->format);

		*exporter = gt_exporter_find(args->format);
		if (!*exporter && alias)
			*exporter = gt_exporter_find(alias);
		return *exporter ? 0 : unknown_format(args->format, err);
	}
	if (args->output)
		*exporter = gt_exporter_for_file(args->output);
	if (!*exporter && (!*ending || is_perfetto_ending(ending)))
		*exporter = gt_exporter_find("perfetto");
	if (*exporter)
		return 0;
	if (strcmp(ending, ".csv") == 0 || strcmp(ending, ".txt") == 0)
		return gt_fail(err, EINVAL,
		               "no format writes %s files; tables do: gputrace report -o %s",
		               ending, args->output);
	name_formats(all, sizeof(all));
	return gt_fail(err, EINVAL, "no format writes %s files; choose one with --format (%s)",
	               ending, all);
}

/* By --compression, else by a name that ends with .gz. */
static int choose_compression(struct args *args, const struct gt_exporter *exporter,
                              struct gt_error *err)
{
	const bool named_gz = args->output && strcmp(gt_path_ending(args->output), ".gz") == 0;
	enum gt_compression kind = GT_COMPRESSION_DEFAULT;

	if (args->uncompressed && args->compression && strcmp(args->compression, "none") != 0)
		return gt_fail(err, EINVAL,
		               "--uncompressed and --compression %s exclude each other",
		               args->compression);
	if (args->uncompressed)
		kind = GT_COMPRESSION_NONE;
	else if (!args->compression && named_gz)
		kind = GT_COMPRESSION_GZIP;
	else
		while (args->compression && strcmp(compressions[kind], args->compression) != 0)
			kind++;
	args->compression_kind = kind;
	if (kind == GT_COMPRESSION_DEFAULT || exporter->compressions & 1u << kind)
		return 0;
	return gt_fail(err, EINVAL, "%s files cannot be compressed with %s", exporter->name,
	               compressions[kind]);
}

/*
 * The recording's name with the ending of the format. A folder given as "." or ".." is called
 * by its real name.
 */
static char *default_path(const struct args *args, const char *recording,
                          const struct gt_exporter *exporter)
{
	char ending[32];
	char *stem = gt_recording_stem(recording);
	const char *name = gt_path_name(stem);
	char *path;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
		char *real = realpath(recording, NULL);

		if (real) {
			free(stem);
			stem = gt_recording_stem(real);
			free(real);
		}
	}
	snprintf(ending, sizeof(ending), "%s%s", exporter->extension,
	         args->compression_kind == GT_COMPRESSION_GZIP ? ".gz" : "");
	path = gt_recording_path(stem, ending);
	free(stem);
	return path;
}

/* The path to write: output as it is, in it when it is a folder, else beside the recording. */
static char *path_for(const struct args *args, const char *recording,
                      const struct gt_exporter *exporter)
{
	const char *output = args->output;
	char *path = default_path(args, recording, exporter);
	const char *name = gt_path_name(path);
	char *inside;
	size_t size;

	if (!output)
		return path;
	if (!gt_path_is_folder(output)) {
		free(path);
		return gt_recording_path(output, "");
	}
	size = strlen(output) + strlen(name) + 2;
	inside = gt_allocate(size);
	snprintf(inside, size, "%s%s%s", output, gt_has_suffix(output, "/") ? "" : "/", name);
	free(path);
	return inside;
}

static void tell(const struct args *args, const struct gt_output *output,
                 const struct gt_exporter *exporter, const struct gt_export_counts *counts)
{
	char slices[128];

	if (exporter->is_metrics)
		snprintf(slices, sizeof(slices), "%s series",
		         gt_figure_count((int64_t)counts->series).text);
	else
		snprintf(slices, sizeof(slices), "%s GPU slices, %s API slices",
		         gt_figure_count((int64_t)counts->gpu_slices).text,
		         gt_figure_count((int64_t)counts->api_slices).text);
	gt_output_say(output, slices);
	if (output->file == stdout)
		gt_say("wrote %s to standard output: %s",
		       gt_figure_bytes((int64_t)counts->bytes).text, slices);
	if (counts->skipped && exporter->is_metrics)
		gt_say("%s GPUs are left out: nothing tells them from others",
		       gt_figure_count((int64_t)counts->skipped).text);
	else if (counts->skipped)
		gt_say("%s rows have no known time and were left out",
		       gt_figure_count((int64_t)counts->skipped).text);
	if (counts->texts_cut)
		gt_say("%s texts were cut to %d bytes each, as all of them in full would be too "
		       "much",
		       gt_figure_count((int64_t)counts->texts_cut).text, GT_TEXT_SHORT);
	if (output->file != stdout)
		gt_trace_file_say(output->path, exporter, args->verbose);
}

static const struct gt_heading headings[] = {
	{"file", GT_UNIT_TEXT, "File that was written"},
	{"format", GT_UNIT_TEXT, "Its format"},
	{"gpu_slices", GT_UNIT_COUNT, "Kernels, copies and fills"},
	{"api_slices", GT_UNIT_COUNT, "API calls"},
	{"range_slices", GT_UNIT_COUNT, "NVTX ranges and marks, and ranges above streams"},
	{"memory_marks", GT_UNIT_COUNT, "Allocations and their ends, failures and peaks"},
	{"memory_values", GT_UNIT_COUNT, "Values of memory in use"},
	{"device_slices", GT_UNIT_COUNT, "Ranges, marks and values that kernels told"},
	{"arrows", GT_UNIT_COUNT, "From an API call to what it launched"},
	{"host_arrows", GT_UNIT_COUNT, "From an allocation to its end"},
	{"skipped", GT_UNIT_COUNT, "Rows that could not be placed in time"},
	{"texts_cut", GT_UNIT_COUNT, "Long texts that are in it in part"},
	{"file_bytes", GT_UNIT_BYTES, "Size of the file"},
	{"series", GT_UNIT_COUNT, "Lines with a value, of metrics"},
};

/* The same for programs. */
static void print_json(const struct gt_output *output, const struct gt_exporter *exporter,
                       const struct gt_export_counts *counts)
{
	const struct gt_rendering rendering = {.style = GT_STYLE_JSON, .limit = 1};
	struct gt_result result;

	gt_result_init(&result);
	gt_result_begin(&result, "exported", headings, sizeof(headings) / sizeof(headings[0]));
	gt_result_add_text(&result, output->path);
	gt_result_add_text(&result, exporter->name);
	gt_result_add_count(&result, (int64_t)counts->gpu_slices);
	gt_result_add_count(&result, (int64_t)counts->api_slices);
	gt_result_add_count(&result, (int64_t)counts->range_slices);
	gt_result_add_count(&result, (int64_t)counts->memory_marks);
	gt_result_add_count(&result, (int64_t)counts->memory_values);
	gt_result_add_count(&result, (int64_t)counts->device_slices);
	gt_result_add_count(&result, (int64_t)counts->arrows);
	gt_result_add_count(&result, (int64_t)counts->host_arrows);
	gt_result_add_count(&result, (int64_t)counts->skipped);
	gt_result_add_count(&result, (int64_t)counts->texts_cut);
	gt_result_add_count(&result, (int64_t)counts->bytes);
	gt_result_add_count(&result, (int64_t)counts->series);
	gt_render_json(&rendering, &(struct gt_named_result){"export", &result}, 1, stdout);
	gt_result_release(&result);
}

/* How a recording is written. */
struct writing {
	const struct args *args;
	const struct gt_exporter *exporter;
	const struct gt_told *told;
};

/* The reading has been read. */
static int write_view(const struct writing *writing, const struct gt_reading *reading,
                      struct gt_output *output, struct gt_progress *progress, struct gt_error *err)
{
	const struct args *args = writing->args;
	const struct gt_trace_file file = {
		.exporter = writing->exporter,
		.how = {.compression = args->compression_kind,
	                .without_calls = args->without_calls,
	                .told = writing->told},
		.name = output->path,
		.path = output->temporary,
		.file = output->file,
	};
	struct gt_export_counts counts = {0};
	int result;

	gt_progress_begin(progress, args->quiet, "writing %s", output->path);
	result = gt_trace_file_write(&file, &reading->view, progress, &counts, err);
	gt_progress_end(progress);
	if (result == 0)
		result = gt_output_commit(output, err);
	if (result == 0 && args->json)
		print_json(output, writing->exporter, &counts);
	else if (result == 0 && !args->quiet)
		tell(args, output, writing->exporter, &counts);
	return result;
}

/* Whether the format can be written to what was opened. */
static int check_target(const struct gt_exporter *exporter, const struct gt_output *output,
                        struct gt_error *err)
{
	if (isatty(fileno(output->file)))
		return gt_fail(err, EINVAL, "will not write %s to a terminal; see --output",
		               exporter->name);
	if (exporter->needs_path && !output->temporary)
		return gt_fail(err, EINVAL, "%s needs a file of its own; see --output",
		               exporter->name);
	return 0;
}

/* The output is opened first: collecting a large recording only to be refused is no fun. */
static int export_recording(const struct args *args, const char *recording,
                            const struct gt_exporter *exporter, const char *path,
                            struct gt_error *err)
{
	const enum gt_name_form names = args->names ? gt_names_form(args->names) : exporter->names;
	struct gt_output output = GT_OUTPUT_INIT;
	struct gt_progress progress = {0};
	struct gt_reading reading;
	struct gt_telling telling;
	int result;

	gt_reading_init(&reading);
	result = gt_reading_choose(&reading, &args->filter, err);
	if (result == 0)
		result = gt_output_open(&output, path, args->force, err);
	if (result == 0)
		result = check_target(exporter, &output, err);
	if (result == 0) {
		gt_progress_begin(&progress, args->quiet, "reading %s", recording);
		result = gt_reading_read(&reading, recording, names, &progress, err);
	}
	gt_telling_init(&telling, recording);
	if (result == 0)
		result = write_view(&(struct writing){args, exporter, &telling.told}, &reading,
		                    &output, &progress, err);
	gt_telling_release(&telling);
	gt_progress_end(&progress);
	gt_say_condition(recording, reading.condition);
	gt_output_release(&output);
	if (result == 0)
		result = gt_reading_status(&reading, args->strict);
	gt_reading_release(&reading);
	return result;
}

static int check(const struct args *args, int left, char **argv, struct gt_error *err)
{
	if (left > 1 && !args->output && *gt_path_ending(argv[1]) &&
	    !gt_has_suffix(argv[1], GT_RECORDING_SUFFIX))
		return gt_fail(err, EINVAL, "one recording at a time; to write %s: -o %s", argv[1],
		               argv[1]);
	if (left > 1)
		return gt_recording_one(left, argv, err);
	if (args->json && args->output && strcmp(args->output, "-") == 0)
		return gt_fail(err, EINVAL,
		               "--json and the trace cannot both go to standard output");
	if (args->output && !*args->output)
		return gt_fail(err, EINVAL, "--output needs the name of a file");
	return 0;
}

static int run(int argc, char **argv, struct gt_error *err)
{
	struct args args = {0};
	const int left = gt_options_parse(options, &args, argc, argv, err);
	const struct gt_exporter *exporter;
	char *recording = NULL;
	char *path = NULL;
	int result = left < 0 ? left : check(&args, left, argv, err);

	if (result < 0)
		return result;
	result = choose(&args, &exporter, err);
	if (result == 0)
		result = choose_compression(&args, exporter, err);
	if (result == 0)
		result = gt_recording_choose(left > 0 ? argv[0] : NULL, &recording, err);
	if (result == 0) {
		path = path_for(&args, recording, exporter);
		result = export_recording(&args, recording, exporter, path, err);
	}
	free(path);
	free(recording);
	return result;
}

const struct gt_command gt_command_export = {
	.name = "export",
	.operands = "[RECORDING]",
	.summary = "Write a recording as a file that other programs read",
	.details = GT_RECORDING_HELP "\nNAME.perfetto opens in ui.perfetto.dev.",
	.list_title = "Formats",
	.list = list_formats,
	.options = options,
	.run = run,
};

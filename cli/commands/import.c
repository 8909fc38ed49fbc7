/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/path.h"
#include "base/sink/file.h"
#include "base/units.h"
#include "cli/command_line/command.h"
#include "cli/command_line/option.h"
#include "cli/output/partial.h"
#include "cli/output/progress.h"
#include "cli/output/say.h"
#include "cli/recording/manifest.h"
#include "cli/recording/recording.h"
#include "cli/run/claim.h"
#include "format/recording.h"
#include "import/import.h"
#include "import/importer.h"

struct args {
	const char *output;
	bool force;
	bool quiet;
};

static const struct gt_option options[] = {
	OPT_TEXT("output", 'o', struct args, output, "NAME",
                 "Write NAME.gputrace. Default: the file's name without its ending, in this folder. "
                 "FOLDER/ writes into that folder"),
	OPT_FLAG("force", 'f', struct args, force,
                 "Overwrite an existing recording. It stays until the new one is there"),
	OPT_FLAG("quiet", 'q', struct args, quiet, "Print only what went wrong"),
	OPT_END_OF("import"),
};

static void list_formats(void (*entry)(const char *name, const char *text, FILE *out), FILE *out)
{
	for (size_t i = 0; i < gt_importer_count; i++)
		entry(gt_importers[i]->name, gt_importers[i]->summary, out);
}

/* ---- captures, which lie beside the recording under temporary names until all is there ---- */

struct part {
	char *path;
	char name[128]; /* of the capture in the recording; "": it was not ended */
};

struct parts {
	const char *folder; /* of the recording */
	gt_array(struct part) list;
	FILE *file; /* that is being written */
};

/* Beside the recording: NAME.gputrace.PID-1.partial. */
static char *temporary_path(const struct parts *parts)
{
	char suffix[48];

	snprintf(suffix, sizeof(suffix), ".%d-%zu.partial", (int)getpid(), parts->list.count + 1);
	return gt_recording_path(parts->folder, suffix);
}

static int begin_part(void *context, struct gt_sink *sink, struct gt_error *err)
{
	struct parts *parts = context;
	char *path = temporary_path(parts);
	const int fd = gt_partial_create(path);

	if (fd < 0) {
		char text[PATH_MAX];

		(void)gt_fail(err, -fd, "cannot make the file %s: %s", path,
		              gt_path_problem(path, -fd, text, sizeof(text)));
		free(path);
		return fd;
	}
	*gt_array_push(&parts->list) = (struct part){.path = path};
	parts->file = fdopen(fd, "w");
	if (!parts->file)
		return gt_fail(err, errno, "cannot write %s: %s", path, gt_errno_text(errno));
	*sink = gt_file_sink(parts->file);
	return 0;
}

static int end_part(void *context, const char *name, struct gt_error *err)
{
	struct parts *parts = context;
	struct part *part = gt_array_end(&parts->list) - 1;
	FILE *file = parts->file;

	parts->file = NULL;
	snprintf(part->name, sizeof(part->name), "%s", name);
	if (fclose(file) == 0)
		return 0;
	return gt_fail(err, errno, "cannot write %s: %s", part->path, gt_errno_text(errno));
}

static void parts_release(struct parts *parts)
{
	if (parts->file)
		(void)fclose(parts->file);
	gt_array_each(struct part, part, &parts->list) {
		(void)unlink(part->path); /* gone where it has its place in the recording */
		gt_partial_forget(part->path);
		free(part->path);
	}
	gt_array_release(&parts->list);
}

/* Into the folder, which is ours. */
static int place_parts(const struct parts *parts, struct gt_error *err)
{
	gt_array_each(const struct part, part, &parts->list) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s/%s" GT_CAPTURE_SUFFIX, parts->folder, part->name);
		if (rename(part->path, path) < 0)
			return gt_fail(err, errno, "cannot rename %s: %s", part->path,
			               gt_errno_text(errno));
	}
	return 0;
}

/* ---- the recording ---- */

/* Who made it of what. Where the program ran is not known here: captures say what the file does. */
static int save_manifest(const char *folder, const char *file, struct gt_error *err)
{
	char word[PATH_MAX];
	char *const command[] = {(char[]){"gputrace"}, (char[]){"import"}, word, NULL};
	struct gt_manifest manifest;
	int result;

	snprintf(word, sizeof(word), "%s", file);
	gt_manifest_init(&manifest, command);
	*manifest.host = *manifest.boot_id = '\0';
	manifest.end = manifest.start;
	manifest.ended = true;
	result = gt_manifest_save(&manifest, folder, err);
	gt_manifest_release(&manifest);
	return result;
}

static int place(const struct args *args, const struct parts *parts, const char *file,
                 struct gt_error *err)
{
	struct gt_claim claim = GT_CLAIM_INIT;
	struct gt_error why = {0};
	int result = gt_claim_make(&claim, parts->folder,
	                           args->force ? GT_CLAIM_REPLACE : GT_CLAIM_NEW, err);

	if (result < 0)
		return result;
	result = place_parts(parts, err);
	if (result == 0)
		result = save_manifest(parts->folder, file, err);
	if (result == 0 && gt_claim_keep(&claim, &why) < 0)
		gt_say("%s", why.text);
	if (result < 0 && gt_claim_drop(&claim, &why) < 0)
		gt_say("%s", why.text);
	gt_claim_release(&claim);
	return result;
}

static void add_count(char *text, size_t size, uint64_t count, const char *one, const char *many)
{
	const size_t length = strlen(text);

	if (count)
		snprintf(text + length, size - length, "%s%s %s", length ? ", " : "",
		         gt_figure_count((int64_t)count).text, count == 1 ? one : many);
}

static void tell(const struct args *args, const struct gt_importer *importer, const char *folder,
                 const struct gt_import_counts *counts)
{
	char text[256] = "";

	add_count(text, sizeof(text), counts->kernels, "kernel", "kernels");
	add_count(text, sizeof(text), counts->copies, "copy", "copies");
	add_count(text, sizeof(text), counts->fills, "fill", "fills");
	add_count(text, sizeof(text), counts->graphs, "whole graph", "whole graphs");
	add_count(text, sizeof(text), counts->calls, "API call", "API calls");
	add_count(text, sizeof(text), counts->ranges, "range", "ranges");
	if (!args->quiet)
		gt_say("wrote %s, from %s: %s", folder, importer->product,
		       *text ? text : "nothing that has a time");
	if (*counts->remarks && (!args->quiet || counts->cut))
		gt_say("%s", counts->remarks);
}

static int import_file(const struct args *args, const char *file, const char *folder,
                       struct gt_error *err)
{
	const struct gt_importer *importer = NULL;
	struct gt_import_counts counts = {0};
	struct gt_progress progress = {0};
	struct parts parts = {.folder = folder};
	const struct gt_capture_place where = {begin_part, end_part, &parts};
	int result;

	gt_progress_begin(&progress, args->quiet, "reading %s", file);
	result = gt_import(file, &where, gt_progress_watch(&progress), &importer, &counts, err);
	gt_progress_end(&progress);
	if (result == 0)
		result = place(args, &parts, file, err);
	parts_release(&parts);
	if (result == 0)
		tell(args, importer, folder, &counts);
	return result;
}

/* ---- its name ---- */

/* The file's name without what it ends with, perhaps behind a slash: run.pt.trace.json.gz is run. */
static void stem_of(const char *file, char *stem, size_t size, bool slash)
{
	static const char *const endings[] = {".gz", ".json", ".trace", ".pt", ".sqlite", ".db"};

	snprintf(stem, size, "%s%s", slash ? "/" : "", gt_path_name(file));
	for (size_t i = 0; i < GT_COUNT_OF(endings); i++)
		if (gt_has_suffix(stem, endings[i]))
			stem[strlen(stem) - strlen(endings[i])] = '\0';
}

/* The path of NAME.gputrace, of gt_allocate; NULL with err set when it can be none. */
static char *folder_for(const struct args *args, const char *file, struct gt_error *err)
{
	const char *output = args->output ? args->output : "";
	const size_t length = strlen(output);
	const bool is_place = length > 0 &&
	                      (output[length - 1] == '/' || strcmp(output, ".") == 0) &&
	                      !gt_has_suffix(output, GT_RECORDING_SUFFIX "/");
	char name[NAME_MAX + 2];
	char *stem;
	char *folder;

	stem_of(file, name, sizeof(name), is_place && output[length - 1] != '/');
	if (strcmp(output, "-") == 0) {
		(void)gt_fail(err, EINVAL,
		              "a recording is a folder and cannot go to standard output");
		return NULL;
	}
	if (is_place)
		stem = gt_recording_path(output, name);
	else
		stem = gt_recording_stem(args->output ? output : name);
	if (!*gt_path_name(stem)) {
		(void)gt_fail(err, EINVAL,
		              "'%s' does not name a recording: give a NAME such as app or "
		              "results/app with --output",
		              args->output ? output : file);
		free(stem);
		return NULL;
	}
	folder = gt_recording_path(stem, GT_RECORDING_SUFFIX);
	free(stem);
	return folder;
}

/* Before anything is read: reading a large file only to be refused is no fun. */
static int check_folder(const struct args *args, const char *folder, struct gt_error *err)
{
	struct stat status;

	if (args->force || lstat(folder, &status) < 0)
		return 0;
	return gt_fail(err, EEXIST,
	               "%s exists already; choose another name with --output or overwrite it with "
	               "--force",
	               folder);
}

static int run(int argc, char **argv, struct gt_error *err)
{
	struct args args = {0};
	const int left = gt_options_parse(options, &args, argc, argv, err);
	char *folder;
	int result;

	if (left < 0)
		return left;
	if (left == 0)
		return gt_fail(err, EINVAL, "which file? see gputrace import --help");
	if (left > 1)
		return gt_fail(err, EINVAL, "one file at a time, not also '%s'", argv[1]);
	folder = folder_for(&args, argv[0], err);
	if (!folder)
		return -EINVAL;
	result = check_folder(&args, folder, err);
	if (result == 0)
		result = import_file(&args, argv[0], folder, err);
	free(folder);
	return result;
}

const struct gt_command gt_command_import = {
	.name = "import",
	.operands = "FILE",
	.summary = "Make a recording of another profiler's file",
	.details =
		"FILE is a trace of torch.profiler or a database of nsys. All other commands read "
		"the recording as one of gputrace's own; what FILE does not say is not known "
		"there.",
	.list_title = "Formats",
	.list = list_formats,
	.options = options,
	.run = run,
};

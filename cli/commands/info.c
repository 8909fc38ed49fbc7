/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/report.h"
#include "analysis/result.h"
#include "base/array.h"
#include "base/error.h"
#include "cli/command_line/command.h"
#include "cli/command_line/filter.h"
#include "cli/command_line/option.h"
#include "cli/info/tables.h"
#include "cli/output/progress.h"
#include "cli/recording/manifest.h"
#include "cli/recording/reading.h"
#include "cli/recording/recording.h"
#include "cli/render/render.h"
#include "cli/render/show.h"
#include "format/arena/files.h"
#include "model/trace.h"

struct args {
	struct gt_filter_args filter;
	bool strict;
	struct gt_show_args show;
};

static const struct gt_option options[] = {
	GT_FILTER_OPTIONS(struct args, filter),
	GT_STRICT_OPTION(struct args, strict),
	GT_SHOW_OPTIONS(struct args, show),
	OPT_END_OF("info"),
};

/* Those of a recording of nothing. */
static void make_tables(struct gt_result *result)
{
	struct gt_info_facts facts = {0};

	gt_reading_init(&facts.reading);
	gt_info_fill(result, &facts);
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
static int load(struct gt_info_facts *facts, const char *path, const struct gt_filter_args *filter,
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
	facts->sum = gt_info_sum(&facts->runs);
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
	struct gt_info_facts facts = {0};
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
		gt_info_fill(&result, &facts);
		status = gt_result_check(&result, err);
	}
	if (status == 0)
		status = gt_show(&args.show, &rendering, &(struct gt_named_result){"info", &result},
		                 1, err);
	if (status == 0)
		status = gt_reading_status(&facts.reading, args.strict);
	gt_result_release(&result);
	gt_reading_release(&facts.reading);
	gt_recording_files_release(&facts.files);
	gt_manifests_release(&facts.runs);
	free(recording);
	return status;
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

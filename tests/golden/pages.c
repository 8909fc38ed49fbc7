/* SPDX-License-Identifier: Apache-2.0 */
/*
 * golden_pages RECORDING WIDTH...
 * Every report as the text that gputrace report shows, on pages of each width: alone, and behind
 * one another, which is called "all". The recording is read once. Before each page stands a line
 * with a form feed, its report and its width.
 */
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/report.h"
#include "analysis/result.h"
#include "base/error.h"
#include "cli/command_line/filter.h"
#include "cli/output/progress.h"
#include "cli/recording/reading.h"
#include "cli/render/render.h"
#include "model/trace.h"

static void must(int result, const struct gt_error *err)
{
	if (result == 0)
		return;
	fprintf(stderr, "golden_pages: %s\n", err->text);
	exit(EXIT_FAILURE);
}

static void show(const char *name, const struct gt_named_result *results, size_t count,
                 char **widths)
{
	struct gt_error err = {0};

	for (; *widths; widths++) {
		const struct gt_rendering rendering = {.style = GT_STYLE_TEXT,
		                                       .limit = GT_LIMIT_NONE,
		                                       .width = strtoull(*widths, NULL, 10)};

		printf("\f%s %s\n", name, *widths);
		must(gt_render(&rendering, results, count, stdout, &err), &err);
	}
}

static void read_recording(struct gt_reading *reading, const char *recording)
{
	const struct gt_filter_args everything = {0};
	struct gt_progress progress = {0};
	struct gt_error err = {0};

	gt_reading_init(reading);
	must(gt_reading_choose(reading, &everything, &err), &err);
	gt_progress_begin(&progress, false, "reading %s", recording);
	must(gt_reading_read(reading, recording, GT_NAMES_SHORT, &progress, &err), &err);
	gt_progress_end(&progress);
}

/* Text ends with a ledger that is not clean; the summary alone ends with any. */
static void show_all(const struct gt_reading *reading, struct gt_named_result *named,
                     struct gt_result *results, size_t count, char **widths)
{
	if (!reading->clean)
		gt_result_remark(&results[count - 1], "%s", reading->ledger);
	show("all", named, count, widths);
	for (size_t i = 0; i < count; i++) {
		const bool is_summary = strcmp(named[i].name, "summary") == 0;

		if (reading->clean ? is_summary : i + 1 < count)
			gt_result_remark(&results[i], "%s", reading->ledger);
		show(named[i].name, &named[i], 1, widths);
	}
}

int main(int count, char **words)
{
	struct gt_named_result *named = calloc(gt_report_count, sizeof(*named));
	struct gt_result *results = calloc(gt_report_count, sizeof(*results));
	struct gt_reading reading;
	struct gt_error err = {0};

	if (count < 3 || !named || !results)
		return 2;
	(void)setlocale(LC_CTYPE, "");
	read_recording(&reading, words[1]);
	for (size_t i = 0; i < gt_report_count; i++) {
		gt_result_init(&results[i]);
		must(gt_report_run(gt_reports[i], &reading.view, NULL, &results[i], &err), &err);
		named[i] = (struct gt_named_result){gt_reports[i]->name, &results[i]};
	}
	show_all(&reading, named, results, gt_report_count, words + 2);
	for (size_t i = 0; i < gt_report_count; i++)
		gt_result_release(&results[i]);
	gt_reading_release(&reading);
	free(results);
	free(named);
	return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

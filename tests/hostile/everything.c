/* SPDX-License-Identifier: Apache-2.0 */
#include "hostile/everything.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/pending/pending.h"
#include "analysis/pending/remarks.h"
#include "analysis/pending/tables.h"
#include "analysis/report.h"
#include "analysis/result.h"
#include "analysis/timeline/timeline.h"
#include "base/error.h"
#include "cli/recording/ledger.h"
#include "cli/recording/manifest.h"
#include "cli/render/html.h"
#include "collector/collector.h"
#include "collector/condition.h"
#include "exporters/exporter.h"
#include "format/arena/files.h"
#include "model/ledger.h"
#include "model/trace.h"
#include "model/view/view.h"

static void must(bool holds)
{
	if (!holds)
		abort();
}

static int swallow(void *context, const void *data, size_t size)
{
	(void)data;
	*(size_t *)context += size;
	return 0;
}

/* Values that such a cell can hold, whatever was recorded; not known is always possible. */
static bool is_possible(const struct gt_cell *cell)
{
	switch (cell->unit) {
	case GT_UNIT_TEXT:
	case GT_UNIT_COUNT: /* of errors, codes with a sign */
	case GT_UNIT_TIME:  /* before the recording began */
		return true;
	case GT_UNIT_NS: /* differences too */
		return cell->count > INT64_MIN / 4 && cell->count < INT64_MAX / 4 + 1;
	case GT_UNIT_BYTES:
	case GT_UNIT_BINARY_BYTES:
		return cell->count >= 0;
	case GT_UNIT_PERCENT:
		return cell->real >= -1000 && cell->real <= 1000;
	case GT_UNIT_BYTES_PER_SECOND:
	case GT_UNIT_FLOP_PER_SECOND:
	case GT_UNIT_JOULES:
	case GT_UNIT_WATTS:
		return cell->real >= 0 && isfinite(cell->real);
	case GT_UNIT_REAL:
		return isfinite(cell->real);
	}
	return false;
}

static void check_cells(const char *report, const struct gt_section *section)
{
	for (size_t i = 0; i < section->cells.count; i++) {
		const struct gt_cell *cell = &section->cells.rows[i];

		if (cell->unknown || is_possible(cell))
			continue;
		(void)fprintf(stderr, "%s: %s, %s: %lld or %g\n", report, section->title,
		              section->headings[i % section->heading_count].name,
		              (long long)cell->count, cell->real);
		abort();
	}
}

static void make_reports(const struct gt_view *view)
{
	for (size_t i = 0; i < gt_report_count; i++) {
		struct gt_result result;
		struct gt_error err = {0};

		gt_result_init(&result);
		/* A report may refuse, but not the cells that it made itself. */
		if (gt_report_run(gt_reports[i], view, NULL, &result, &err) < 0 &&
		    (err.text[0] == '\0' || err.code == EPROTO)) {
			(void)fprintf(stderr, "%s: %s\n", gt_reports[i]->name, err.text);
			abort();
		}
		gt_array_each(const struct gt_section, section, &result.sections)
			check_cells(gt_reports[i]->name, section);
		gt_result_release(&result);
	}
}

/* As if it hung now, and as if all had ended long ago. */
static void make_pending(const struct gt_trace *trace)
{
	const gt_time moments[] = {trace->end_ns, INT64_MAX};

	for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
		struct gt_pending pending;
		struct gt_result result;
		struct gt_error err = {0};

		gt_result_init(&result);
		gt_pending_init(&pending, trace, moments[i]);
		gt_pending_add_tables(&result, &pending, 1);
		gt_pending_remark(&result, &pending, 1);
		must(gt_result_check(&result, &err) == 0);
		gt_array_each(const struct gt_section, section, &result.sections)
			check_cells("pending", section);
		gt_result_release(&result);
		gt_pending_release(&pending);
	}
}

/* On a page: pieces of a lane follow each other, and there are not too many. */
static void make_timeline(const struct gt_view *view)
{
	enum { MOST = 500 };
	struct gt_timeline timeline;
	FILE *nowhere = fopen("/dev/null", "w");

	must(nowhere != NULL);
	gt_timeline_init(&timeline, view, MOST);
	must(timeline.piece_count <= MOST);
	gt_array_each(const struct gt_timeline_track, track, &timeline.tracks)
		gt_array_each(const struct gt_timeline_lane, lane, &track->lanes)
			for (size_t i = 0; i < lane->pieces.count; i++) {
				const struct gt_timeline_piece *piece = &lane->pieces.rows[i];

				must(piece->end_ns >= piece->start_ns && piece->count > 0);
				must(i == 0 || piece->start_ns >= piece[-1].end_ns);
			}
	gt_html_timeline(&timeline, nowhere);
	(void)fclose(nowhere);
	gt_timeline_release(&timeline);
}

/* Returns how many bytes they have. */
static size_t make_exports(const struct gt_view *view)
{
	size_t bytes = 0;

	for (size_t i = 0; i < gt_exporter_count; i++) {
		const struct gt_export_options options = {.compression = GT_COMPRESSION_NONE};
		struct gt_export_counts counts = {0};
		struct gt_error err = {0};
		size_t written = 0;
		const struct gt_target target = {.sink = {swallow, &written}};

		if (gt_exporters[i]->needs_path)
			continue;
		must(gt_exporters[i]->write(view, &options, &target, &counts, &err) == 0 ||
		     err.text[0] != '\0');
		bytes += written;
	}
	return bytes;
}

static void read_manifest(const char *folder)
{
	struct gt_manifest manifest;
	struct gt_error err = {0};
	char *command;

	must(gt_manifest_load(&manifest, folder, &err) == 0 || err.text[0] != '\0');
	command = gt_manifest_command(&manifest);
	free(command);
	gt_manifest_release(&manifest);
}

/* Every class has its name, and kernels that ran were launched. */
static void check_ledger(const struct gt_trace *trace)
{
	char sentence[GT_LEDGER_BYTES];
	uint64_t kernels = 0;

	gt_array_each(const struct gt_ledger, row, &trace->ledgers)
		must(gt_ledger_class_find(gt_trace_text(trace, row->name)) != NULL);
	(void)gt_ledger_sentence(trace, sentence, sizeof(sentence));
	if (gt_trace_ledger(trace, "kernels", &kernels) == 0 && kernels > 0)
		must(!strstr(sentence, " 0 launches ="));
}

/* Verdict of finish, which looks at its files alone; beside an arena it completes them first. */
static void check_condition(const char *folder, const struct gt_trace *trace, int collected)
{
	struct gt_recording_condition recording;
	char text[GT_RECORDING_CONDITION_BYTES];
	struct gt_salvage left;
	struct gt_error err = {0};

	if (gt_salvage_look(folder, &left, NULL) < 0 || left.arenas + left.running + left.failed)
		return;
	must(gt_recording_condition_read(&recording, folder, &err) == collected);
	if (collected < 0)
		return;
	(void)gt_recording_condition_text(&recording, text, sizeof(text));
	must(strcmp(text, gt_trace_text(trace, trace->condition)) == 0);
}

size_t read_everything(const char *folder)
{
	size_t written = 0;
	struct gt_trace trace;
	struct gt_error err = {0};
	int collected;

	read_manifest(folder);
	gt_trace_init(&trace);
	collected = gt_collect(folder, &trace, &err);
	check_condition(folder, &trace, collected);
	if (collected == 0) {
		const struct gt_view view = gt_view_of(&trace);

		check_ledger(&trace);
		make_reports(&view);
		make_pending(&trace);
		make_timeline(&view);
		written = make_exports(&view);
	} else {
		must(err.text[0] != '\0');
	}
	gt_trace_release(&trace);
	return written;
}

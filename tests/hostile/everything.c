/* SPDX-License-Identifier: Apache-2.0 */
#include "hostile/everything.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/report.h"
#include "analysis/result.h"
#include "base/error.h"
#include "cli/manifest.h"
#include "collector/collector.h"
#include "exporters/exporter.h"
#include "model/trace.h"
#include "model/view.h"

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

static void make_reports(const struct gt_view *view)
{
	for (size_t i = 0; i < gt_report_count; i++) {
		struct gt_result result;
		struct gt_error err = {0};

		gt_result_init(&result);
		must(gt_report_run(gt_reports[i], view, NULL, &result, &err) == 0 ||
		     err.text[0] != '\0');
		gt_result_release(&result);
	}
}

static void make_exports(const struct gt_view *view)
{
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
	}
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

void read_everything(const char *folder)
{
	struct gt_trace trace;
	struct gt_error err = {0};

	read_manifest(folder);
	gt_trace_init(&trace);
	if (gt_collect(folder, &trace, &err) == 0) {
		const struct gt_view view = gt_view_of(&trace);

		make_reports(&view);
		make_exports(&view);
	} else {
		must(err.text[0] != '\0');
	}
	gt_trace_release(&trace);
}

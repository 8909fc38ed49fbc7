/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_VIEW_TRACE_FILE_H
#define GT_CLI_VIEW_TRACE_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "exporters/exporter.h"

struct gt_error;
struct gt_output;
struct gt_progress;
struct gt_view;

/* A view as a file of an exporter's format. */
struct gt_trace_file {
	const struct gt_exporter *exporter;
	struct gt_export_options how;
	const char *name; /* what a sentence calls it */
	const char *path; /* of the file; NULL: it has none */
	FILE *file;
};

/*
 * Writes it; the caller says what became of the file. The progress has begun ("writing
 * app.perfetto") and is not ended. Fails with one sentence that names the file.
 */
int gt_trace_file_write(const struct gt_trace_file *file, const struct gt_view *view,
                        struct gt_progress *progress, struct gt_export_counts *counts,
                        struct gt_error *err);

/*
 * Says on standard error how the file, which has this path, is looked at: by view, where that was
 * built, and without. at_length: with the address that unfolds it in the UI, which is long.
 */
void gt_trace_file_say(const char *path, const struct gt_exporter *exporter, bool at_length);

#endif

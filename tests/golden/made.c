/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/parameter.h"
#include "analysis/report.h"
#include "analysis/result.h"
#include "base/error.h"
#include "cli/recording/ledger.h"
#include "cli/render/render.h"
#include "collector/collector.h"
#include "exporters/exporter.h"
#include "golden/choices.h"
#include "golden/digest.h"
#include "golden/digests.h"
#include "model/trace.h"
#include "model/view/filter.h"
#include "model/view/view.h"

enum { PAGE_WIDTH = 100, PAGE_ROWS = 10 };

/* All filters share a line, apart from that of no filter. */
__attribute__((format(printf, 2, 3))) static struct digest *cell(struct digests *digests,
                                                                 const char *format, ...)
{
	char name[NAME_BYTES];
	struct digest *digest;
	va_list list;
	size_t length;

	va_start(list, format);
	length = (size_t)vsnprintf(name, sizeof(name), format, list);
	va_end(list);
	must(length < sizeof(name), name);
	if (*digests->filter)
		snprintf(name + length, sizeof(name) - length, ", filtered");
	digest = grid_cell(&digests->made, name, digests->input);
	digest->shown = digests->show ? stdout : NULL;
	if (digests->show)
		printf("\n%s %s\n", name, digests->filter);
	return digest;
}

static void digest_result(struct digests *digests, const char *name, const struct gt_result *result)
{
	gt_array_each(const struct gt_section, section, &result->sections)
		digest_add_section(cell(digests, "report %s: %s", name, section->title), section);
	digest_add_remarks(cell(digests, "report %s: remarks", name), result);
	digest_add_charts(cell(digests, "report %s: charts", name), result);
}

/* The first page that people see of a whole recording. With filters and settings it is the same
 * code. */
static void digest_page(struct digests *digests, const char *name, const struct gt_result *result)
{
	const struct gt_named_result named = {name, result};
	const struct gt_rendering rendering = {
		.limit = PAGE_ROWS, .width = PAGE_WIDTH, .details = true};
	struct gt_error err = {0};
	char *text = NULL;
	size_t size = 0;
	FILE *page;

	page = open_memstream(&text, &size);
	must(page && gt_render(&rendering, &named, 1, page, &err) == 0 && fclose(page) == 0, name);
	digest_add_text(cell(digests, "report %s as text", name), text);
	free(text);
}

static void digest_report(struct digests *digests, const struct gt_view *view,
                          const struct gt_report *report, const char *name,
                          const struct gt_arguments *arguments)
{
	struct gt_result result;
	struct gt_error err = {0};

	gt_result_init(&result);
	if (gt_report_run(report, view, arguments, &result, &err) == 0) {
		digest_result(digests, name, &result);
		if (!*digests->filter && !arguments)
			digest_page(digests, name, &result);
	} else {
		digest_add_text(cell(digests, "report %s: error", name), err.text);
	}
	gt_result_release(&result);
}

static void digest_setting(struct digests *digests, const struct gt_view *view,
                           const struct gt_report *report, const struct gt_parameter *parameter,
                           const char *value)
{
	struct gt_arguments arguments;
	struct gt_error err = {0};
	char setting[NAME_BYTES], name[NAME_BYTES];

	write_name(setting, sizeof(setting), "%s=%s", parameter->name, value);
	write_name(name, sizeof(name), "%s %s", report->name, setting);
	gt_arguments_init(&arguments, report->parameters);
	if (parameter->kind != GT_PARAMETER_ROWS)
		gt_arguments_limit(&arguments, report->parameters, GT_ROWS_ALL);
	must(gt_arguments_set(&arguments, report->parameters, setting, &err) == 0, setting);
	digest_report(digests, view, report, name, &arguments);
}

/* With each word that a parameter can be, and all rows. */
static void digest_choices(struct digests *digests, const struct gt_view *view,
                           const struct gt_report *report, const struct gt_parameter *parameter)
{
	for (const char *const *word = parameter->choices; word && *word; word++)
		if (strcmp(*word, parameter->initial) != 0)
			digest_setting(digests, view, report, parameter, *word);
}

/* Other values of what is no word. */
static void digest_numbers(struct digests *digests, const struct gt_view *view,
                           const struct gt_report *report, const struct gt_parameter *parameter)
{
	static const char *const values[][2] = {
		[GT_PARAMETER_COUNT] = {"1", "70"},         [GT_PARAMETER_ROWS] = {"1", "2"},
		[GT_PARAMETER_DURATION] = {"1ns", "150us"}, [GT_PARAMETER_TEXT] = {"gemm", "^axpy"},
		[GT_PARAMETER_CHOICE] = {NULL, NULL},
	};

	for (size_t i = 0; i < 2 && values[parameter->kind][i]; i++)
		digest_setting(digests, view, report, parameter, values[parameter->kind][i]);
}

static void digest_reports(struct digests *digests, const struct gt_view *view)
{
	for (size_t i = 0; i < gt_report_count; i++) {
		const struct gt_parameter *parameter = gt_reports[i]->parameters;

		digest_report(digests, view, gt_reports[i], gt_reports[i]->name, NULL);
		for (; !*digests->filter && parameter && parameter->name; parameter++) {
			digest_choices(digests, view, gt_reports[i], parameter);
			if (digests->thorough)
				digest_numbers(digests, view, gt_reports[i], parameter);
		}
	}
}

static void digest_tables(struct digests *digests, const struct gt_trace *trace)
{
	char sentence[GT_LEDGER_BYTES];

	for (size_t i = 0; i < GT_TABLE_COUNT; i++) {
		const struct gt_table table = gt_trace_table(trace, i);

		digest_add_table(cell(digests, "table %s", table.name), trace, &table);
	}
	digest_add_series(cell(digests, "table of samples"), trace);
	(void)gt_ledger_sentence(trace, sentence, sizeof(sentence));
	digest_add_text(cell(digests, "ledger"), sentence);
	digest_add_text(cell(digests, "condition"), gt_trace_text(trace, trace->condition));
}

static int keep(void *context, const void *data, size_t size)
{
	return fwrite(data, 1, size, context) == size ? 0 : -EIO;
}

static void digest_counts(struct digests *digests, const char *name,
                          const struct gt_export_counts *counts)
{
	char text[256];

	snprintf(text, sizeof(text), "%llu %llu %llu %llu %llu %llu %llu %llu %llu\n",
	         (unsigned long long)counts->gpu_slices, (unsigned long long)counts->api_slices,
	         (unsigned long long)counts->range_slices, (unsigned long long)counts->memory_marks,
	         (unsigned long long)counts->memory_values,
	         (unsigned long long)counts->device_slices, (unsigned long long)counts->arrows,
	         (unsigned long long)counts->host_arrows, (unsigned long long)counts->skipped);
	digest_add_text(cell(digests, "export %s: counts", name), text);
}

static void digest_export(struct digests *digests, const struct gt_view *view,
                          const struct gt_exporter *exporter, bool without_calls)
{
	const struct gt_export_options options = {.compression = GT_COMPRESSION_NONE,
	                                          .without_calls = without_calls};
	char name[NAME_BYTES];
	struct gt_export_counts counts = {0};
	struct gt_error err = {0};
	char *bytes = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&bytes, &size);
	const struct gt_target target = {.sink = {keep, file}};
	int written;

	write_name(name, sizeof(name), "%s%s", exporter->name,
	           without_calls ? " without calls" : "");
	must(file != NULL, name);
	written = exporter->write(view, &options, &target, &counts, &err);
	must(fclose(file) == 0, name);
	if (written == 0) {
		digest_add_file(cell(digests, "export %s", name), bytes, size);
		digest_counts(digests, name, &counts);
	} else {
		digest_add_text(cell(digests, "export %s: error", name), err.text);
	}
	free(bytes);
}

static void digest_view(struct digests *digests, struct gt_trace *trace, const struct gt_view *view)
{
	digest_tables(digests, trace);
	digest_reports(digests, view);
	for (size_t i = 0; i < gt_exporter_count; i++) {
		trace->names = gt_exporters[i]->names;
		if (gt_exporters[i]->needs_path)
			continue;
		digest_export(digests, view, gt_exporters[i], false);
		if (digests->thorough && !*digests->filter)
			digest_export(digests, view, gt_exporters[i], true);
	}
}

static void digest_choice(struct digests *digests, const char *folder, size_t choice)
{
	struct gt_trace trace;
	struct gt_view view;
	struct gt_filter filter;
	struct gt_error err = {0};

	gt_trace_init(&trace);
	gt_filter_init(&filter);
	digests->filter = choice ? "filtered" : "";
	if (gt_collect(folder, &trace, &err) < 0) {
		digest_add_text(cell(digests, "collecting: error"), err.text);
	} else if (choose(choice, &filter, &trace)) {
		digests->filter = filter.text ? filter.text : "";
		if (gt_view_cut(&view, &trace, &filter, &err) == 0)
			digest_view(digests, &trace, &view);
		else
			digest_add_text(cell(digests, "filter: error"), err.text);
	}
	digests->filter = "";
	gt_filter_release(&filter);
	gt_trace_release(&trace);
}

void digest_recording(struct digests *digests, const char *folder, size_t choices)
{
	if (digests->relates)
		relations_check(&digests->relations, folder);
	for (size_t i = 0; i < choices && !digests->relates; i++)
		digest_choice(digests, folder, i);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/array.h"
#include "base/strings.h"
#include "exporters/exporter.h"
#include "exporters/prometheus/prometheus.h"
#include "model/ledger.h"
#include "model/view/view.h"

/* ---- runs ---- */

static void begin_run(const struct gt_prometheus *prometheus, const struct gt_told_run *run)
{
	struct gt_exposition *out = prometheus->exposition;
	char number[16];

	snprintf(number, sizeof(number), "%u", run->number);
	gt_exposition_series(out);
	gt_exposition_label(out, "recording", prometheus->told->recording);
	gt_exposition_label(out, "run", number);
	gt_exposition_label(out, "Hostname", run->host);
	gt_exposition_label(out, "hpc_job", gt_prometheus_job(prometheus, run));
}

static void write_versions(const struct gt_prometheus *prometheus)
{
	const struct gt_told *told = prometheus->told;

	gt_exposition_metric(prometheus->exposition, GT_METRIC_info);
	for (size_t i = 0; i < told->run_count; i++) {
		if (!*told->runs[i].version)
			continue;
		begin_run(prometheus, &told->runs[i]);
		gt_exposition_label(prometheus->exposition, "version", told->runs[i].version);
		gt_exposition_count(prometheus->exposition, 1);
	}
}

static void write_endings(const struct gt_prometheus *prometheus)
{
	struct gt_exposition *out = prometheus->exposition;
	const struct gt_told *told = prometheus->told;

	gt_exposition_metric(out, GT_METRIC_program_running);
	for (size_t i = 0; i < told->run_count; i++)
		if (told->runs[i].running || told->runs[i].ended) {
			begin_run(prometheus, &told->runs[i]);
			gt_exposition_count(out, told->runs[i].running);
		}
	gt_exposition_metric(out, GT_METRIC_program_exit_status);
	for (size_t i = 0; i < told->run_count; i++)
		if (told->runs[i].ended) {
			begin_run(prometheus, &told->runs[i]);
			gt_exposition_count(out, (uint64_t)told->runs[i].exit_status);
		}
	gt_exposition_metric(out, GT_METRIC_elapsed_seconds_total);
	for (size_t i = 0; i < told->run_count; i++)
		if (told->runs[i].elapsed_ns >= 0) {
			begin_run(prometheus, &told->runs[i]);
			gt_exposition_seconds(out, (uint64_t)told->runs[i].elapsed_ns);
		}
}

static void write_processes(const struct gt_prometheus *prometheus)
{
	const struct gt_told *told = prometheus->told;

	if (!told->counts_processes)
		return;
	gt_exposition_metric(prometheus->exposition, GT_METRIC_processes_recorded);
	gt_prometheus_series(prometheus);
	gt_exposition_count(prometheus->exposition, told->recorded);
	gt_exposition_metric(prometheus->exposition, GT_METRIC_processes_paused);
	gt_prometheus_series(prometheus);
	gt_exposition_count(prometheus->exposition, told->paused);
}

/* ---- the ledger ---- */

/* Values of all classes, by their place in gt_ledger_classes. */
struct classes {
	uint64_t *values;
	bool *known;
};

static void take(const struct classes *classes, const char *name, uint64_t value)
{
	const struct gt_ledger_class *class = gt_ledger_class_find(name);
	const size_t place = class ? (size_t)(class - gt_ledger_classes) : gt_ledger_class_count;

	if (!class)
		return;
	classes->known[place] = true;
	if (value > classes->values[place])
		classes->values[place] = value;
}

static void take_ledger(const struct classes *classes, const struct gt_trace *trace)
{
	const size_t count = gt_strings_count(trace->strings);
	uint64_t *sums = gt_ledger_sums(trace);

	gt_array_each(const struct gt_ledger, row, &trace->ledgers)
		if (row->name < count)
			take(classes, gt_trace_text(trace, row->name), sums[row->name]);
	gt_array_free(sums);
}

static void write_classes(const struct gt_prometheus *prometheus, const struct classes *classes,
                          bool losses)
{
	for (size_t i = 0; i < gt_ledger_class_count; i++) {
		const struct gt_ledger_class *class = &gt_ledger_classes[i];

		if (!classes->known[i] || class->trait == GT_CLASS_time ||
		    gt_ledger_class_is_loss(class) != losses)
			continue;
		gt_prometheus_series(prometheus);
		gt_exposition_label(prometheus->exposition, "class", class->name);
		gt_exposition_count(prometheus->exposition, classes->values[i]);
	}
}

static void write_ledger(const struct gt_prometheus *prometheus)
{
	const struct gt_told *told = prometheus->told;
	const struct classes classes = {
		.values = gt_allocate_zeroed(gt_ledger_class_count, sizeof(*classes.values)),
		.known = gt_allocate_zeroed(gt_ledger_class_count, sizeof(*classes.known)),
	};

	for (size_t i = 0; i < told->class_count; i++)
		take(&classes, told->classes[i].name, told->classes[i].value);
	if (prometheus->view)
		take_ledger(&classes, prometheus->view->trace);
	gt_exposition_metric(prometheus->exposition, GT_METRIC_recorded_total);
	write_classes(prometheus, &classes, false);
	gt_exposition_metric(prometheus->exposition, GT_METRIC_lost_total);
	write_classes(prometheus, &classes, true);
	gt_array_free(classes.values);
	gt_array_free(classes.known);
}

void gt_prometheus_write_told(const struct gt_prometheus *prometheus)
{
	write_versions(prometheus);
	write_endings(prometheus);
	write_processes(prometheus);
	write_ledger(prometheus);
}

int gt_prometheus_write_running(const struct gt_told *told, struct gt_sink sink,
                                struct gt_error *err)
{
	struct gt_exposition out = {.written = {.sink = sink}};
	const struct gt_prometheus prometheus = {
		.exposition = &out,
		.told = told,
		.host = told->run_count ? told->runs[0].host : "",
	};

	gt_prometheus_write_told(&prometheus);
	return gt_written_check(&out.written, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/prometheus/prometheus.h"

#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "exporters/exporter.h"
#include "model/view/view.h"
#include "model/whole.h"

/* The machine of all processes; "" where they ran on several. */
static const char *host_of(const struct gt_trace *trace)
{
	const char *host = "";

	for (size_t i = 0; i < trace->processes.count; i++) {
		const char *other = gt_trace_text(trace, trace->processes.rows[i].host);

		if (i > 0 && strcmp(host, other) != 0)
			return "";
		host = other;
	}
	return host;
}

/*
 * Series of two GPUs need labels that differ. Those of a file of another profiler may have neither
 * UUID nor address.
 */
static bool is_alone(const struct gt_trace *trace, gt_id id)
{
	const struct gt_device *device = &trace->devices.rows[id];

	if (device->uuid)
		return true;
	for (gt_id i = 0; i < id; i++) {
		const struct gt_device *other = &trace->devices.rows[i];

		if (!other->uuid && other->pci == device->pci && other->host == device->host &&
		    other->index == device->index && other->ordinal == device->ordinal)
			return false;
	}
	return true;
}

static void choose_gpus(struct gt_prometheus *prometheus)
{
	const struct gt_trace *trace = prometheus->view->trace;

	prometheus->shown = gt_allocate_zeroed(trace->devices.count + 1, sizeof(bool));
	for (gt_id i = 0; i < trace->devices.count; i++) {
		prometheus->shown[i] = gt_whole_has_rows(trace, i) && is_alone(trace, i);
		prometheus->skipped += !is_alone(trace, i);
	}
}

static int write_view(const struct gt_view *view, const struct gt_export_options *options,
                      const struct gt_target *target, struct gt_export_counts *counts,
                      struct gt_error *err)
{
	static const struct gt_told nothing = {.recording = ""};
	struct gt_exposition out = {.written = {.sink = target->sink}};
	struct gt_prometheus prometheus = {
		.exposition = &out,
		.told = options->told ? options->told : &nothing,
		.view = view,
		.host = host_of(view->trace),
	};

	gt_facts_init(&prometheus.facts, view);
	gt_job_id_of_all(view->trace, prometheus.job);
	choose_gpus(&prometheus);
	gt_prometheus_write_told(&prometheus);
	gt_prometheus_write_window(&prometheus);
	gt_prometheus_write_gpus(&prometheus);
	gt_prometheus_write_recording(&prometheus);
	gt_facts_release(&prometheus.facts);
	gt_array_free(prometheus.shown);
	if (counts)
		*counts = (struct gt_export_counts){
			.bytes = out.written.bytes,
			.raw_bytes = out.written.bytes,
			.series = out.series,
			.skipped = prometheus.skipped,
		};
	return gt_written_check(&out.written, err);
}

const struct gt_exporter gt_exporter_prometheus = {
	.name = "prometheus",
	.extension = ".prom",
	.summary = "Figures as metrics, for the textfile collector of node_exporter",
	.is_metrics = true,
	.compressions = 1u << GT_COMPRESSION_NONE,
	.names = GT_NAMES_SHORT,
	.write = write_view,
};

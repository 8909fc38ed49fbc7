/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/energy/boards.h"
#include "analysis/traffic/routes.h"
#include "base/array.h"
#include "exporters/exporter.h"
#include "exporters/prometheus/prometheus.h"
#include "model/names.h"
#include "model/view/view.h"
#include "model/whole.h"

/* ---- labels ---- */

/* NVML's form, which dcgm-exporter has: 00000000:3B:00.0 of 0000:3b:00.0. */
static void bus_id(const char *address, char *text, size_t size)
{
	char *rest = NULL;
	const unsigned long domain = strtoul(address, &rest, 16);

	*text = '\0';
	if (rest == address || *rest != ':' || domain > UINT32_MAX)
		return;
	snprintf(text, size, "%08lX%s", domain, rest);
	for (char *at = text; *at; at++)
		*at = (char)toupper((unsigned char)*at);
}

/* The rank of the processes that have contexts on a GPU; not known where they have several. */
static struct gt_job_rank rank_on(const struct gt_trace *trace, gt_id device)
{
	struct gt_job_rank found = {-1, -1};

	gt_array_each(const struct gt_context, context, &trace->contexts) {
		struct gt_job_rank rank;

		if (context->device != device || context->process >= trace->processes.count)
			continue;
		rank = gt_job_rank_of(trace, &trace->processes.rows[context->process]);
		if (rank.rank < 0 || (found.rank >= 0 && found.rank != rank.rank))
			return (struct gt_job_rank){-1, -1};
		found = rank;
	}
	return found;
}

static void label_gpu(const struct gt_prometheus *prometheus, gt_id id)
{
	const struct gt_trace *trace = prometheus->view->trace;
	const struct gt_device *device = &trace->devices.rows[id];
	struct gt_exposition *out = prometheus->exposition;
	char number[24];
	char bus[64];

	/* dcgm-exporter's number is the machine's, never that of a process. */
	snprintf(number, sizeof(number), "%lld", (long long)gt_device_number(device));
	bus_id(gt_trace_text(trace, device->pci), bus, sizeof(bus));
	gt_exposition_label(out, device->index >= 0 ? "gpu" : "ordinal", number);
	gt_exposition_label(out, "UUID", gt_trace_text(trace, device->uuid));
	gt_exposition_label(out, "pci_bus_id", bus);
	gt_exposition_label(out, "modelName", gt_trace_text(trace, device->name));
	gt_exposition_label(out, "Hostname", gt_trace_text(trace, device->host));
	gt_exposition_label(out, "hpc_job", prometheus->job);
	gt_prometheus_rank(prometheus, rank_on(trace, id));
}

void gt_prometheus_gpu_series(const struct gt_prometheus *prometheus, gt_id device)
{
	if (device >= prometheus->view->trace->devices.count) {
		gt_prometheus_series(prometheus);
		return;
	}
	gt_exposition_series(prometheus->exposition);
	gt_exposition_label(prometheus->exposition, "recording", prometheus->told->recording);
	label_gpu(prometheus, device);
}

bool gt_prometheus_shows(const struct gt_prometheus *prometheus, gt_id device)
{
	return device >= prometheus->view->trace->devices.count || prometheus->shown[device];
}

/* ---- time ---- */

static void write_busy(const struct gt_prometheus *prometheus)
{
	const struct gt_trace *trace = prometheus->view->trace;

	gt_exposition_metric(prometheus->exposition, GT_METRIC_gpu_busy_seconds_total);
	for (gt_id i = 0; i < trace->devices.count; i++)
		if (prometheus->shown[i]) {
			gt_prometheus_gpu_series(prometheus, i);
			gt_exposition_seconds(prometheus->exposition,
			                      prometheus->facts.busy[i].kernels.covered_ns);
		}
}

static void add_idle(const struct gt_prometheus *prometheus, gt_id device, const char *cause,
                     uint64_t idle_ns)
{
	gt_prometheus_gpu_series(prometheus, device);
	gt_exposition_label(prometheus->exposition, "cause", cause);
	gt_exposition_seconds(prometheus->exposition, idle_ns);
}

/*
 * Idle is the window without busy time: what of the window lies before the first and behind the
 * last work, what of the rest no kernel but a copy or fill ran in, and the gaps.
 */
static void write_idle(const struct gt_prometheus *prometheus)
{
	const struct gt_facts *facts = &prometheus->facts;
	const struct gt_trace *trace = prometheus->view->trace;
	const uint64_t window_ns = gt_view_lasts_ns(prometheus->view);

	gt_exposition_metric(prometheus->exposition, GT_METRIC_gpu_idle_seconds_total);
	for (gt_id i = 0; i < trace->devices.count; i++) {
		const struct gt_idle *idle = &facts->idle[i];
		char text[256];

		if (!prometheus->shown[i])
			continue;
		add_idle(prometheus, i, "not in use", window_ns - gt_idle_span_ns(idle));
		add_idle(prometheus, i, "copies and fills alone",
		         idle->active.covered_ns - facts->busy[i].kernels.covered_ns);
		gt_array_each(const struct gt_gap_total, total, &facts->gaps.all) {
			if (total->device != i)
				continue;
			gt_gap_total_text(total, gt_whole_of(trace), text, sizeof(text));
			add_idle(prometheus, i, text, total->total_ns);
		}
	}
}

/* ---- energy and memory ---- */

static void write_energy(const struct gt_prometheus *prometheus)
{
	const struct gt_view *view = prometheus->view;
	struct gt_board_figures *figures;
	struct gt_boards boards;

	gt_boards_init(&boards, view);
	figures = gt_boards_figures(&boards, view);
	gt_exposition_metric(prometheus->exposition, GT_METRIC_gpu_energy_joules_total);
	for (gt_id i = 0; i < boards.whole->devices.count; i++) {
		const gt_id device = gt_whole_device(view->trace, i);
		const double joules = gt_energy_joules(&figures[i].energy);

		if (device == GT_NONE || !prometheus->shown[device] || isnan(joules))
			continue;
		gt_prometheus_gpu_series(prometheus, device);
		gt_exposition_real(prometheus->exposition, joules);
	}
	gt_array_free(figures);
	gt_boards_release(&boards);
}

/* A GPU without a peak had no allocation that was seen: by which calls it has memory is not known. */
static void write_memory(const struct gt_prometheus *prometheus)
{
	const struct gt_memory_totals *allocated = &prometheus->facts.allocated;

	gt_exposition_metric(prometheus->exposition, GT_METRIC_gpu_allocated_peak_bytes);
	for (gt_id i = 0; i < allocated->device_count; i++)
		if (prometheus->shown[i] && allocated->of_device[i].peak > 0) {
			gt_prometheus_gpu_series(prometheus, i);
			gt_exposition_count(prometheus->exposition, allocated->of_device[i].peak);
		}
}

/* ---- copies and fills ---- */

/* A name of a number, so that two numbers have two. */
static void label_kind(struct gt_exposition *out, const char *label, const char *name,
                       uint32_t number)
{
	char text[64];

	if (strcmp(name, "unknown") == 0)
		snprintf(text, sizeof(text), "unknown %u", number);
	else
		snprintf(text, sizeof(text), "%s", name);
	gt_exposition_label(out, label, text);
}

static void label_other_gpu(const struct gt_prometheus *prometheus, const char *label, gt_id id)
{
	const struct gt_trace *trace = prometheus->view->trace;
	char number[24];

	if (id >= trace->devices.count)
		return;
	snprintf(number, sizeof(number), "%u", id);
	if (*gt_trace_text(trace, trace->devices.rows[id].uuid))
		gt_exposition_label(prometheus->exposition, label,
		                    gt_trace_text(trace, trace->devices.rows[id].uuid));
	else
		gt_exposition_label(prometheus->exposition, label, number);
}

static void begin_copies(const struct gt_prometheus *prometheus, const struct gt_route *route)
{
	struct gt_exposition *out = prometheus->exposition;

	gt_prometheus_gpu_series(prometheus, route->device);
	label_kind(out, "kind", gt_copy_kind_name(route->kind), route->kind);
	label_kind(out, "source", gt_memory_kind_name(route->src_kind), route->src_kind);
	label_kind(out, "destination", gt_memory_kind_name(route->dst_kind), route->dst_kind);
	label_other_gpu(prometheus, "from_UUID", route->src_device);
	label_other_gpu(prometheus, "to_UUID", route->dst_device);
}

static void begin_fills(const struct gt_prometheus *prometheus, const struct gt_route *route)
{
	gt_prometheus_gpu_series(prometheus, route->device);
	label_kind(prometheus->exposition, "memory", gt_memory_kind_name(route->kind), route->kind);
}

/* Three metrics of the same sums: how many, their bytes, their time. */
static void write_routes(const struct gt_prometheus *prometheus, const struct gt_routes *routes,
                         enum gt_metric_id first,
                         void (*begin)(const struct gt_prometheus *, const struct gt_route *))
{
	struct gt_exposition *out = prometheus->exposition;

	for (unsigned i = 0; i < 3; i++) {
		gt_exposition_metric(out, first + i);
		gt_array_each(const struct gt_route_total, total, &routes->all) {
			if (!gt_prometheus_shows(prometheus, total->route.device))
				continue;
			begin(prometheus, &total->route);
			if (i == 2)
				gt_exposition_seconds(out, total->total_ns);
			else
				gt_exposition_count(out, i == 0 ? total->calls : total->bytes);
		}
	}
}

static void write_transfers(const struct gt_prometheus *prometheus)
{
	struct gt_routes copies;
	struct gt_routes fills;

	gt_routes_init(&copies);
	gt_routes_init(&fills);
	gt_routes_count_copies(&copies, prometheus->view->trace);
	gt_routes_count_fills(&fills, prometheus->view->trace);
	write_routes(prometheus, &copies, GT_METRIC_copies_total, begin_copies);
	write_routes(prometheus, &fills, GT_METRIC_fills_total, begin_fills);
	gt_routes_release(&copies);
	gt_routes_release(&fills);
}

void gt_prometheus_write_gpus(const struct gt_prometheus *prometheus)
{
	const bool has_work = gt_trace_has_work(prometheus->view->trace);

	if (has_work) {
		write_busy(prometheus);
		write_idle(prometheus);
	}
	write_energy(prometheus);
	write_memory(prometheus);
	write_transfers(prometheus);
}

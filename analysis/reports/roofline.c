/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "analysis/chart.h"
#include "analysis/figures.h"
#include "analysis/parameter.h"
#include "analysis/report.h"
#include "analysis/result.h"
#include "analysis/traffic/kernel_places.h"
#include "analysis/traffic/roofs.h"
#include "analysis/traffic/standings.h"
#include "analysis/traffic/traffic.h"
#include "base/array.h"
#include "model/trace.h"
#include "model/view/view.h"

static const struct gt_heading kernel_headings[] = {
	{"kernel", GT_UNIT_TEXT, "Name, or what --by says", GT_WORTH_NAME},
	{"device", GT_UNIT_TEXT, "GPU", GT_WORTH_LEAST},
	{"calls", GT_UNIT_COUNT, "Executions that ended, profiled ones too", GT_WORTH_LITTLE},
	{"total_ns", GT_UNIT_NS, "How long they ran; profiled ones as their counters say",
         GT_WORTH_KEY},
	{"flops", GT_UNIT_REAL, "Floating-point operations of one execution, a mean",
         GT_WORTH_LEAST},
	{"bytes", GT_UNIT_BYTES,
         "Bytes of device memory, read and written by one execution, a mean", GT_WORTH_LEAST},
	{"intensity", GT_UNIT_REAL, "flops / bytes", GT_WORTH_KEY},
	{"achieved_flop_per_second", GT_UNIT_FLOP_PER_SECOND, "Operations a second, while it ran",
         GT_WORTH_KEY},
	{"achieved_bytes_per_second", GT_UNIT_BYTES_PER_SECOND,
         "Bytes of device memory a second, while it ran", GT_WORTH_ORDINARY},
	{"roof", GT_UNIT_TEXT, "Ceiling that it comes nearest to: the one that binds",
         GT_WORTH_KEY},
	{"roof_percent", GT_UNIT_PERCENT, "How near: of what the ceiling allows", GT_WORTH_KEY},
	{"at_roof_ns", GT_UNIT_NS, "How long the executions would take at that ceiling",
         GT_WORTH_LITTLE},
	{"roof_source", GT_UNIT_TEXT, "Where the ceiling is from", GT_WORTH_LEAST},
	{"source", GT_UNIT_TEXT, "Where flops and bytes come from, or what is missing",
         GT_WORTH_PROSE},
};

static const struct gt_heading roof_headings[] = {
	{"device", GT_UNIT_TEXT, "GPU", GT_WORTH_LITTLE},
	{"ceiling", GT_UNIT_TEXT, "Name of the ceiling", GT_WORTH_NAME},
	{"theoretical_bytes_per_second", GT_UNIT_BYTES_PER_SECOND, "Memory: as the data sheet says",
         GT_WORTH_KEY},
	{"measured_bytes_per_second", GT_UNIT_BYTES_PER_SECOND, "Memory: as it was measured",
         GT_WORTH_KEY},
	{"theoretical_flop_per_second", GT_UNIT_FLOP_PER_SECOND,
         "Operations: as the data sheet says", GT_WORTH_KEY},
	{"measured_flop_per_second", GT_UNIT_FLOP_PER_SECOND, "Operations: as it was measured",
         GT_WORTH_KEY},
	{"ridge", GT_UNIT_REAL,
         "Operations: flops / bytes from which on it binds, and not dram_copy", GT_WORTH_KEY},
	{"source", GT_UNIT_TEXT, "Where the measured one is from, or what would measure it",
         GT_WORTH_ORDINARY},
};

static const char *const by_words[] = {"name", "base", "shape", "family", "origin", NULL};

static const struct gt_parameter parameters[] = {
	{"by", GT_PARAMETER_CHOICE, "name", "Property by which executions are counted together",
         by_words},
	{"rows", GT_PARAMETER_ROWS, "20", "Kernels that are listed, those with most time first"},
	{0},
};

enum { BY, ROWS }; /* arguments, as above */

static void add_roof(struct gt_result *result, const struct gt_standing *standing)
{
	const bool known = !standing->missing && standing->roof_share > 0;
	const double time_ns = standing->traffic->time_ns * standing->roof_share;

	if (!known) {
		gt_result_add_unknowns(result, 4);
		return;
	}
	gt_result_add_text(result, gt_ceiling_names[standing->roof.name]);
	gt_result_add_real(result, 100 * standing->roof_share);
	gt_add_rounded(result, standing->traffic->timed > 0 ? time_ns : NAN);
	gt_roof_add_source(result, &standing->roof);
}

static void add_source(struct gt_result *result, const struct gt_standing *standing)
{
	const char *flops = gt_traffic_source_name(standing->work.source);
	const char *bytes = gt_traffic_source_name(standing->bytes.source);

	if (standing->missing)
		gt_result_add_text(result, standing->missing);
	else if (standing->work.source == standing->bytes.source)
		gt_result_add_text(result, flops);
	else
		gt_result_add_format(result, "flops: %s; bytes: %s", flops, bytes);
}

static void add_kernel(struct gt_result *result, const struct gt_standings *standings,
                       const struct gt_standing *standing)
{
	const struct gt_traffic *traffic = standing->traffic;
	const double bytes = standing->bytes.bytes;

	gt_result_add_format(result, "%s", gt_standing_label(standings, standing));
	gt_add_device(result, standings->facts.trace,
	              (gt_id)gt_kernel_place(&standings->places, standing->place)->device);
	gt_result_add_count(result, (int64_t)traffic->calls);
	gt_add_rounded(result, traffic->timed > 0 ? traffic->time_ns : NAN);
	gt_result_add_real(result, standing->flops);
	gt_add_bytes(result, bytes);
	gt_result_add_real(result, gt_standing_intensity(standing));
	gt_result_add_real(result, standing->flops_per_second);
	gt_result_add_real(result, standing->bytes.bytes_per_second);
	add_roof(result, standing);
	add_source(result, standing);
}

static void add_kernels(struct gt_result *result, const struct gt_standings *standings,
                        uint64_t most)
{
	size_t shown = 0;

	gt_result_begin(result, "kernels", kernel_headings, GT_COUNT_OF(kernel_headings));
	gt_result_order(result, "total_ns");
	gt_result_top(result, standings->list.count, most);
	gt_array_each(const struct gt_standing, standing, &standings->list)
		if (shown++ < most)
			add_kernel(result, standings, standing);
}

static void add_ceiling(struct gt_result *result, const struct gt_trace *trace, gt_id device,
                        const struct gt_roof *roof, const struct gt_roof *memory)
{
	const bool of_flops = memory != NULL;

	gt_add_device(result, trace, device);
	gt_result_add_text(result, gt_ceiling_names[roof->name]);
	gt_result_add_real(result, of_flops ? NAN : roof->theoretical);
	gt_result_add_real(result, of_flops ? NAN : roof->measured);
	gt_result_add_real(result, of_flops ? roof->theoretical : NAN);
	gt_result_add_real(result, of_flops ? roof->measured : NAN);
	gt_result_add_real(result, of_flops ? gt_roof_height(roof) / gt_roof_height(memory) : NAN);
	gt_roof_add_source(result, roof);
}

static void add_ceilings_of(struct gt_result *result, const struct gt_trace *trace, gt_id device)
{
	const struct gt_roof memory = gt_roof_of_memory(trace, device, NAN, NAN);

	if (memory.name != GT_CEILINGS)
		add_ceiling(result, trace, device, &memory, NULL);
	for (unsigned kind = 0; kind < GT_FLOPS_UNSAID; kind++) {
		const struct gt_roof roof = gt_roof_of_flops(trace, device, (enum gt_flops)kind);

		if (roof.name != GT_CEILINGS)
			add_ceiling(result, trace, device, &roof, &memory);
	}
}

/* ---- the picture ---- */

/* Whether the kernel has a place in the picture of a GPU. */
static bool is_point(const struct gt_standings *standings, const struct gt_standing *standing,
                     gt_id device)
{
	return gt_kernel_place(&standings->places, standing->place)->device == device &&
	       gt_standing_intensity(standing) > 0 && isfinite(gt_standing_intensity(standing)) &&
	       standing->flops_per_second > 0 && isfinite(standing->flops_per_second);
}

/* The kinds of operations that have a roof in the picture: bits, all where no kernel is in it. */
static unsigned kinds_of(const struct gt_standings *standings, gt_id device)
{
	unsigned kinds = 0;

	gt_array_each(const struct gt_standing, standing, &standings->list)
		for (unsigned kind = 0; kind < GT_FLOPS_UNSAID; kind++)
			if (is_point(standings, standing, device) &&
			    standing->work.flops_per_second[kind] > 0)
				kinds |= 1U << kind;
	return kinds ? kinds : ~0U;
}

static void widen(double *from, double *to, double value)
{
	*from = value < *from ? value : *from;
	*to = value > *to ? value : *to;
}

/* With room for a point on either side. */
static void surround(double *from, double *to, double value)
{
	widen(from, to, value / 1.5);
	widen(from, to, value * 1.5);
}

static void add_points(struct gt_result *result, struct gt_chart *chart,
                       const struct gt_standings *standings, gt_id device, uint64_t most)
{
	gt_array_each(const struct gt_standing, standing, &standings->list) {
		const char *label;
		const char *figures;

		if (!is_point(standings, standing, device) || chart->points.count >= most)
			continue;
		label = gt_result_keep(result, "%s", gt_standing_label(standings, standing));
		figures =
			gt_result_keep(result, "%s, %.3g FLOP/byte%s%s",
		                       gt_figure_flops(standing->flops_per_second).text,
		                       gt_standing_intensity(standing),
		                       standing->roof_share > 0 ? ", of the roof " : "",
		                       standing->roof_share > 0
		                               ? gt_figure_percent(100 * standing->roof_share).text
		                               : "");
		*gt_array_push(&chart->points) = (struct gt_chart_point){
			.label = label,
			.figures = figures,
			.x = gt_standing_intensity(standing),
			.y = standing->flops_per_second,
			.weight = standing->traffic->time_ns / standings->total_ns,
		};
		surround(&chart->from_x, &chart->to_x, gt_standing_intensity(standing));
		surround(&chart->from_y, &chart->to_y, standing->flops_per_second);
	}
}

/* One ceiling of memory from the left edge up to the highest one of operations. */
static void add_slope(struct gt_result *result, struct gt_chart *chart, const char *what,
                      double rate, double top, bool dashed)
{
	if (!(rate > 0))
		return;
	*gt_array_push(&chart->lines) = (struct gt_chart_line){
		.label = gt_result_keep(result, "%s, %s", what, gt_figure_rate(rate).text),
		.from_x = chart->from_x,
		.from_y = rate * chart->from_x,
		.to_x = top / rate,
		.to_y = top,
		.dashed = dashed,
	};
}

/* One of operations from where it meets the memory's to the right edge. */
static void add_level(struct gt_result *result, struct gt_chart *chart, const char *what,
                      double rate, double memory, bool dashed)
{
	if (!(rate > 0) || !(memory > 0))
		return;
	*gt_array_push(&chart->lines) = (struct gt_chart_line){
		.label = gt_result_keep(result, "%s, %s", what, gt_figure_flops(rate).text),
		.from_x = rate / memory,
		.from_y = rate,
		.to_x = chart->to_x,
		.to_y = rate,
		.dashed = dashed,
	};
}

/* Edges are powers of ten. */
static void round_bounds(struct gt_chart *chart)
{
	chart->from_x = pow(10, floor(log10(chart->from_x)));
	chart->to_x = pow(10, ceil(log10(chart->to_x)));
	chart->from_y = pow(10, floor(log10(chart->from_y)));
	chart->to_y = pow(10, ceil(log10(chart->to_y)));
}

/*
 * The picture has room for more than its points: memory's ceiling at its left edge, those of
 * operations, and where both meet. Returns the highest of operations.
 */
static double find_bounds(struct gt_chart *chart, const struct gt_trace *trace, gt_id device,
                          const struct gt_roof *memory, unsigned kinds)
{
	double top = 0;

	for (unsigned kind = 0; kind < GT_FLOPS_UNSAID; kind++) {
		const struct gt_roof roof = gt_roof_of_flops(trace, device, (enum gt_flops)kind);
		const double height = fmax(roof.measured, roof.theoretical);

		if (!(kinds & 1U << kind) || !(height > 0))
			continue;
		top = fmax(top, height);
		widen(&chart->from_y, &chart->to_y, gt_roof_height(&roof));
		widen(&chart->from_y, &chart->to_y, height);
		widen(&chart->from_x, &chart->to_x, 4 * height / gt_roof_height(memory));
	}
	round_bounds(chart);
	widen(&chart->from_y, &chart->to_y, gt_roof_height(memory) * chart->from_x);
	round_bounds(chart);
	return top;
}

static void add_lines(struct gt_result *result, struct gt_chart *chart,
                      const struct gt_trace *trace, gt_id device, unsigned kinds)
{
	const struct gt_roof memory = gt_roof_of_memory(trace, device, NAN, NAN);
	const double top = find_bounds(chart, trace, device, &memory, kinds);

	if (memory.name == GT_CEILINGS || !(top > 0))
		return;
	add_slope(result, chart, "device memory, measured", memory.measured, top, false);
	add_slope(result, chart, "device memory, data sheet", memory.theoretical, top, true);
	for (unsigned kind = 0; kind < GT_FLOPS_UNSAID; kind++) {
		const struct gt_roof roof = gt_roof_of_flops(trace, device, (enum gt_flops)kind);
		const char *name = gt_flops_name((enum gt_flops)kind);

		if (!(kinds & 1U << kind))
			continue;
		add_level(result, chart, gt_result_keep(result, "%s, measured", name),
		          roof.measured, gt_roof_height(&memory), false);
		add_level(result, chart, gt_result_keep(result, "%s, data sheet", name),
		          roof.theoretical, gt_roof_height(&memory), true);
	}
}

static void add_chart(struct gt_result *result, const struct gt_standings *standings, gt_id device,
                      uint64_t most)
{
	const struct gt_trace *trace = standings->facts.trace;
	struct gt_chart *chart = gt_result_add_chart(result);

	chart->title = gt_result_keep(result, "Roofline of GPU %lld: %s",
	                              (long long)gt_device_number(&trace->devices.rows[device]),
	                              gt_trace_text(trace, trace->devices.rows[device].name));
	chart->x_label = "FLOP / byte of device memory";
	chart->y_label = "FLOP/s";
	chart->from_x = 0.1;
	chart->to_x = 100;
	chart->from_y = 1e12;
	chart->to_y = 1e13;
	add_points(result, chart, standings, device, most);
	add_lines(result, chart, trace, device, kinds_of(standings, device));
}

/* ---- the report ---- */

static void add_remarks(struct gt_result *result, const struct gt_standings *standings)
{
	const struct gt_trace *trace = standings->facts.trace;

	if (trace->kernels.count == 0) {
		gt_remark_no_kernels(result, trace);
		return;
	}
	if (trace->ceilings.count == 0)
		gt_result_remark_on(result, "roof roof_percent",
		                    "No ceiling of a GPU is known: gputrace calibrate measures "
		                    "them.");
	gt_result_remark(result, "A picture of it: gputrace report roofline -o roofline.svg");
}

static int run(const struct gt_view *view, const struct gt_arguments *arguments,
               struct gt_result *result, struct gt_error *err)
{
	const uint64_t most = arguments->values[ROWS].number;
	struct gt_standings standings;

	(void)err;
	gt_standings_init(&standings, view, gt_group_by(arguments->values[BY].text), result);
	add_kernels(result, &standings, most);
	if (gt_result_detail_if_unknown(result, "roof_percent"))
		gt_result_remark(
			result,
			"No kernel can be put under a ceiling, the longest one because %s; "
			"--all shows all, with the reason of each.",
			standings.list.rows[0].missing);
	gt_result_begin(result, "roofs", roof_headings, GT_COUNT_OF(roof_headings));
	for (gt_id i = 0; i < view->trace->devices.count; i++) {
		add_ceilings_of(result, view->trace, i);
		if (i < most)
			add_chart(result, &standings, i, most);
	}
	add_remarks(result, &standings);
	gt_standings_release(&standings);
	return 0;
}

const struct gt_report gt_report_roofline = {
	.name = "roofline",
	.summary = "The ceiling of each kernel, and how near it comes",
	.parameters = parameters,
	.run = run,
};

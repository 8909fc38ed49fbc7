/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/device_events/drawn.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/chart.h"
#include "analysis/device_events/phases.h"
#include "analysis/device_events/picture.h"
#include "analysis/figures.h"
#include "analysis/result.h"
#include "base/array.h"
#include "base/units.h"
#include "model/naming/shape_names.h"

/* Size of the chart, which folds only what no page has room for. */
enum { CHART_COLUMNS = 400, CHART_ROWS = 200 };

static const struct gt_heading launch_headings[] = {
	{"kernel", GT_UNIT_TEXT, "Function name", GT_WORTH_NAME},
	{"launch", GT_UNIT_COUNT, "Its number among the launches that told events, from 1",
         GT_WORTH_KEY},
	{"start_time_ns", GT_UNIT_TIME, "When the kernel began, since the recording began",
         GT_WORTH_KEY},
	{"duration_ns", GT_UNIT_NS, "How long it ran, by CUPTI", GT_WORTH_KEY},
	{"multiprocessors", GT_UNIT_COUNT, "That told anything", GT_WORTH_KEY, .label = "SMs"},
	{"blocks", GT_UNIT_COUNT, "That told anything", GT_WORTH_KEY},
	{"writers", GT_UNIT_COUNT, "Threads that told anything", GT_WORTH_ORDINARY},
	{"events", GT_UNIT_COUNT, "Ranges, marks and values", GT_WORTH_ORDINARY},
	{"late_ns", GT_UNIT_NS, "From the first event of the first block to that of the last one",
         GT_WORTH_KEY},
	{"tail_ns", GT_UNIT_NS,
         "From when half of the multiprocessors were done to the last event of all", GT_WORTH_KEY},
	{"idle_percent", GT_UNIT_PERCENT,
         "Time between each multiprocessor's last event and the last one of all, of their time",
         GT_WORTH_KEY},
	{"column_ns", GT_UNIT_NS, "That a column of the timeline stands for", GT_WORTH_ORDINARY},
	{"folded", GT_UNIT_COUNT, "Multiprocessors in one row of the timeline, at most",
         GT_WORTH_ORDINARY},
};

static const struct gt_heading strip_headings[] = {
	{"multiprocessors", GT_UNIT_TEXT, "Number, or the first and the last of several",
         GT_WORTH_KEY, .label = "SM"},
	{"blocks", GT_UNIT_COUNT, "That told anything there", GT_WORTH_DATA},
	{"first_ns", GT_UNIT_NS, "First event there, after the beginning of the timeline",
         GT_WORTH_DATA},
	{"last_ns", GT_UNIT_NS, "Last event there, likewise", GT_WORTH_KEY, .label = "until"},
	{"timeline", GT_UNIT_TEXT,
         "A letter for each column of time: the range that most of it went into, a dot for none",
         GT_WORTH_KEY},
};

static const struct gt_heading legend_headings[] = {
	{"letter", GT_UNIT_TEXT, "In the timeline", GT_WORTH_KEY},
	{"own_ns", GT_UNIT_NS, "Time in the range and in none inside it, of all writers",
         GT_WORTH_KEY},
	{"share_percent", GT_UNIT_PERCENT, "own_ns of duration_ns of all writers", GT_WORTH_KEY},
	{"name", GT_UNIT_TEXT, "Name of the range", GT_WORTH_NAME},
};

struct drawn {
	struct gt_result *result;
	const struct gt_device_phases *phases;
	const struct gt_device_launch *launch;
	const struct gt_device_launch_facts *facts;
	size_t number;
	int64_t kernel_ns; /* -1: not known */
};

static const char *name_of(const struct drawn *drawn, const struct gt_device_phase *phase)
{
	const struct gt_device_phases *phases = drawn->phases;

	return phase->name < phases->names.count
	               ? gt_trace_text(phases->trace, phases->names.rows[phase->name].name)
	               : "others";
}

static const char *kernel_name(const struct drawn *drawn)
{
	const struct gt_trace *trace = drawn->phases->trace;
	const gt_id kernel = drawn->launch->kernel;

	return kernel < trace->kernels.count
	               ? gt_shape_name(trace, trace->kernels.rows[kernel].shape)
	               : "a kernel that cannot be told";
}

static double part_of_kernel(const struct drawn *drawn, double ns)
{
	return drawn->kernel_ns > 0 ? 100 * ns / (double)drawn->kernel_ns : NAN;
}

static double idle_percent(const struct drawn *drawn)
{
	return part_of_kernel(drawn, (double)drawn->facts->idle_ns / (double)drawn->facts->sms);
}

/* ---- tables ---- */

static void add_launch(const struct drawn *drawn, const struct gt_device_picture *picture)
{
	struct gt_result *result = drawn->result;
	const struct gt_device_launch_facts *facts = drawn->facts;

	gt_result_add_format(result, "%s", kernel_name(drawn));
	gt_result_add_count(result, (int64_t)drawn->number + 1);
	gt_add_moment(result, drawn->phases->trace, picture->start_ns);
	gt_result_add_count_if(result, drawn->kernel_ns >= 0, drawn->kernel_ns);
	gt_result_add_count(result, (int64_t)facts->sms);
	gt_result_add_count(result, (int64_t)facts->blocks);
	gt_result_add_count(result, (int64_t)facts->writers);
	gt_result_add_count(result, (int64_t)facts->events);
	gt_result_add_count(result, facts->late_ns);
	gt_result_add_count(result, facts->end_ns - facts->half_ns);
	gt_result_add_real(result, idle_percent(drawn));
	gt_add_rounded(result,
	               (double)(picture->end_ns - picture->start_ns) / (double)picture->columns);
	gt_result_add_count(result, (int64_t)picture->folded);
}

static const char *label_of(struct gt_result *result, const struct gt_device_strip *strip)
{
	return strip->first_sm == strip->last_sm
	               ? gt_result_keep(result, "%u", strip->first_sm)
	               : gt_result_keep(result, "%u-%u", strip->first_sm, strip->last_sm);
}

static void add_strip(const struct drawn *drawn, const struct gt_device_picture *picture,
                      size_t number)
{
	struct gt_result *result = drawn->result;
	const struct gt_device_strip *strip = &picture->strips.rows[number];
	const uint8_t *cells = picture->cells + number * picture->columns;
	char text[GT_DEVICE_COLUMNS_MOST + 1];

	for (size_t c = 0; c < picture->columns; c++)
		text[c] = (char)(cells[c] > 0 ? picture->phases.rows[cells[c] - 1].letter : '.');
	text[picture->columns] = '\0';
	gt_result_add_text(result, label_of(result, strip));
	gt_result_add_count(result, (int64_t)strip->blocks);
	gt_result_add_count(result, strip->start_ns - picture->start_ns);
	gt_result_add_count(result, strip->end_ns - picture->start_ns);
	gt_result_add_format(result, "%s", text);
}

static void add_phase(const struct drawn *drawn, const struct gt_device_phase *phase)
{
	struct gt_result *result = drawn->result;

	gt_result_add_format(result, "%c", phase->letter);
	gt_result_add_count(result, (int64_t)phase->own_ns);
	gt_result_add_real(result, part_of_kernel(drawn, (double)phase->own_ns /
	                                                         (double)drawn->facts->writers));
	gt_result_add_text(result, name_of(drawn, phase));
}

/* ---- chart ---- */

/* Cells of one kind that follow one another are one part. */
static void add_parts(struct gt_strips *strips, const struct gt_device_picture *picture, size_t row,
                      double column)
{
	const uint8_t *cells = picture->cells + row * picture->columns;
	size_t first = 0;

	for (size_t c = 1; c <= picture->columns; c++) {
		if (c < picture->columns && cells[c] == cells[first])
			continue;
		if (cells[first] > 0)
			*gt_array_push(&strips->parts) = (struct gt_strip_part){
				.row = row,
				.kind = (size_t)(cells[first] - 1),
				.from_x = (double)first * column,
				.to_x = (double)c * column,
			};
		first = c;
	}
}

static void add_chart(const struct drawn *drawn)
{
	struct gt_result *result = drawn->result;
	struct gt_device_picture picture;
	struct gt_strips *strips = gt_result_add_strips(result);
	double column;

	gt_device_picture_init(&picture, drawn->phases, drawn->number, CHART_COLUMNS, CHART_ROWS);
	column = (double)(picture.end_ns - picture.start_ns) / (double)picture.columns / 1e3;
	strips->title = gt_result_keep(result, "%s, launch %zu: its ranges by multiprocessor",
	                               kernel_name(drawn), drawn->number + 1);
	strips->x_label = "microseconds since it began";
	strips->to_x = (double)(picture.end_ns - picture.start_ns) / 1e3;
	if (drawn->kernel_ns >= 0) {
		strips->whole = gt_result_keep(result, "%s, %s", kernel_name(drawn),
		                               gt_figure_ns(drawn->kernel_ns).text);
		strips->whole_to_x = fmin((double)drawn->kernel_ns / 1e3, strips->to_x);
	}
	gt_array_each(const struct gt_device_phase, phase, &picture.phases) {
		const char *figures = gt_result_keep(
			result, "%s",
			gt_figure_percent(
				part_of_kernel(drawn, (double)phase->own_ns /
		                                              (double)drawn->facts->writers))
				.text);

		*gt_array_push(&strips->kinds) =
			(struct gt_strip_kind){name_of(drawn, phase), figures};
	}
	for (size_t i = 0; i < picture.strips.count; i++) {
		*gt_array_push(&strips->rows) =
			gt_result_keep(result, "SM %s", label_of(result, &picture.strips.rows[i]));
		add_parts(strips, &picture, i, column);
	}
	gt_device_picture_release(&picture);
}

/* ---- sentences ---- */

static void say_what(const struct drawn *drawn, const struct gt_device_picture *picture)
{
	const double column_ns =
		(double)(picture->end_ns - picture->start_ns) / (double)picture->columns;
	const struct gt_device_launch_facts *facts = drawn->facts;
	char folded[64] = "";

	if (picture->folded > 1)
		snprintf(folded, sizeof(folded), ", a row %zu multiprocessors", picture->folded);
	gt_result_remark(drawn->result,
	                 "Drawn: launch %zu of %zu, of %s, %s; %s blocks on %s multiprocessors "
	                 "told events. A column is %s%s. --set launch=N draws another.",
	                 drawn->number + 1, drawn->phases->writers.launches.count,
	                 kernel_name(drawn),
	                 drawn->kernel_ns >= 0 ? gt_figure_ns(drawn->kernel_ns).text
	                                       : "how long is not known",
	                 gt_grouped(facts->blocks).text, gt_grouped(facts->sms).text,
	                 gt_figure_ns((int64_t)(column_ns + 0.5)).text, folded);
}

static void say_late(const struct drawn *drawn)
{
	const struct gt_device_launch_facts *facts = drawn->facts;
	char blocks[64];

	if (facts->blocks < 2)
		return;
	if (facts->least_blocks == facts->most_blocks)
		snprintf(blocks, sizeof(blocks), "%zu", facts->most_blocks);
	else
		snprintf(blocks, sizeof(blocks), "%zu to %zu", facts->least_blocks,
		         facts->most_blocks);
	gt_result_remark(drawn->result,
	                 "Block %u, on SM %u, is the last to begin: its first event comes %s after "
	                 "that of the first block. Blocks of a multiprocessor: %s.",
	                 facts->late_block, facts->late_sm, gt_figure_ns(facts->late_ns).text,
	                 blocks);
}

static void say_tail(const struct drawn *drawn)
{
	const struct gt_device_launch_facts *facts = drawn->facts;
	const gt_time tail_ns = facts->end_ns - facts->half_ns;
	char share[GT_FIGURE_SIZE + 32] = "";
	char cost[GT_FIGURE_SIZE + 64] = "";

	if (facts->sms < 2)
		return;
	if (drawn->kernel_ns > 0) {
		snprintf(share, sizeof(share), " (%s of the kernel)",
		         gt_figure_percent(part_of_kernel(drawn, (double)tail_ns)).text);
		snprintf(cost, sizeof(cost), ", %s of what they have in the kernel",
		         gt_figure_percent(idle_percent(drawn)).text);
	}
	gt_result_remark(drawn->result,
	                 "SM %u is the last: it ends %s%s after half of the multiprocessors have. "
	                 "Cost of the tail: until then the others are done for %s in all%s.",
	                 facts->last_sm, gt_figure_ns(tail_ns).text, share,
	                 gt_figure_ns((int64_t)facts->idle_ns).text, cost);
}

static void say_silent(const struct drawn *drawn)
{
	const struct gt_trace *trace = drawn->phases->trace;
	const gt_id row = drawn->phases->writers.rows.rows[drawn->launch->first].device;
	const struct gt_device *device =
		row < trace->devices.count ? &trace->devices.rows[row] : NULL;

	if (device && device->sm_count > drawn->facts->sms)
		gt_result_remark(drawn->result,
		                 "%zu of the GPU's %u multiprocessors told nothing of this launch.",
		                 device->sm_count - drawn->facts->sms, device->sm_count);
}

/* ---- */

void gt_add_device_launch(struct gt_result *result, const struct gt_device_phases *phases,
                          size_t launch, const struct gt_device_drawn *as)
{
	const bool is_there = launch < phases->writers.launches.count;
	struct gt_device_picture picture = {.columns = 0};
	struct drawn drawn = {.result = result, .phases = phases, .number = launch};

	if (is_there) {
		drawn.launch = &phases->writers.launches.rows[launch];
		drawn.facts = &phases->facts[launch];
		drawn.kernel_ns = gt_device_kernel_ns(phases->trace, drawn.launch);
		gt_device_picture_init(&picture, phases, launch, as->columns, as->rows);
	}
	gt_result_begin(result, "launch", launch_headings, GT_COUNT_OF(launch_headings));
	gt_result_single(result);
	gt_result_detail(result);
	if (is_there)
		add_launch(&drawn, &picture);
	gt_result_begin(result, "timeline", strip_headings, GT_COUNT_OF(strip_headings));
	gt_result_whole(result);
	for (size_t i = 0; i < picture.strips.count; i++)
		add_strip(&drawn, &picture, i);
	gt_result_begin(result, "legend", legend_headings, GT_COUNT_OF(legend_headings));
	gt_result_whole(result);
	gt_array_each(const struct gt_device_phase, phase, &picture.phases)
		add_phase(&drawn, phase);
	if (is_there) {
		say_what(&drawn, &picture);
		say_late(&drawn);
		say_tail(&drawn);
		say_silent(&drawn);
		add_chart(&drawn);
	}
	gt_device_picture_release(&picture);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/path.h"
#include "exporters/perfetto/lines.h"
#include "exporters/perfetto/tracks.h"
#include "exporters/perfetto/writer.h"
#include "model/gpu/sampled.h"
#include "model/gpu/throttle.h"

/*
 * Samples of the GPUs: gauges and totals as lines, masks as slices, one for each time that a bit
 * was set. Hardware counters are lines too, sums as rates; the time of samples that were lost is a
 * slice, as a line cannot be interrupted. Several processes may have sampled the same GPU: what
 * they saw is one line.
 */

enum { NAME_SIZE = 96, REASONS = 64 };

/* A counter's name ends with its unit: what that is to Perfetto, and how many of those are one. */
static const struct unit {
	const char *ending;
	enum gt_measure unit;
	enum gt_measure per;
	double scale;
} units[] = {
	{"_mw", GT_MEASURE_WATT, GT_MEASURE_NONE, 1e-3},
	{"_mj", GT_MEASURE_JOULE, GT_MEASURE_NONE, 1e-3},
	{"_mhz", GT_MEASURE_MEGAHERTZ, GT_MEASURE_NONE, 1},
	{"_c", GT_MEASURE_CELSIUS, GT_MEASURE_NONE, 1},
	{"_percent", GT_MEASURE_PERCENT, GT_MEASURE_NONE, 1},
	{"_bytes_per_second", GT_MEASURE_GIGABYTE, GT_MEASURE_SECOND, 1e-9},
	{"_bytes", GT_MEASURE_GIGABYTE, GT_MEASURE_NONE, 1e-9},
	{"", GT_MEASURE_NONE, GT_MEASURE_NONE, 1},
};

/* Why the clocks of one GPU were low. */
struct throttle {
	struct gt_lanes lanes;
	uint64_t reasons; /* that hold now */
	gt_time since_ns[REASONS];
	char name[NAME_SIZE]; /* "": nothing was sampled */
};

/* The times of one GPU for which samples of its hardware counters were lost. */
struct gaps {
	struct gt_lanes lanes;
	char name[NAME_SIZE]; /* "": there was none */
};

/* Where the values of a counter go. */
struct target {
	const struct gt_counter *counter;
	double scale;  /* of a sum: of its rate in a second */
	uint32_t line; /* GT_NONE for a mask */
};

/* A series while it is walked: its counters, and how far it is. */
struct walk {
	gt_array(struct target) targets;
	const struct gt_counter *span; /* length of the samples; NULL: they have none */
	size_t next;
};

struct telemetry {
	struct gt_perfetto *perfetto;
	struct gt_lines lines;
	struct walk *walks;         /* by number of the series */
	struct throttle *throttles; /* by row of devices */
	struct gaps *gaps;          /* likewise */
};

static const struct unit *unit_of(const char *name)
{
	const struct unit *unit = units;

	while (*unit->ending && !gt_has_suffix(name, unit->ending))
		unit++;
	return unit;
}

/* "sm_clock_mhz" is "sm clock" to people: Perfetto shows the unit. */
static void name_line(const char *counter, const struct unit *unit, char name[NAME_SIZE])
{
	snprintf(name, NAME_SIZE, "%.*s", (int)(strlen(counter) - strlen(unit->ending)), counter);
	for (char *at = name; *at; at++)
		if (*at == '_')
			*at = ' ';
}

/* Whether it is about a GPU, and its values are there. */
static bool is_shown(const struct gt_trace *trace, const struct gt_counter *counter)
{
	return counter->device < trace->devices.count && counter->series < trace->series.count &&
	       counter->place < trace->series.rows[counter->series].column_count;
}

/* Errors and the like: most never move, and nobody looks for them first. */
static const char *group_of(const char *counter, const struct gt_counter *row)
{
	static const char *const health[] = {"ecc_corrected", "ecc_uncorrected", "pcie_replays"};

	if (gt_is_sampled(row))
		return gt_sampled_group(counter);
	for (size_t i = 0; i < sizeof(health) / sizeof(health[0]); i++)
		if (strcmp(counter, health[i]) == 0)
			return "Health";
	return "Telemetry";
}

/* A line at 0 from end to end tells nothing; the report telemetry has the counter. */
static bool is_always_zero(const struct gt_trace *trace, const struct gt_counter *counter)
{
	const struct gt_series *series = &trace->series.rows[counter->series];
	bool measured = false;

	for (size_t i = 0; i < series->count; i++) {
		const double value = series->columns[counter->place][i];

		if (!isnan(value) && value != 0)
			return false;
		measured |= !isnan(value);
	}
	return measured;
}

static void add_mask(struct telemetry *telemetry, const struct gt_counter *counter)
{
	struct gt_perfetto *perfetto = telemetry->perfetto;
	struct throttle *throttle = &telemetry->throttles[counter->device];

	if (*throttle->name)
		return;
	snprintf(throttle->name, sizeof(throttle->name), "Throttle reasons, GPU #%u",
	         perfetto->ids.gpus[counter->device]);
	gt_lanes_init(&throttle->lanes, perfetto, 0, "throttle", throttle->name);
}

static uint32_t add_line(struct telemetry *telemetry, const struct gt_counter *counter,
                         const struct unit *unit, char name[NAME_SIZE])
{
	const struct gt_trace *trace = telemetry->perfetto->trace;
	const char *counted = gt_trace_text(trace, counter->name);
	const struct gt_line line = {
		.device = counter->device,
		.group = group_of(counted, counter),
		.name = name,
		.help = gt_trace_text(trace, counter->help),
		.unit = unit->unit,
		.per = counter->kind == GT_COUNTER_SUM ? GT_MEASURE_SECOND : unit->per,
	};

	name_line(counted, unit, name);
	return gt_lines_add(&telemetry->lines, &line);
}

/* The names must live until the lines are described. */
static void add_counters(struct telemetry *telemetry, char (*names)[NAME_SIZE])
{
	const struct gt_trace *trace = telemetry->perfetto->trace;

	for (size_t i = 0; i < trace->counters.count; i++) {
		const struct gt_counter *counter = &trace->counters.rows[i];
		const struct unit *unit = unit_of(gt_trace_text(trace, counter->name));
		struct target target = {.counter = counter, .scale = unit->scale, .line = GT_NONE};

		if (counter->pool < trace->pools.count)
			continue; /* of the part memory */
		if (counter->device == GT_NONE && counter->process < trace->processes.count)
			continue; /* of the part counters */
		if (!is_shown(trace, counter)) {
			gt_perfetto_skip(telemetry->perfetto);
			continue;
		}
		if (counter->kind == GT_COUNTER_SPAN) {
			telemetry->walks[counter->series].span = counter;
			continue;
		}
		if (is_always_zero(trace, counter))
			continue;
		if (counter->kind == GT_COUNTER_MASK)
			add_mask(telemetry, counter);
		else
			target.line = add_line(telemetry, counter, unit, names[i]);
		*gt_array_push(&telemetry->walks[counter->series].targets) = target;
	}
}

static void put_reason(struct gt_perfetto *perfetto, struct throttle *throttle, unsigned bit,
                       gt_time end_ns)
{
	const struct gt_slice slice = {
		.start_ns = throttle->since_ns[bit],
		.end_ns = end_ns,
		.name = gt_names_add(&perfetto->names, gt_throttle_name(UINT64_C(1) << bit)),
	};

	gt_lanes_put(&throttle->lanes, &slice);
}

/* From now on these reasons hold. */
static void set_reasons(struct gt_perfetto *perfetto, struct throttle *throttle, uint64_t reasons,
                        gt_time now_ns)
{
	for (unsigned bit = 0; bit < REASONS; bit++) {
		const bool held = throttle->reasons >> bit & 1;
		const bool holds = reasons >> bit & 1;

		if (held && !holds)
			put_reason(perfetto, throttle, bit, now_ns);
		else if (holds && !held)
			throttle->since_ns[bit] = now_ns;
	}
	throttle->reasons = reasons;
}

static void put_value(struct telemetry *telemetry, const struct target *target, gt_time time_ns,
                      double value)
{
	if (isnan(value))
		return;
	if (target->line != GT_NONE)
		gt_lines_put(&telemetry->lines, target->line, time_ns, value * target->scale);
	else if (value >= 0 && value < 0x1p64)
		set_reasons(telemetry->perfetto, &telemetry->throttles[target->counter->device],
		            (uint64_t)value, time_ns);
}

/* Series that have samples left, those with the earliest one at the top: a heap. */
struct queue {
	const struct telemetry *telemetry;
	size_t *series;
	size_t count;
};

static bool is_earlier(const struct queue *queue, size_t left, size_t right)
{
	const struct gt_series *all = queue->telemetry->perfetto->trace->series.rows;
	const gt_time left_ns = all[left].times_ns[queue->telemetry->walks[left].next];
	const gt_time right_ns = all[right].times_ns[queue->telemetry->walks[right].next];

	return left_ns != right_ns ? left_ns < right_ns : left < right;
}

/* Puts a series where it belongs, from a place at or above it. */
static void sink(struct queue *queue, size_t at, size_t series)
{
	for (;;) {
		size_t below = 2 * at + 1;

		if (below + 1 < queue->count &&
		    is_earlier(queue, queue->series[below + 1], queue->series[below]))
			below++;
		if (below >= queue->count || !is_earlier(queue, queue->series[below], series))
			break;
		queue->series[at] = queue->series[below];
		at = below;
	}
	queue->series[at] = series;
}

static void put_gap(struct telemetry *telemetry, gt_id device, gt_time start_ns, gt_time end_ns)
{
	struct gt_perfetto *perfetto = telemetry->perfetto;
	struct gaps *gaps = &telemetry->gaps[device];
	const struct gt_slice slice = {
		.start_ns = start_ns,
		.end_ns = end_ns,
		.name = gt_names_add(&perfetto->names, "samples lost"),
	};

	if (!*gaps->name) {
		snprintf(gaps->name, sizeof(gaps->name), "Counters not sampled, GPU #%u",
		         perfetto->ids.gpus[device]);
		gt_lanes_init(&gaps->lanes, perfetto, 0, "gap", gaps->name);
	}
	gt_lanes_put(&gaps->lanes, &slice);
}

/* A sample of hardware counters, whose sums are shown as rates; one without any is a gap. */
static void put_sampled(struct telemetry *telemetry, const struct gt_series *series,
                        const struct walk *walk, size_t sample)
{
	const double length_ns = series->columns[walk->span->place][sample];
	const gt_time start_ns = series->times_ns[sample];
	bool measured = false;

	if (!(length_ns > 0 && length_ns < 0x1p62) ||
	    !gt_ids_time_is_sound(start_ns + (gt_time)length_ns)) {
		gt_perfetto_skip(telemetry->perfetto);
		return;
	}
	gt_array_each(const struct target, target, &walk->targets) {
		const double value = series->columns[target->counter->place][sample];
		const bool sums = target->counter->kind == GT_COUNTER_SUM;

		measured = measured || !isnan(value);
		put_value(telemetry, target, start_ns, sums ? value * 1e9 / length_ns : value);
	}
	if (!measured)
		put_gap(telemetry, walk->span->device, start_ns, start_ns + (gt_time)length_ns);
}

static void put_sample(struct telemetry *telemetry, size_t number)
{
	const struct gt_series *series = &telemetry->perfetto->trace->series.rows[number];
	struct walk *walk = &telemetry->walks[number];
	const size_t sample = walk->next++;

	if (!gt_ids_time_is_sound(series->times_ns[sample])) {
		gt_perfetto_skip(telemetry->perfetto);
		return;
	}
	if (walk->span) {
		put_sampled(telemetry, series, walk, sample);
		return;
	}
	gt_array_each(const struct target, target, &walk->targets)
		put_value(telemetry, target, series->times_ns[sample],
		          series->columns[target->counter->place][sample]);
}

static void put_samples(struct telemetry *telemetry)
{
	const struct gt_trace *trace = telemetry->perfetto->trace;
	struct queue queue = {telemetry, gt_allocate(trace->series.count * sizeof(*queue.series)),
	                      0};

	for (size_t i = 0; i < trace->series.count; i++)
		if (trace->series.rows[i].count > 0)
			queue.series[queue.count++] = i;
	for (size_t i = queue.count; i-- > 0;)
		sink(&queue, i, queue.series[i]);
	while (queue.count > 0) {
		size_t first = queue.series[0];

		put_sample(telemetry, first);
		if (telemetry->walks[first].next == trace->series.rows[first].count)
			first = queue.series[--queue.count];
		if (queue.count > 0)
			sink(&queue, 0, first);
	}
	gt_array_free(queue.series);
}

static void start(struct telemetry *telemetry, struct gt_perfetto *perfetto)
{
	const struct gt_trace *trace = perfetto->trace;

	*telemetry = (struct telemetry){
		.perfetto = perfetto,
		.walks = gt_allocate(trace->series.count * sizeof(*telemetry->walks)),
		.throttles = gt_allocate(trace->devices.count * sizeof(*telemetry->throttles)),
		.gaps = gt_allocate(trace->devices.count * sizeof(*telemetry->gaps)),
	};
	for (size_t i = 0; i < trace->series.count; i++)
		telemetry->walks[i] = (struct walk){0};
	for (size_t i = 0; i < trace->devices.count; i++) {
		telemetry->throttles[i] = (struct throttle){0};
		telemetry->gaps[i] = (struct gaps){0};
	}
	gt_lines_init(&telemetry->lines, perfetto);
}

static void finish(struct telemetry *telemetry)
{
	const struct gt_trace *trace = telemetry->perfetto->trace;

	gt_lines_finish(&telemetry->lines, trace->end_ns);
	for (size_t i = 0; i < trace->devices.count; i++) {
		struct throttle *throttle = &telemetry->throttles[i];

		set_reasons(telemetry->perfetto, throttle, 0, trace->end_ns);
		gt_lanes_finish(&throttle->lanes);
		gt_lanes_finish(&telemetry->gaps[i].lanes);
	}
	for (size_t i = 0; i < trace->series.count; i++)
		gt_array_release(&telemetry->walks[i].targets);
	gt_array_free(telemetry->walks);
	gt_array_free(telemetry->throttles);
	gt_array_free(telemetry->gaps);
}

void gt_perfetto_write_telemetry(struct gt_perfetto *perfetto)
{
	struct telemetry telemetry;
	char(*names)[NAME_SIZE] = gt_allocate(perfetto->trace->counters.count * sizeof(*names));

	start(&telemetry, perfetto);
	add_counters(&telemetry, names);
	gt_lines_describe(&telemetry.lines);
	gt_array_free(names);
	put_samples(&telemetry);
	finish(&telemetry);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "exporters/perfetto/annotations.h"
#include "exporters/perfetto/tracks.h"
#include "exporters/perfetto/values.h"
#include "exporters/perfetto/writer.h"
#include "exporters/timeline/device_lanes.h"
#include "model/index.h"
#include "model/naming/shape_names.h"
#include "model/work/intervals.h"
#include "model/work/time_bins.h"

/*
 * Events that kernels told of themselves: below its process a group for each GPU, with a track for
 * each multiprocessor and lanes inside it where several writers were on it at a time, and a line
 * for each value that one writer of a launch alone told. Viewers show the group closed: no word of
 * its name is one that the start-up commands open. Where there is too much for slices, the group
 * has a line for each range instead, how many writers were in it; its name says so.
 */
enum {
	ANNOTATIONS = 8,
	NAME_BYTES = 256,
	LINES_MOST = 32,    /* ranges that have a line of their own; the others share one */
	VALUES_MOST = 1000, /* names of values whose lines have an order */
	LINE_STEPS = 10000, /* of all lines, over the time of the launches that told events */
};

static const char category[] = "device_event";

struct telling {
	struct gt_perfetto *perfetto;
	struct gt_device_lanes lanes;
	const struct gt_device_group *group;
	uint64_t uuid; /* of the group's track */
};

/* ---- slices ---- */

/* Annotations that are the same for all events of a writer stand beside its outermost ones. */
static void annotate_writer(struct telling *telling, struct gt_annotations *list, size_t place,
                            const struct gt_device_event *event)
{
	const struct gt_trace *trace = telling->perfetto->trace;
	const struct gt_device_writer *writer = gt_device_laid_writer(&telling->lanes, place);

	if (writer->kernel < trace->kernels.count) {
		gt_annotations_add_text(list, "kernel",
		                        gt_shape_name(trace,
		                                      trace->kernels.rows[writer->kernel].shape));
		gt_annotations_add_size(list, "launch", telling->lanes.laid[place].launch + 1);
	}
	gt_annotations_add_size(list, "block", writer->block);
	gt_annotations_add_size(list, "thread", writer->thread);
	if (event->flags & GT_DEVICE_BY_TIME)
		gt_annotations_add_text(list, "kernel_told_by", "time and launch shape");
}

static void annotate(struct telling *telling, struct gt_annotations *list, size_t place,
                     const struct gt_device_event *event)
{
	if (event->parent == GT_NONE)
		annotate_writer(telling, list, place, event);
	if (event->kind == GT_DEVICE_INT) {
		gt_annotations_add_number(list, "value", (int64_t)event->value);
	} else if (event->kind == GT_DEVICE_REAL) {
		gt_annotations_add_number(list, "value", 0);
		list->rows[list->count - 1].type = GT_VALUE_REAL;
		list->rows[list->count - 1].real = gt_device_real(event);
	}
	if (event->flags & GT_DEVICE_NO_END)
		gt_annotations_add_text(list, "missing", "its end");
	else if (event->flags & GT_DEVICE_NO_BEGIN)
		gt_annotations_add_text(list, "missing", "its begin");
}

static void put_event(struct telling *telling, struct gt_track *track, size_t place, gt_id row)
{
	struct gt_perfetto *perfetto = telling->perfetto;
	const struct gt_device_event *event = &perfetto->trace->device_events.rows[row];
	struct gt_annotation annotations[ANNOTATIONS];
	struct gt_annotations list = {.names = &perfetto->names, .rows = annotations};
	struct gt_slice slice = {
		.start_ns = event->start_ns,
		.end_ns = event->end_ns,
		.name = gt_names_of(&perfetto->names, event->name),
		.nested = event->parent != GT_NONE,
		.instant = !gt_device_is_timed(event),
		.annotations = annotations,
	};

	if (!gt_ids_time_is_sound(event->start_ns) ||
	    (!slice.instant && !gt_ids_time_is_sound(event->end_ns))) {
		gt_perfetto_skip(perfetto);
		return;
	}
	/* An instant event ends nothing that is open. */
	slice.nested |= slice.instant;
	annotate(telling, &list, place, event);
	slice.annotation_count = list.count;
	gt_track_put(track, &slice);
	perfetto->counts.device_slices++;
}

static void put_writer(struct telling *telling, struct gt_track *track, size_t place)
{
	const struct gt_device_writer *writer = gt_device_laid_writer(&telling->lanes, place);
	gt_id *rows = gt_device_rows_of(&telling->lanes, writer);

	for (size_t i = 0; i < writer->count; i++)
		put_event(telling, track, place, rows[i]);
	gt_array_free(rows);
}

/* A lane of one multiprocessor; viewers show tracks of one name as one. */
static void start_lane(struct telling *telling, struct gt_track *track, gt_count sm, uint32_t lane)
{
	char name[32];
	uint64_t uuid;

	snprintf(name, sizeof(name), "SM %u", sm);
	uuid = gt_track_describe_ranked(telling->perfetto, telling->uuid, "multiprocessor",
	                                (uint64_t)sm << 32 | lane, name,
	                                sm < INT32_MAX / 2 ? (int32_t)sm + 1 : INT32_MAX);
	gt_track_start(track, telling->perfetto, uuid, category);
}

/* The writers of one multiprocessor, in order of their begin. */
static void put_sm(struct telling *telling, size_t first, size_t end)
{
	struct gt_track tracks[GT_DEVICE_LANES_MOST];
	const gt_count sm = gt_device_laid_writer(&telling->lanes, first)->sm;
	uint32_t count = 0;

	for (size_t i = first; i < end; i++) {
		const uint32_t lane = telling->lanes.laid[i].lane;

		/* A new lane is always the next one. */
		if (lane == count)
			start_lane(telling, &tracks[count++], sm, lane);
		put_writer(telling, &tracks[lane], i);
	}
	for (uint32_t i = 0; i < count; i++)
		gt_track_finish(&tracks[i]);
}

static void put_slices(struct telling *telling)
{
	const struct gt_device_group *group = telling->group;
	size_t first = group->first;

	for (size_t i = first + 1; i <= group->end; i++)
		if (i == group->end || gt_device_laid_writer(&telling->lanes, i)->sm !=
		                               gt_device_laid_writer(&telling->lanes, first)->sm) {
			put_sm(telling, first, i);
			first = i;
		}
}

/* ---- values ---- */

/* A value of one launch, and who told it first. */
struct told_key {
	gt_string name;
	uint32_t launch;
};

/* A name of values; it has a line where in each launch one writer alone tells it. */
struct value_line {
	gt_string name;
	bool several; /* writers in a launch */
	struct gt_values values;
	bool started;
};

struct value_lines {
	struct telling *telling;
	struct gt_index *told;    /* struct told_key -> number */
	gt_array(size_t) writers; /* by that number: place of the writer */
	struct gt_index *names;   /* gt_string -> row */
	gt_array(struct value_line) rows;
};

static bool is_value(const struct gt_device_event *event)
{
	return event->kind == GT_DEVICE_INT || event->kind == GT_DEVICE_REAL;
}

static struct value_line *value_line_of(struct value_lines *lines, gt_string name)
{
	const size_t number = gt_index_add(lines->names, &name);

	if (number == lines->rows.count)
		*gt_array_push(&lines->rows) = (struct value_line){.name = name};
	return &lines->rows.rows[number];
}

static void see_value(struct value_lines *lines, size_t place, const struct gt_device_event *event)
{
	const struct told_key key = {event->name,
	                             (uint32_t)lines->telling->lanes.laid[place].launch};
	const size_t number = gt_index_add(lines->told, &key);
	struct value_line *line = value_line_of(lines, event->name);

	if (number == lines->writers.count)
		*gt_array_push(&lines->writers) = place;
	line->several |= lines->writers.rows[number] != place;
}

static void see_values(struct value_lines *lines)
{
	const struct gt_device_lanes *lanes = &lines->telling->lanes;
	const struct gt_device_group *group = lines->telling->group;

	for (size_t i = group->first; i < group->end; i++) {
		const struct gt_device_writer *writer = gt_device_laid_writer(lanes, i);

		for (size_t e = 0; e < writer->count; e++) {
			const struct gt_device_event *event =
				&lanes->trace->device_events
					 .rows[lanes->writers.order[writer->first + e]];

			if (is_value(event))
				see_value(lines, i, event);
		}
	}
}

/* The lines stand above the multiprocessors, in the order in which values were told. */
static void put_value(struct value_lines *lines, const struct gt_device_event *event)
{
	struct telling *telling = lines->telling;
	const size_t number = gt_index_add(lines->names, &event->name);
	struct value_line *line = value_line_of(lines, event->name);
	const struct gt_value_track track = {
		.parent_uuid = telling->uuid,
		.kind = "device value",
		.number = number,
		.name = gt_trace_text(telling->perfetto->trace, event->name),
		.unit_text = "",
		.rank = number < VALUES_MOST ? (int32_t)number - VALUES_MOST : -1,
	};

	if (line->several || !gt_ids_time_is_sound(event->start_ns) ||
	    (event->kind == GT_DEVICE_REAL && !isfinite(gt_device_real(event))))
		return;
	if (!line->started)
		gt_values_start(&line->values, telling->perfetto, &track);
	line->started = true;
	gt_values_put(&line->values, event->start_ns,
	              event->kind == GT_DEVICE_INT ? (double)(int64_t)event->value
	                                           : gt_device_real(event));
}

static void put_values(struct telling *telling)
{
	const struct gt_trace *trace = telling->perfetto->trace;
	struct value_lines lines = {.telling = telling,
	                            .told = gt_index_new(sizeof(struct told_key)),
	                            .names = gt_index_new(sizeof(gt_string))};

	see_values(&lines);
	gt_array_each(const struct gt_device_event, event, &trace->device_events)
		if (is_value(event) && event->process == telling->group->process &&
		    event->device == telling->group->device)
			put_value(&lines, event);
	gt_array_release(&lines.rows);
	gt_array_release(&lines.writers);
	gt_index_free(lines.told);
	gt_index_free(lines.names);
}

/* ---- lines ---- */

/* A range that has a line, or all that share one. */
struct line {
	const char *name;
	double *bins; /* writers in it, a mean */
};

/* Stretches of time in which launches told events, with the first of their bins. */
struct stretch {
	struct gt_interval span;
	size_t first;
	size_t bins;
};

struct lines {
	struct telling *telling;
	gt_array(struct stretch) stretches;
	gt_array(struct line) rows;
	struct gt_index *names; /* gt_string -> row, or LINES_MOST and more: the last */
	size_t bins;
};

static void find_stretches(struct lines *lines)
{
	const struct gt_device_lanes *lanes = &lines->telling->lanes;
	const struct gt_device_group *group = lines->telling->group;
	struct gt_interval *spans = gt_allocate((group->end - group->first) * sizeof(*spans));
	size_t count = 0;
	double all_ns = 0;

	for (size_t i = group->first; i < group->end; i++) {
		const struct gt_device_writer *writer = gt_device_laid_writer(lanes, i);

		if (gt_ids_time_is_sound(writer->start_ns) && gt_ids_time_is_sound(writer->end_ns))
			spans[count++] = (struct gt_interval){writer->start_ns, writer->end_ns};
	}
	count = gt_intervals_merge(spans, count);
	for (size_t i = 0; i < count; i++)
		all_ns += (double)(spans[i].end_ns - spans[i].start_ns);
	for (size_t i = 0; i < count; i++) {
		const double share = (double)(spans[i].end_ns - spans[i].start_ns) / all_ns;
		const struct stretch stretch = {spans[i], lines->bins,
		                                1 + (size_t)(share * LINE_STEPS)};

		*gt_array_push(&lines->stretches) = stretch;
		lines->bins += stretch.bins;
	}
	gt_array_free(spans);
}

static struct line *line_of(struct lines *lines, gt_string text)
{
	const size_t number = gt_index_add(lines->names, &text);
	const char *name = gt_trace_text(lines->telling->perfetto->trace, text);

	if (number < lines->rows.count)
		return &lines->rows.rows[number];
	if (lines->rows.count <= LINES_MOST) {
		struct line *line = gt_array_push(&lines->rows);

		*line = (struct line){.name = lines->rows.count <= LINES_MOST ? name
		                                                              : "other ranges",
		                      .bins = gt_allocate(lines->bins * sizeof(*line->bins))};
		for (size_t i = 0; i < lines->bins; i++)
			line->bins[i] = 0;
	}
	return &lines->rows.rows[lines->rows.count - 1];
}

/* The stretch that a moment is in; NULL: in none. */
static const struct stretch *stretch_at(const struct lines *lines, gt_time time_ns)
{
	size_t first = 0;
	size_t end = lines->stretches.count;

	while (first < end) {
		const size_t middle = first + (end - first) / 2;

		if (lines->stretches.rows[middle].span.end_ns <= time_ns)
			first = middle + 1;
		else
			end = middle;
	}
	return first < lines->stretches.count &&
	                       lines->stretches.rows[first].span.start_ns <= time_ns
	               ? &lines->stretches.rows[first]
	               : NULL;
}

static void add_time(struct lines *lines, const struct gt_device_event *event,
                     const struct gt_device_event *of, double sign)
{
	const struct stretch *stretch = stretch_at(lines, event->start_ns);
	const struct line *line = line_of(lines, of->name);
	double bin_ns;

	if (!stretch)
		return;
	bin_ns = (double)(stretch->span.end_ns - stretch->span.start_ns) / (double)stretch->bins;
	gt_time_bins_add(line->bins + stretch->first, stretch->bins,
	                 (double)(event->start_ns - stretch->span.start_ns) / bin_ns,
	                 (double)(event->end_ns - stretch->span.start_ns) / bin_ns, sign);
}

/* In the innermost range alone, so that all lines together are the writers in any. */
static void add_event(struct lines *lines, const struct gt_device_event *event)
{
	const struct gt_trace *trace = lines->telling->perfetto->trace;
	const struct gt_device_event *around = event->parent < trace->device_events.count
	                                               ? &trace->device_events.rows[event->parent]
	                                               : NULL;

	if (!gt_device_is_timed(event) || !gt_ids_time_is_sound(event->end_ns))
		return;
	add_time(lines, event, event, 1);
	if (around && gt_device_is_timed(around))
		add_time(lines, event, around, -1);
}

static void put_line(struct lines *lines, size_t number)
{
	const struct line *line = &lines->rows.rows[number];
	char name[NAME_BYTES];
	const struct gt_value_track track = {
		.parent_uuid = lines->telling->uuid,
		.kind = "device phase",
		.number = number,
		.name = name,
		.unit_text = "writers",
		.share_scale = "device phases",
		.rank = (int32_t)number + 1,
	};
	struct gt_values values;

	snprintf(name, sizeof(name), "writers in %.200s", line->name);
	gt_values_start(&values, lines->telling->perfetto, &track);
	gt_array_each(const struct stretch, stretch, &lines->stretches) {
		const double bin_ns = (double)(stretch->span.end_ns - stretch->span.start_ns) /
		                      (double)stretch->bins;
		double last = NAN;

		for (size_t i = 0; i < stretch->bins; i++) {
			const double value = round(line->bins[stretch->first + i] * 1000) / 1000;

			if (value != last)
				gt_values_put(&values,
				              stretch->span.start_ns +
				                      (gt_time)((double)i * bin_ns),
				              value);
			last = value;
		}
		gt_values_put(&values, stretch->span.end_ns, 0);
	}
}

static void put_lines(struct telling *telling)
{
	struct lines lines = {.telling = telling, .names = gt_index_new(sizeof(gt_string))};
	const struct gt_trace *trace = telling->perfetto->trace;

	find_stretches(&lines);
	gt_array_each(const struct gt_device_event, event, &trace->device_events)
		if (event->process == telling->group->process &&
		    event->device == telling->group->device)
			add_event(&lines, event);
	for (size_t i = 0; i < lines.rows.count; i++)
		put_line(&lines, i);
	gt_array_each(struct line, line, &lines.rows)
		gt_array_free(line->bins);
	gt_array_release(&lines.rows);
	gt_array_release(&lines.stretches);
	gt_index_free(lines.names);
}

/* ---- */

static void describe(struct telling *telling)
{
	struct gt_perfetto *perfetto = telling->perfetto;
	const struct gt_trace *trace = perfetto->trace;
	const struct gt_device_group *group = telling->group;
	const char *model = gt_trace_text(trace, trace->devices.rows[group->device].name);
	char name[NAME_BYTES];

	if (group->too_many)
		snprintf(name, sizeof(name),
		         "SMs of %.100s #%u (%llu device events, too many for slices)", model,
		         perfetto->ids.gpus[group->device], (unsigned long long)group->events);
	else
		snprintf(name, sizeof(name), "SMs of %.100s #%u (device events)", model,
		         perfetto->ids.gpus[group->device]);
	telling->uuid =
		gt_track_describe_group(perfetto, perfetto->ids.process_uuids[group->process],
	                                "multiprocessors", group->device, name);
}

static void put_group(struct telling *telling, const struct gt_device_group *group)
{
	const struct gt_trace *trace = telling->perfetto->trace;

	if (group->process >= trace->processes.count || group->device >= trace->devices.count) {
		telling->perfetto->counts.skipped += group->events;
		return;
	}
	telling->group = group;
	describe(telling);
	put_values(telling);
	if (group->too_many)
		put_lines(telling);
	else
		put_slices(telling);
}

void gt_perfetto_write_device_events(struct gt_perfetto *perfetto)
{
	struct telling telling = {.perfetto = perfetto};

	if (perfetto->trace->device_events.count == 0)
		return;
	gt_device_lanes_init(&telling.lanes, perfetto->trace);
	gt_array_each(const struct gt_device_group, group, &telling.lanes.groups)
		put_group(&telling, group);
	gt_device_lanes_release(&telling.lanes);
}

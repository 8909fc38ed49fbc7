/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/timeline/timeline.h"
#include "base/array.h"
#include "base/strings.h"
#include "base/units.h"
#include "base/utf8.h"
#include "cli/output/columns.h"
#include "cli/output/json.h"
#include "cli/render/html.h"
#include "model/view/view.h"

/* About memory: a damaged recording may say anything. */
#define BYTES_MOST 9e18

/* Bytes of a name; of many names fewer, so that the page stays small. */
enum { NAME_MOST = 240, NAME_OF_MANY = 48, MANY_NAMES = 2500 };

/* Names that are written: those that a piece has, numbered in the order of the pieces. */
struct names {
	const struct gt_timeline *timeline;
	uint32_t *numbers; /* by name of the timeline, its number here and 1; 0: it has none */
	json_t *list;
};

/* most: bytes, with a zero at the end; at most GT_TIMELINE_LABEL. */
static json_t *text_of(const char *text, size_t most)
{
	char cut[GT_TIMELINE_LABEL];
	char *printable = gt_printable(text);
	const bool whole = strlen(printable) < most;
	json_t *json;

	gt_utf8_copy(cut, most, printable);
	json = whole ? gt_json_text(cut) : json_sprintf("%s...", cut);
	free(printable);
	return json;
}

static uint32_t number_of(struct names *names, uint32_t name)
{
	if (names->numbers[name] == 0) {
		const bool many = gt_strings_count(names->timeline->names) > MANY_NAMES;

		(void)json_array_append_new(names->list,
		                            text_of(gt_strings_get(names->timeline->names, name),
		                                    many ? NAME_OF_MANY : NAME_MOST));
		names->numbers[name] = (uint32_t)json_array_size(names->list);
	}
	return names->numbers[name] - 1;
}

static void add(json_t *array, int64_t number)
{
	(void)json_array_append_new(array, json_integer(number));
}

/*
 * One number after the other: start since the start of the piece before, length, name. A piece that
 * stands for several has -1 - length, and their count, the sum of their times and the longest.
 */
static json_t *json_of_lane(const struct gt_timeline_lane *lane, struct names *names)
{
	gt_time before_ns = names->timeline->view->start_ns;
	json_t *numbers = json_array();

	gt_array_each(const struct gt_timeline_piece, piece, &lane->pieces) {
		const gt_time length_ns = piece->end_ns - piece->start_ns;

		add(numbers, piece->start_ns - before_ns);
		add(numbers, piece->count > 1 ? -1 - length_ns : length_ns);
		add(numbers, number_of(names, piece->name));
		if (piece->count > 1) {
			add(numbers, (int64_t)piece->count);
			add(numbers, (int64_t)piece->total_ns);
			add(numbers, piece->longest_ns);
		}
		before_ns = piece->start_ns;
	}
	return numbers;
}

static json_t *json_of_track(const struct gt_timeline_track *track, struct names *names)
{
	static const char *const kinds[] = {"busy", "idle", "stream", "ranges"};
	json_t *object = json_object();
	json_t *lanes = json_array();

	(void)json_object_set_new(object, "kind", json_string(kinds[track->kind]));
	(void)json_object_set_new(object, "label", text_of(track->label, GT_TIMELINE_LABEL));
	(void)json_object_set_new(object, "gpu",
	                          track->device == GT_NONE ? json_null()
	                                                   : json_integer(track->device));
	gt_array_each(const struct gt_timeline_lane, lane, &track->lanes)
		(void)json_array_append_new(lanes, json_of_lane(lane, names));
	(void)json_object_set_new(object, "lanes", lanes);
	return object;
}

/* Times since the point before, and values. */
static json_t *json_of_curve(const struct gt_timeline_curve *curve, gt_time start_ns)
{
	json_t *object = json_object();
	json_t *points = json_array();

	gt_array_each(const struct gt_point, point, &curve->values.points) {
		add(points, point->time_ns - start_ns);
		add(points, llround(fmin(point->value, BYTES_MOST)));
		start_ns = point->time_ns;
	}
	(void)json_object_set_new(object, "label", text_of(curve->label, GT_TIMELINE_LABEL));
	(void)json_object_set_new(object, "gpu", json_integer(curve->device));
	(void)json_object_set_new(object, "peak",
	                          json_integer(llround(fmin(curve->peak, BYTES_MOST))));
	(void)json_object_set_new(object, "points", points);
	return object;
}

static void note(json_t *notes, uint64_t count, const char *what)
{
	if (count > 0)
		(void)json_array_append_new(
			notes, json_sprintf("%s %s", gt_figure_count((int64_t)count).text, what));
}

/* Sentences on all that the picture does not show. */
static json_t *notes_of(const struct gt_timeline *timeline)
{
	json_t *notes = json_array();

	if (timeline->together_ns > 0)
		(void)json_array_append_new(
			notes,
			json_sprintf("There is too much for one page: what lies together within %s "
		                     "is one piece here, with its count. Zoom in the Perfetto trace "
		                     "(gputrace view) for single kernels.",
		                     gt_figure_ns(timeline->together_ns).text));
	note(notes, timeline->gpus_left_out, "more GPUs are not drawn.");
	note(notes, timeline->streams_left_out, "streams with less work are not drawn.");
	note(notes, timeline->threads_left_out, "threads with fewer ranges are not drawn.");
	note(notes, gt_timeline_hidden(timeline),
	     "pieces are not drawn, since more than 8 go on at the same time in their track.");
	(void)json_array_append_new(notes,
	                            json_sprintf("Idle stretches shorter than %s are not drawn.",
	                                         gt_figure_ns(timeline->least_gap_ns).text));
	return notes;
}

/* "<" ends no element in JSON, and begins none, when it is an escape. */
static int write_json(const char *text, size_t size, void *out)
{
	for (size_t i = 0; i < size; i++)
		if (text[i] == '<')
			fputs("\\u003c", out);
		else
			putc(text[i], out);
	return 0;
}

void gt_html_timeline(const struct gt_timeline *timeline, FILE *out)
{
	const struct gt_view *view = timeline->view;
	struct names names = {
		.timeline = timeline,
		.numbers = gt_allocate_zeroed(gt_strings_count(timeline->names) + 1,
	                                      sizeof(*names.numbers)),
		.list = json_array(),
	};
	json_t *root = json_object();
	json_t *tracks = json_array();
	json_t *curves = json_array();

	gt_array_each(const struct gt_timeline_track, track, &timeline->tracks)
		if (track->lanes.count > 0)
			(void)json_array_append_new(tracks, json_of_track(track, &names));
	gt_array_each(const struct gt_timeline_curve, curve, &timeline->curves)
		(void)json_array_append_new(curves, json_of_curve(curve, view->start_ns));
	(void)json_object_set_new(root, "start",
	                          json_integer(view->start_ns - view->trace->start_ns));
	(void)json_object_set_new(root, "length", json_integer(view->end_ns - view->start_ns));
	(void)json_object_set_new(root, "names", names.list);
	(void)json_object_set_new(root, "tracks", tracks);
	(void)json_object_set_new(root, "curves", curves);
	(void)json_object_set_new(root, "notes", notes_of(timeline));
	(void)json_dump_callback(root, write_json, out, JSON_COMPACT | JSON_ENSURE_ASCII);
	json_decref(root);
	gt_array_free(names.numbers);
}

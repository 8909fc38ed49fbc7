/* SPDX-License-Identifier: Apache-2.0 */
#include "model/bundle/reader.h"

#define MOST_THREADS 1024 /* of a block */

static const char *const step_kinds[] = {
#define KIND(name, help) #name,
	GT_BUNDLE_STEP_KINDS(KIND)
#undef KIND
		NULL,
};

static const struct gt_json_field stream_fields[] = {
	GT_JSON_NUMBER(struct gt_bundle_stream, number, U32, 0, UINT32_MAX),
	GT_JSON_NUMBER(struct gt_bundle_stream, priority, I32, INT32_MIN, INT32_MAX),
	GT_JSON_OTHER(struct gt_bundle_stream, nonblocking, FLAG),
};

void gt_bundle_add_stream(struct gt_bundle_reader *reader, const json_t *object)
{
	struct gt_bundle_stream *stream = gt_array_push(&reader->bundle->streams);

	*stream = (struct gt_bundle_stream){0};
	GT_BUNDLE_FIELDS(reader, object, stream_fields, stream);
}

#define STEP(name, kind, low, high) GT_JSON_NUMBER(struct gt_bundle_step, name, kind, low, high)

static const struct gt_json_field step_fields[] = {
	GT_JSON_KIND(struct gt_bundle_step, kind, step_kinds),
	STEP(stream, U32, 0, GT_BUNDLE_MOST_COUNT),
	STEP(correlation, U32, 0, UINT32_MAX),
	STEP(start_ns, I64, INT64_MIN, INT64_MAX),
	STEP(end_ns, I64, INT64_MIN, INT64_MAX),
	STEP(call_ns, I64, INT64_MIN, INT64_MAX),
	STEP(function, U32, 0, GT_BUNDLE_MOST_COUNT),
	STEP(grid, TRIPLE, 1, INT32_MAX),
	STEP(block, TRIPLE, 1, MOST_THREADS),
	STEP(cluster, TRIPLE, 0, GT_BUNDLE_MOST_CLUSTERS),
	STEP(shared_bytes, U32, 0, INT32_MAX),
	GT_JSON_OTHER(struct gt_bundle_step, cooperative, FLAG),
	GT_JSON_OTHER(struct gt_bundle_step, programmatic, FLAG),
	STEP(priority, I32, INT32_MIN, INT32_MAX),
	GT_JSON_OTHER(struct gt_bundle_step, has_priority, FLAG),
	GT_JSON_OTHER(struct gt_bundle_step, to, ADDRESS),
	GT_JSON_OTHER(struct gt_bundle_step, from, ADDRESS),
	STEP(bytes, U64, 1, GT_BUNDLE_MOST_BYTES),
	STEP(rows, U64, 1, GT_BUNDLE_MOST_BYTES),
	STEP(to_pitch, U64, 0, GT_BUNDLE_MOST_BYTES),
	STEP(from_pitch, U64, 0, GT_BUNDLE_MOST_BYTES),
	STEP(slices, U64, 1, GT_BUNDLE_MOST_BYTES),
	STEP(to_slice_pitch, U64, 0, GT_BUNDLE_MOST_BYTES),
	STEP(from_slice_pitch, U64, 0, GT_BUNDLE_MOST_BYTES),
	STEP(value, U32, 0, UINT32_MAX),
	STEP(value_bytes, U32, 1, 4),
	STEP(event, U32, 0, GT_BUNDLE_MOST_COUNT),
	STEP(graph, U32, 0, GT_BUNDLE_MOST_COUNT),
	GT_JSON_OTHER(struct gt_bundle_step, by_host, FLAG),
	GT_JSON_OTHER(struct gt_bundle_step, pinned, FLAG),
	GT_JSON_OTHER(struct gt_bundle_step, range, TEXT),
};

static void check_launch(struct gt_bundle_reader *reader, const struct gt_bundle_step *step)
{
	const uint32_t *const block = step->block;
	const uint32_t *const cluster = step->cluster;

	if (step->function >= reader->bundle->functions.count) {
		gt_bundle_refuse(reader, "its function is not in the bundle");
		return;
	}
	if (reader->parameter_bytes.rows[step->function] > step->parameters.size)
		gt_bundle_refuse(reader, "its parameters are cut");
	if (step->parameters.size > GT_BUNDLE_MOST_PARAMETERS)
		gt_bundle_refuse(reader, "its parameters have more than %d bytes",
		                 GT_BUNDLE_MOST_PARAMETERS);
	if (step->grid[0] == 0 || block[0] == 0)
		gt_bundle_refuse(reader, "it has no grid or no block");
	else if (step->grid[1] > UINT16_MAX || step->grid[2] > UINT16_MAX)
		gt_bundle_refuse(reader, "no GPU runs a grid of its size");
	else if ((uint64_t)block[0] * block[1] * block[2] > MOST_THREADS)
		gt_bundle_refuse(reader, "its blocks have more than %d threads", MOST_THREADS);
	if ((cluster[0] && cluster[1] && cluster[2]) != (cluster[0] || cluster[1] || cluster[2]) ||
	    (uint64_t)cluster[0] * cluster[1] * cluster[2] > GT_BUNDLE_MOST_CLUSTERS)
		gt_bundle_refuse(reader, "no GPU runs clusters of their size");
}

/* One end of a copy or fill. */
struct side {
	const char *what;
	uint64_t address;
	uint64_t pitch;
	uint64_t slice_pitch;
};

/* Takes the rows of the first slice off the bytes that are left; false: they do not fit. */
static bool has_rows(const struct gt_bundle_step *step, const struct side *side, uint64_t *left)
{
	if (step->bytes > *left)
		return false;
	*left -= step->bytes;
	if (step->rows == 1)
		return true;
	if (*left / side->pitch < step->rows - 1)
		return false;
	*left -= (step->rows - 1) * side->pitch;
	return true;
}

/* Slices of rows inside of one memory of the bundle. */
static void check_rows(struct gt_bundle_reader *reader, const struct gt_bundle_step *step,
                       const struct side *side)
{
	const uint32_t number = gt_bundle_find(reader->bundle, side->address);
	const struct gt_bundle_memory *memory;
	uint64_t left;

	if (number == GT_BUNDLE_NONE) {
		gt_bundle_refuse(reader, "%s is in no memory of the bundle", side->what);
		return;
	}
	memory = &reader->bundle->memory.rows[number];
	left = memory->address + memory->size - side->address;
	if (memory->kind == GT_BUNDLE_MEMORY_array)
		gt_bundle_refuse(reader, "%s is in an array", side->what);
	else if (step->bytes == 0)
		gt_bundle_refuse(reader, "%s is of no bytes", side->what);
	else if (step->rows > 1 && side->pitch < step->bytes)
		gt_bundle_refuse(reader, "%s has rows that overlap", side->what);
	else if (step->slices > 1 && step->rows == 1)
		gt_bundle_refuse(reader, "its slices are of one row");
	else if (step->slices > 1 && (side->slice_pitch % side->pitch != 0 ||
	                              side->slice_pitch / side->pitch < step->rows))
		gt_bundle_refuse(reader, "%s has slices that are no whole rows apart", side->what);
	else if (!has_rows(step, side, &left) ||
	         (step->slices > 1 && left / side->slice_pitch < step->slices - 1))
		gt_bundle_refuse(reader, "%s ends behind its memory", side->what);
}

/* Each number is checked before the next one is divided by what it leaves. */
static bool is_whole(const struct gt_bundle_step *step)
{
	const uint64_t size = step->parameters.size;

	return size % step->slices == 0 && size / step->slices % step->rows == 0 &&
	       size / step->slices / step->rows == step->bytes;
}

static void check_to(struct gt_bundle_reader *reader, const struct gt_bundle_step *step)
{
	check_rows(reader, step,
	           &(struct side){"to", step->to, step->to_pitch, step->to_slice_pitch});
}

static void check_copy(struct gt_bundle_reader *reader, const struct gt_bundle_step *step)
{
	if (step->from == 0 && step->to == 0)
		gt_bundle_refuse(reader, "it copies nothing of the GPU's");
	if (step->pinned && step->from && step->to)
		gt_bundle_refuse(reader, "it is pinned, and has nothing of the host's");
	if (step->to)
		check_to(reader, step);
	if (step->from)
		check_rows(reader, step,
		           &(struct side){"from", step->from, step->from_pitch,
		                          step->from_slice_pitch});
	else if (!is_whole(step))
		gt_bundle_refuse(reader,
		                 "the bytes that it copies from the host are not all there");
}

static void check_fill(struct gt_bundle_reader *reader, const struct gt_bundle_step *step)
{
	check_to(reader, step);
	if (step->value_bytes == 0 || step->value_bytes == 3)
		gt_bundle_refuse(reader, "value_bytes is not 1, 2 or 4");
	else if (step->bytes % step->value_bytes != 0 || step->to % step->value_bytes != 0)
		gt_bundle_refuse(reader, "it does not fill whole values");
}

static void check_event(struct gt_bundle_reader *reader, const struct gt_bundle_step *step)
{
	if (step->event == GT_BUNDLE_NONE && step->kind != GT_BUNDLE_STEP_host_wait)
		gt_bundle_refuse(reader, "it is about no event");
}

static void check_step(struct gt_bundle_reader *reader, const struct gt_bundle_step *step)
{
	if (reader->reading.result < 0)
		return;
	if (step->stream == GT_BUNDLE_NONE && step->kind != GT_BUNDLE_STEP_host_wait)
		gt_bundle_refuse(reader, "it says no stream");
	else if (step->stream != GT_BUNDLE_NONE && step->stream >= reader->bundle->streams.count)
		gt_bundle_refuse(reader, "there is no stream %u", step->stream);
	switch (step->kind) {
	case GT_BUNDLE_STEP_launch:
		check_launch(reader, step);
		break;
	case GT_BUNDLE_STEP_copy:
		check_copy(reader, step);
		break;
	case GT_BUNDLE_STEP_fill:
		check_fill(reader, step);
		break;
	case GT_BUNDLE_STEP_record:
	case GT_BUNDLE_STEP_wait:
	case GT_BUNDLE_STEP_host_wait:
		check_event(reader, step);
		break;
	}
}

void gt_bundle_add_step(struct gt_bundle_reader *reader, const json_t *object)
{
	struct gt_bundle_step *step = gt_array_push(&reader->bundle->steps);

	*step = (struct gt_bundle_step){.start_ns = -1,
	                                .end_ns = -1,
	                                .call_ns = -1,
	                                .stream = GT_BUNDLE_NONE,
	                                .function = GT_BUNDLE_NONE,
	                                .rows = 1,
	                                .slices = 1,
	                                .event = GT_BUNDLE_NONE};
	GT_BUNDLE_FIELDS(reader, object, step_fields, step);
	if (!step->range)
		step->range = gt_bundle_empty_text();
	gt_bundle_read_blob(reader, object, "parameters", GT_BUNDLE_MOST_BYTES, &step->parameters);
	check_step(reader, step);
}

void gt_bundle_check_events(struct gt_bundle_reader *reader)
{
	const struct gt_bundle *bundle = reader->bundle;

	reader->reading.list = "step";
	for (size_t i = 0; i < bundle->steps.count; i++) {
		const uint32_t event = bundle->steps.rows[i].event;

		reader->reading.number = i;
		if (event != GT_BUNDLE_NONE && event >= bundle->steps.count)
			gt_bundle_refuse(reader, "event %u of %zu steps", event,
			                 bundle->steps.count);
	}
	reader->reading.list = NULL;
}

void gt_bundle_check_graphs(struct gt_bundle_reader *reader)
{
	const struct gt_bundle *bundle = reader->bundle;
	uint32_t graphs = 0; /* that have begun */
	bool works = true;   /* the one that began last */

	if (bundle->steps.count == 0)
		return;
	reader->reading.list = "step";
	for (size_t i = 0; i <= bundle->steps.count; i++) {
		const struct gt_bundle_step *step = &bundle->steps.rows[i];
		const uint32_t graph = i < bundle->steps.count ? step->graph : 0;
		const bool goes_on = i > 0 && step[-1].graph == graph;

		reader->reading.number = !works && !goes_on ? i - 1 : i;
		if (!works && !goes_on)
			gt_bundle_refuse(reader, "graph %u ends there without work", graphs);
		else if (graph != 0 && !goes_on && graph != graphs + 1)
			gt_bundle_refuse(reader, "it is of graph %u, and %u began before it", graph,
			                 graphs);
		else if (graph != 0 && step->kind == GT_BUNDLE_STEP_host_wait)
			gt_bundle_refuse(reader, "the host does not wait in a graph");
		works = graph == 0 || (goes_on && works) || gt_bundle_is_work(step);
		graphs = graph ? graph : graphs;
	}
	reader->reading.list = NULL;
}

static const struct gt_json_field focus_fields[] = {
	GT_JSON_NUMBER(struct gt_bundle, focus, U32, 0, GT_BUNDLE_MOST_COUNT),
};

void gt_bundle_read_focus(struct gt_bundle_reader *reader, const json_t *root)
{
	struct gt_bundle *bundle = reader->bundle;

	GT_BUNDLE_FIELDS(reader, root, focus_fields, bundle);
	if (bundle->focus != GT_BUNDLE_NONE &&
	    (bundle->focus >= bundle->steps.count ||
	     bundle->steps.rows[bundle->focus].kind != GT_BUNDLE_STEP_launch))
		gt_bundle_refuse(reader, "focus is on step %u, which is no launch", bundle->focus);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/array.h"
#include "exporters/perfetto/annotations.h"
#include "exporters/perfetto/tracks.h"
#include "exporters/perfetto/values.h"
#include "exporters/perfetto/writer.h"
#include "exporters/timeline/memory_shown.h"
#include "model/names.h"
#include "model/ranges/owners.h"
#include "model/ranges/ranges.h"
#include "model/view/view.h"

/*
 * Memory, below its process: a track for each GPU, the host and each pool, with a mark for
 * allocations and their ends, and below it how much is in use as lines, reserved beside used.
 */

enum { ANNOTATIONS = 16 };

struct memory {
	struct gt_perfetto *perfetto;
	struct gt_memory_shown shown;
	struct gt_ranges ranges;
	struct gt_track *tracks;   /* by group */
	uint64_t *uuids;           /* by group; 0: not described yet */
	uint64_t allocation_flows; /* numbers of their first arrows */
	uint64_t block_flows;
};

static uint32_t gpu_of(const struct memory *memory, uint32_t group)
{
	const gt_id device = memory->shown.groups.rows[group].device;

	return device < memory->perfetto->trace->devices.count ? memory->perfetto->ids.gpus[device]
	                                                       : 0;
}

static void add_thread(const struct memory *memory, struct gt_annotations *list, gt_id thread)
{
	const struct gt_trace *trace = memory->perfetto->trace;

	if (thread < trace->threads.count)
		gt_annotations_add_size(list, "thread", trace->threads.rows[thread].tid);
}

static void add_stream(const struct memory *memory, struct gt_annotations *list, gt_id stream)
{
	const struct gt_trace *trace = memory->perfetto->trace;

	if (stream < trace->streams.count)
		gt_annotations_add_size(list, "stream", trace->streams.rows[stream].number);
}

static void add_range(const struct memory *memory, struct gt_annotations *list, gt_id range)
{
	const gt_id path = gt_ranges_path(&memory->ranges, range);
	char text[GT_RANGE_PATH_BYTES];

	if (path == GT_NONE)
		return;
	gt_range_path_text(&memory->ranges, path, text);
	gt_annotations_add_text(list, "range", text);
}

/* How long it was there, and what makes it worth looking at. */
static void add_life(struct gt_annotations *list, const struct gt_memory_mark *mark)
{
	if (mark->lived_ns == INT64_MAX)
		gt_annotations_add_size(list, "never_freed", 1);
	else
		gt_annotations_add_size(list, "lived_ns", (uint64_t)mark->lived_ns);
	if (mark->at_peak)
		gt_annotations_add_size(list, "at_peak", 1);
}

/* The call, as far as filters left it. */
static void add_call(const struct memory *memory, struct gt_annotations *list, gt_id row)
{
	const struct gt_trace *trace = memory->perfetto->trace;
	const struct gt_memory_call *call =
		row < trace->memory_calls.count ? &trace->memory_calls.rows[row] : NULL;

	if (!call)
		return;
	if (call->api_call < trace->api_calls.count)
		gt_annotations_add_string(list, "function",
		                          trace->api_calls.rows[call->api_call].function);
	add_thread(memory, list, call->thread);
	add_stream(memory, list, call->stream);
}

static void annotate_allocation(const struct memory *memory, struct gt_annotations *list,
                                const struct gt_memory_mark *mark)
{
	const struct gt_trace *trace = memory->perfetto->trace;
	const struct gt_allocation *row = &trace->allocations.rows[mark->row];
	const bool begins = mark->is == GT_MEMORY_MARK_BEGIN;

	gt_annotations_add_text(list, "kind", gt_memory_call_name(row->kind));
	if (row->size_bytes > 0)
		gt_annotations_add_size(list, "bytes", row->size_bytes);
	gt_annotations_add_address(list, "address", row->address);
	gt_annotations_add_address(list, "handle", row->handle);
	add_life(list, mark);
	add_call(memory, list, begins ? row->made_by : row->ended_by);
	if (begins) {
		gt_annotations_add_string(list, "library", row->library);
		add_range(memory, list, row->range);
	}
}

static void annotate_block(const struct memory *memory, struct gt_annotations *list,
                           const struct gt_memory_mark *mark)
{
	const struct gt_pool_block *row = &memory->perfetto->trace->pool_blocks.rows[mark->row];

	gt_annotations_add_size(list, "bytes", row->size_bytes);
	if (row->requested_bytes > 0)
		gt_annotations_add_size(list, "requested_bytes", row->requested_bytes);
	gt_annotations_add_address(list, "address", row->address);
	add_life(list, mark);
	if (mark->is != GT_MEMORY_MARK_BEGIN)
		return;
	add_thread(memory, list, row->thread);
	add_stream(memory, list, row->stream);
	add_range(memory, list, row->range);
}

static void annotate_failure(const struct memory *memory, struct gt_annotations *list,
                             const struct gt_memory_mark *mark)
{
	const struct gt_trace *trace = memory->perfetto->trace;
	const struct gt_memory_call *call = &trace->memory_calls.rows[mark->row];
	const bool is_driver = (call->flags & GT_DRIVER_API) != 0;
	const char *result = gt_result_name(call->result, is_driver);

	gt_annotations_add_text(list, "kind", gt_memory_call_name(call->kind));
	if (call->size_bytes > 0)
		gt_annotations_add_size(list, "bytes", call->size_bytes);
	gt_annotations_add_number(list, "code", call->result);
	gt_annotations_add_text(list, "result", result ? result : "");
	gt_annotations_add_size(list, "in_use_bytes", mark->in_use_bytes);
	add_call(memory, list, mark->row);
	if (call->api_call < trace->api_calls.count)
		add_range(memory, list, gt_owner_of_call(trace, call->api_call).range);
}

static void annotate_peak(const struct memory *memory, struct gt_annotations *list,
                          const struct gt_memory_mark *mark)
{
	const struct gt_memory_in_use *peak = &memory->shown.peaks[mark->group];

	gt_annotations_add_size(list, "bytes", peak->bytes);
	if (peak->count > 0)
		gt_annotations_add_size(list,
		                        memory->shown.groups.rows[mark->group].pool == GT_NONE
		                                ? "allocations"
		                                : "blocks",
		                        peak->count);
}

/* Leads from an allocation, or a block, to its end, where both have marks. */
static void add_flow(const struct memory *memory, const struct gt_memory_mark *mark,
                     struct gt_slice *slice)
{
	const struct gt_trace *trace = memory->perfetto->trace;
	const bool is_block = memory->shown.groups.rows[mark->group].pool != GT_NONE;
	const gt_time start_ns = is_block ? trace->pool_blocks.rows[mark->row].start_ns
	                                  : trace->allocations.rows[mark->row].start_ns;

	if (mark->lived_ns == INT64_MAX || start_ns < memory->perfetto->view->start_ns)
		return;
	slice->flow = (is_block ? memory->block_flows : memory->allocation_flows) + mark->row;
	slice->flow_ends = mark->is == GT_MEMORY_MARK_END;
}

static void describe_mark(struct memory *memory, const struct gt_memory_mark *mark,
                          struct gt_annotations *list, struct gt_slice *slice)
{
	switch (mark->is) {
	case GT_MEMORY_MARK_BEGIN:
	case GT_MEMORY_MARK_END:
		if (memory->shown.groups.rows[mark->group].pool == GT_NONE)
			annotate_allocation(memory, list, mark);
		else
			annotate_block(memory, list, mark);
		add_flow(memory, mark, slice);
		break;
	case GT_MEMORY_MARK_FAILED:
		annotate_failure(memory, list, mark);
		break;
	case GT_MEMORY_MARK_PEAK:
		annotate_peak(memory, list, mark);
		break;
	}
}

/* The track of a group, described when it is first needed; 0: its process is not known. */
static uint64_t uuid_of(struct memory *memory, uint32_t group)
{
	struct gt_perfetto *perfetto = memory->perfetto;
	const gt_id process = memory->shown.groups.rows[group].process;
	char name[GT_MEMORY_NAME_SIZE];

	if (memory->uuids[group] || process >= perfetto->trace->processes.count)
		return memory->uuids[group];
	gt_memory_group_name(&memory->shown, group, gpu_of(memory, group), name);
	memory->uuids[group] = gt_track_describe_group(
		perfetto, perfetto->ids.process_uuids[process], "memory", group, name);
	return memory->uuids[group];
}

static void put_mark(struct memory *memory, const struct gt_memory_mark *mark)
{
	struct gt_perfetto *perfetto = memory->perfetto;
	struct gt_track *track = &memory->tracks[mark->group];
	const uint64_t uuid = uuid_of(memory, mark->group);
	struct gt_annotation annotations[ANNOTATIONS];
	struct gt_annotations list = {.names = &perfetto->names, .rows = annotations};
	struct gt_slice slice = {
		.start_ns = mark->time_ns,
		.end_ns = mark->time_ns,
		.instant = true,
		.annotations = annotations,
	};
	char name[GT_MEMORY_NAME_SIZE];

	if (!uuid || !gt_ids_time_is_sound(mark->time_ns)) {
		gt_perfetto_skip(perfetto);
		return;
	}
	if (track->sequence.id == 0)
		gt_track_start(track, perfetto, uuid, "memory");
	gt_memory_mark_name(&memory->shown, mark, name);
	slice.name = gt_names_add(&perfetto->names, name);
	describe_mark(memory, mark, &list, &slice);
	slice.annotation_count = list.count;
	gt_track_put(track, &slice);
	perfetto->counts.memory_marks++;
}

static void put_line(struct memory *memory, uint32_t number)
{
	struct gt_perfetto *perfetto = memory->perfetto;
	const struct gt_memory_line *line = &memory->shown.lines.rows[number];
	const bool is_bytes = gt_memory_line_is_bytes(&memory->shown, line);
	char name[GT_MEMORY_NAME_SIZE];
	char scale[32];
	struct gt_value_track track = {
		.parent_uuid = uuid_of(memory, line->group),
		.kind = "memory line",
		.number = number,
		.name = name,
		.unit = is_bytes ? GT_VALUE_UNIT_BYTES : GT_VALUE_UNIT_COUNT,
		.share_scale = gt_memory_line_is_to_scale(&memory->shown, line) ? scale : NULL,
		.rank = gt_memory_line_rank(&memory->shown, line),
	};
	struct gt_values values;

	if (!track.parent_uuid) {
		perfetto->counts.skipped += line->values.points.count;
		return;
	}
	gt_memory_line_name(&memory->shown, line, gpu_of(memory, line->group), name);
	snprintf(scale, sizeof(scale), "memory %u", line->group);
	gt_values_start(&values, perfetto, &track);
	gt_array_each(const struct gt_point, point, &line->values.points)
		perfetto->counts.memory_values +=
			gt_values_put(&values, point->time_ns, point->value);
}

static void put_lines(struct memory *memory)
{
	for (uint32_t i = 0; i < memory->shown.lines.count; i++)
		if (gt_memory_line_is_shown(&memory->shown.lines.rows[i]))
			put_line(memory, i);
}

static void start(struct memory *memory)
{
	struct gt_perfetto *perfetto = memory->perfetto;
	const size_t count = memory->shown.groups.count + 1;

	gt_ranges_init(&memory->ranges, perfetto->trace);
	memory->tracks = gt_allocate_zeroed(count, sizeof(*memory->tracks));
	memory->uuids = gt_allocate_zeroed(count, sizeof(*memory->uuids));
	memory->allocation_flows =
		gt_perfetto_add_flows(perfetto, perfetto->trace->allocations.count);
	memory->block_flows = gt_perfetto_add_flows(perfetto, perfetto->trace->pool_blocks.count);
}

void gt_perfetto_write_memory(struct gt_perfetto *perfetto)
{
	struct memory memory = {.perfetto = perfetto};

	if (!gt_memory_is_known(perfetto->trace) || !gt_ids_time_is_sound(perfetto->view->start_ns))
		return;
	gt_memory_shown_init(&memory.shown, perfetto->view);
	start(&memory);
	gt_array_each(const struct gt_memory_mark, mark, &memory.shown.marks)
		put_mark(&memory, mark);
	put_lines(&memory);
	for (size_t i = 0; i < memory.shown.groups.count; i++)
		if (memory.tracks[i].sequence.id != 0)
			gt_track_finish(&memory.tracks[i]);
	gt_array_free(memory.tracks);
	gt_array_free(memory.uuids);
	gt_ranges_release(&memory.ranges);
	gt_memory_shown_release(&memory.shown);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/perfetto/tracks.h"

#include <assert.h>

#include "exporters/perfetto/wire/wire.h"
#include "exporters/perfetto/writer.h"

enum {
	TYPE_BEGIN = 1,
	TYPE_END = 2,
	TYPE_INSTANT = 3,
	CATEGORY = 1,       /* interned number of that of the track */
	RANGE_CATEGORY = 2, /* of that of NVTX's ranges, where there are any */
	ANNOTATIONS_MAX = 16,
	STACKS_MAX = 64,
	BY_RANK = 3, /* ordering of the tracks below one */
};

static const char range_category[] = "nvtx";

/* The tables of interned texts; bits of gt_track.known. */
enum table {
	EVENT_NAME = 1,
	ANNOTATION_NAME = 2,
	ANNOTATION_TEXT = 4,
};

static struct gt_track_wire pack_wire(void)
{
	const ProtobufCMessageDescriptor *event = &perfetto__track_event__descriptor;
	const ProtobufCMessageDescriptor *arrows = &perfetto__gpu_correlation__descriptor;
	uint64_t category = CATEGORY;
	uint64_t ranges = RANGE_CATEGORY;
	Perfetto__TrackEvent begin = PERFETTO__TRACK_EVENT__INIT;
	Perfetto__TrackEvent end = PERFETTO__TRACK_EVENT__INIT;
	struct gt_track_wire wire = {
		.event_tag = gt_wire_tag(&perfetto__trace_packet__descriptor, "track_event"),
		.name_tag = gt_wire_tag(event, "name_iid"),
		.arrows_tag = gt_wire_tag(event, "gpu_correlation"),
		.launched_tag = gt_wire_tag(arrows, "render_stage_submission_event_ids"),
		.awaited_tag = gt_wire_tag(arrows, "render_stage_wait_event_ids"),
	};

	begin.category_iids = &category;
	begin.n_category_iids = 1;
	begin.has_type = end.has_type = 1;
	begin.type = TYPE_BEGIN;
	end.type = TYPE_END;
	assert(perfetto__track_event__get_packed_size(&begin) <= sizeof(wire.begin));
	assert(perfetto__track_event__get_packed_size(&end) <= sizeof(wire.end));
	wire.begin_size = perfetto__track_event__pack(&begin, wire.begin);
	begin.type = TYPE_INSTANT;
	wire.instant_size = perfetto__track_event__pack(&begin, wire.instant);
	begin.category_iids = &ranges;
	wire.mark_size = perfetto__track_event__pack(&begin, wire.mark);
	begin.type = TYPE_BEGIN;
	wire.range_size = perfetto__track_event__pack(&begin, wire.range);
	wire.end_size = perfetto__track_event__pack(&end, wire.end);
	return wire;
}

static void intern_category(struct gt_track *track, uint64_t number, const char *category)
{
	Perfetto__InternedString name = gt_interned(number, category);
	Perfetto__InternedString *list[] = {&name};
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;

	data.event_categories = list;
	data.n_event_categories = 1;
	gt_sequence_intern(&track->sequence, &data);
}

void gt_track_start(struct gt_track *track, struct gt_perfetto *perfetto, uint64_t uuid,
                    const char *category)
{
	*track = (struct gt_track){.perfetto = perfetto, .wire = pack_wire()};
	gt_perfetto_start(perfetto, &track->sequence, uuid);
	intern_category(track, CATEGORY, category);
}

/* Says a text in one of the tables, unless the sequence knows it there. */
static void intern(struct gt_track *track, enum table table, uint32_t number)
{
	Perfetto__InternedString string;
	Perfetto__InternedString *list[] = {&string};
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;

	while (track->known.count <= number)
		*gt_array_push(&track->known) = 0;
	if (track->known.rows[number] & table)
		return;
	track->known.rows[number] |= (uint8_t)table;
	string = gt_interned(number, gt_names_text(&track->perfetto->names, number));
	switch (table) {
	case EVENT_NAME:
		data.event_names = list;
		data.n_event_names = 1;
		break;
	case ANNOTATION_NAME:
		data.debug_annotation_names = list;
		data.n_debug_annotation_names = 1;
		break;
	case ANNOTATION_TEXT:
		data.debug_annotation_string_values = list;
		data.n_debug_annotation_string_values = 1;
		break;
	}
	gt_sequence_intern(&track->sequence, &data);
}

/* Room for so many bytes more at the end of the message. */
static uint8_t *reserve(struct gt_track *track, size_t size)
{
	if (track->message.count + size > track->message.capacity) {
		const size_t capacity = 2 * (track->message.count + size);

		track->message.rows = gt_array_resize(track->message.rows, capacity,
		                                      sizeof(*track->message.rows));
		track->message.capacity = capacity;
	}
	return track->message.rows + track->message.count;
}

static void commit(struct gt_track *track, const uint8_t *end)
{
	track->message.count = (size_t)(end - track->message.rows);
}

static Perfetto__DebugAnnotation annotation_message(struct gt_track *track,
                                                    const struct gt_annotation *annotation)
{
	Perfetto__DebugAnnotation message = PERFETTO__DEBUG_ANNOTATION__INIT;

	intern(track, ANNOTATION_NAME, annotation->name);
	message.has_name_iid = 1;
	message.name_iid = annotation->name;
	switch (annotation->type) {
	case GT_VALUE_NUMBER:
		message.has_int_value = 1;
		message.int_value = annotation->number;
		break;
	case GT_VALUE_TEXT:
		intern(track, ANNOTATION_TEXT, (uint32_t)annotation->number);
		message.has_string_value_iid = 1;
		message.string_value_iid = (uint64_t)annotation->number;
		break;
	case GT_VALUE_ADDRESS:
		message.has_pointer_value = 1;
		message.pointer_value = (uint64_t)annotation->number;
		break;
	case GT_VALUE_REAL:
		message.has_double_value = 1;
		message.double_value = annotation->real;
		break;
	}
	return message;
}

static void add_annotations(struct gt_track *track, const struct gt_slice *slice)
{
	Perfetto__DebugAnnotation rows[ANNOTATIONS_MAX];
	Perfetto__DebugAnnotation *list[ANNOTATIONS_MAX];
	Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;
	uint8_t *at;

	assert(slice->annotation_count <= ANNOTATIONS_MAX);
	for (size_t i = 0; i < slice->annotation_count; i++) {
		rows[i] = annotation_message(track, &slice->annotations[i]);
		list[i] = &rows[i];
	}
	event.debug_annotations = list;
	event.n_debug_annotations = slice->annotation_count;
	at = reserve(track, perfetto__track_event__get_packed_size(&event));
	commit(track, at + perfetto__track_event__pack(&event, at));
}

static size_t arrows_size(struct gt_slices slices, uint32_t tag)
{
	size_t size = 0;

	for (size_t i = 0; i < slices.count; i++)
		size += gt_varint_size(tag) + gt_varint_size(gt_ids_event(slices.numbers[i]));
	return size;
}

static uint8_t *put_arrows(uint8_t *at, struct gt_slices slices, uint32_t tag)
{
	for (size_t i = 0; i < slices.count; i++)
		at = gt_put_varint(gt_put_varint(at, tag), gt_ids_event(slices.numbers[i]));
	return at;
}

/* Perfetto reads only the first of these messages in an event: both kinds are in one. */
static void add_arrows(struct gt_track *track, const struct gt_slice *slice)
{
	const struct gt_track_wire *wire = &track->wire;
	const size_t size = arrows_size(slice->launched, wire->launched_tag) +
	                    arrows_size(slice->awaited, wire->awaited_tag);
	uint8_t *at = reserve(track, 2 * (size_t)GT_VARINT_MAX + size);

	at = gt_put_varint(gt_put_varint(at, wire->arrows_tag), size);
	at = put_arrows(at, slice->launched, wire->launched_tag);
	commit(track, put_arrows(at, slice->awaited, wire->awaited_tag));
	track->perfetto->counts.arrows += slice->launched.count + slice->awaited.count;
}

/* Where an arrow ends it is counted. */
static void add_flow(struct gt_track *track, const struct gt_slice *slice)
{
	uint64_t flow = slice->flow;
	Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;
	uint8_t *at;

	if (slice->flow_ends) {
		event.terminating_flow_ids = &flow;
		event.n_terminating_flow_ids = 1;
		track->perfetto->counts.host_arrows++;
	} else {
		event.flow_ids = &flow;
		event.n_flow_ids = 1;
	}
	at = reserve(track, perfetto__track_event__get_packed_size(&event));
	commit(track, at + perfetto__track_event__pack(&event, at));
}

/* Ends the slices that are over at time_ns, the inner ones first. */
static void end_slices(struct gt_track *track, gt_time time_ns)
{
	while (track->open.count > 0) {
		const gt_time end_ns = track->open.rows[track->open.count - 1].end_ns;

		if (end_ns > time_ns)
			break;
		gt_sequence_put_same(&track->sequence, end_ns, track->wire.event_tag,
		                     track->wire.end, track->wire.end_size);
		track->open.count--;
	}
}

/* Makes room for a slice that begins now. */
static void end_slices_before(struct gt_track *track, const struct gt_slice *slice)
{
	if (!slice->nested) {
		for (size_t i = track->open.count; i-- > 0 && !track->open.rows[i].is_range;)
			if (track->open.rows[i].end_ns > slice->start_ns)
				track->open.rows[i].end_ns = slice->start_ns;
	}
	end_slices(track, slice->start_ns);
}

/* Nothing is shorter than a nanosecond. */
static gt_time end_of(const struct gt_slice *slice)
{
	return slice->end_ns > slice->start_ns ? slice->end_ns : slice->start_ns + 1;
}

/* A nested slice is over when the one around it is; a mark is over at once. */
static void open_slice(struct gt_track *track, const struct gt_slice *slice)
{
	const size_t depth = track->open.count;
	gt_time end_ns = end_of(slice);

	if (slice->instant)
		return;
	if (depth > 0 && end_ns > track->open.rows[depth - 1].end_ns)
		end_ns = track->open.rows[depth - 1].end_ns;
	*gt_array_push(&track->open) = (struct gt_open_slice){end_ns, slice->is_range};
}

/* Begin or mark, but for the name. */
static uint8_t *put_begin(struct gt_track *track, const struct gt_slice *slice, uint8_t *at)
{
	const struct gt_track_wire *wire = &track->wire;

	if (slice->is_range)
		return slice->instant ? gt_put_bytes(at, wire->mark, wire->mark_size)
		                      : gt_put_bytes(at, wire->range, wire->range_size);
	return slice->instant ? gt_put_bytes(at, wire->instant, wire->instant_size)
	                      : gt_put_bytes(at, wire->begin, wire->begin_size);
}

void gt_track_put(struct gt_track *track, const struct gt_slice *slice)
{
	const struct gt_track_wire *wire = &track->wire;
	uint8_t *at;

	end_slices_before(track, slice);
	if (slice->is_range && !track->knows_ranges)
		intern_category(track, RANGE_CATEGORY, range_category);
	track->knows_ranges = track->knows_ranges || slice->is_range;
	intern(track, EVENT_NAME, slice->name);
	track->message.count = 0;
	if (slice->launched.count + slice->awaited.count > 0)
		add_arrows(track, slice);
	at = reserve(track, sizeof(wire->begin) + 2 * (size_t)GT_VARINT_MAX);
	at = put_begin(track, slice, at);
	commit(track, gt_put_varint(gt_put_varint(at, wire->name_tag), slice->name));
	if (slice->annotation_count > 0)
		add_annotations(track, slice);
	if (slice->flow)
		add_flow(track, slice);
	gt_sequence_put(&track->sequence, slice->start_ns, wire->event_tag, track->message.rows,
	                track->message.count);
	open_slice(track, slice);
}

void gt_track_finish(struct gt_track *track)
{
	end_slices(track, INT64_MAX - 1);
	gt_array_release(&track->open);
	gt_array_release(&track->known);
	gt_array_release(&track->message);
}

/*
 * parent_uuid: 0 for a track below nothing. ordering, of the tracks below it, and rank, among those
 * of its parent: 0 leaves that to viewers.
 */
static void describe(struct gt_perfetto *perfetto, uint64_t uuid, uint64_t parent_uuid,
                     const char *name, uint32_t ordering, int32_t rank)
{
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	track.has_uuid = 1;
	track.has_child_ordering = ordering != 0;
	track.child_ordering = ordering;
	track.has_sibling_order_rank = rank != 0;
	track.sibling_order_rank = rank;
	track.uuid = uuid;
	track.has_parent_uuid = parent_uuid != 0;
	track.parent_uuid = parent_uuid;
	track.name = gt_borrow(name);
	packet.track_descriptor = &track;
	gt_sequence_add(&perfetto->descriptions, &packet);
}

static void describe_track(struct gt_perfetto *perfetto, uint64_t uuid, uint64_t parent_uuid,
                           const char *name)
{
	describe(perfetto, uuid, parent_uuid, name, 0, 0);
}

uint64_t gt_track_describe_group(struct gt_perfetto *perfetto, uint64_t parent_uuid,
                                 const char *kind, uint64_t number, const char *name)
{
	const uint64_t uuid = gt_ids_track_uuid(parent_uuid, kind, number);

	describe(perfetto, uuid, parent_uuid, name, BY_RANK, 0);
	return uuid;
}

uint64_t gt_track_describe_ranked(struct gt_perfetto *perfetto, uint64_t parent_uuid,
                                  const char *kind, uint64_t number, const char *name, int32_t rank)
{
	const uint64_t uuid = gt_ids_track_uuid(parent_uuid, kind, number);

	describe(perfetto, uuid, parent_uuid, name, 0, rank);
	return uuid;
}

void gt_threads_init(struct gt_threads *threads, struct gt_perfetto *perfetto, const char *category,
                     const char *name)
{
	const size_t count = perfetto->trace->threads.count;

	*threads = (struct gt_threads){.perfetto = perfetto, .category = category, .name = name};
	threads->tracks = gt_allocate(count * sizeof(*threads->tracks));
	for (size_t i = 0; i < count; i++)
		threads->tracks[i] = (struct gt_track){0};
}

struct gt_track *gt_threads_get(struct gt_threads *threads, gt_id thread)
{
	struct gt_perfetto *perfetto = threads->perfetto;
	struct gt_track *track = &threads->tracks[thread];
	uint64_t uuid;

	if (track->sequence.id != 0)
		return track;
	uuid = gt_ids_thread_uuid(&perfetto->ids, &perfetto->trace->threads.rows[thread]);
	if (threads->name) {
		const uint64_t parent_uuid = uuid;

		uuid = gt_ids_track_uuid(parent_uuid, threads->name, 0);
		describe_track(perfetto, uuid, parent_uuid, threads->name);
	}
	gt_track_start(track, perfetto, uuid, threads->category);
	return track;
}

void gt_threads_finish(struct gt_threads *threads)
{
	for (size_t i = 0; i < threads->perfetto->trace->threads.count; i++)
		if (threads->tracks[i].sequence.id != 0)
			gt_track_finish(&threads->tracks[i]);
	gt_array_free(threads->tracks);
	threads->tracks = NULL;
}

void gt_lanes_init(struct gt_lanes *lanes, struct gt_perfetto *perfetto, uint64_t parent_uuid,
                   const char *category, const char *name)
{
	*lanes = (struct gt_lanes){.perfetto = perfetto,
	                           .parent_uuid = parent_uuid,
	                           .category = category,
	                           .name = name};
}

/* The first lane that is free at the time. */
static size_t find_lane(struct gt_lanes *lanes, gt_time start_ns)
{
	const size_t lane = gt_minima_find(&lanes->ends, start_ns);
	uint64_t uuid;

	if (lane < lanes->rows.count)
		return lane;
	uuid = gt_ids_track_uuid(lanes->parent_uuid, lanes->name, lane + 1);
	describe_track(lanes->perfetto, uuid, lanes->parent_uuid, lanes->name);
	gt_track_start(gt_array_push(&lanes->rows), lanes->perfetto, uuid, lanes->category);
	return lane;
}

void gt_lanes_put(struct gt_lanes *lanes, const struct gt_slice *slice)
{
	const size_t lane = find_lane(lanes, slice->start_ns);

	gt_track_put(&lanes->rows.rows[lane], slice);
	gt_minima_set(&lanes->ends, lane, end_of(slice));
}

void gt_lanes_finish(struct gt_lanes *lanes)
{
	gt_array_each(struct gt_track, track, &lanes->rows)
		gt_track_finish(track);
	gt_array_release(&lanes->rows);
	gt_minima_release(&lanes->ends);
}

void gt_stacks_init(struct gt_stacks *stacks, struct gt_perfetto *perfetto, uint64_t parent_uuid,
                    const char *category, const char *name)
{
	*stacks = (struct gt_stacks){.perfetto = perfetto,
	                             .parent_uuid = parent_uuid,
	                             .category = category,
	                             .name = name};
}

/* Whether the slice lies in all that is open on the track when it begins. */
static bool fits(const struct gt_track *track, const struct gt_slice *slice)
{
	for (size_t i = track->open.count; i-- > 0;)
		if (track->open.rows[i].end_ns > slice->start_ns)
			return track->open.rows[i].end_ns >= end_of(slice);
	return true;
}

bool gt_stacks_put(struct gt_stacks *stacks, const struct gt_slice *slice)
{
	struct gt_track *track;
	uint64_t uuid;

	gt_array_each(struct gt_track, row, &stacks->rows)
		if (fits(row, slice)) {
			gt_track_put(row, slice);
			return true;
		}
	if (stacks->rows.count == STACKS_MAX)
		return false;
	uuid = gt_ids_track_uuid(stacks->parent_uuid, stacks->name,
	                         (uint64_t)stacks->number << 32 | (stacks->rows.count + 1));
	describe_track(stacks->perfetto, uuid, stacks->parent_uuid, stacks->name);
	track = gt_array_push(&stacks->rows);
	gt_track_start(track, stacks->perfetto, uuid, stacks->category);
	gt_track_put(track, slice);
	return true;
}

void gt_stacks_finish(struct gt_stacks *stacks)
{
	gt_array_each(struct gt_track, track, &stacks->rows)
		gt_track_finish(track);
	gt_array_release(&stacks->rows);
}

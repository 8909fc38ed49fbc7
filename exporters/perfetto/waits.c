/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"
#include "exporters/perfetto/slices.h"
#include "exporters/perfetto/wire.h"
#include "exporters/perfetto/writer.h"
#include "model/names.h"

/*
 * Waits and overheads of a process happen at the same time on several threads, and CUPTI does not
 * always say on which. They get tracks of their own: as many of one name as are needed for slices
 * that do not overlap. The viewer merges tracks of one name.
 */
struct lane {
	struct gt_sequence sequence;
	gt_time end_ns;
	gt_array(uint32_t) kinds; /* whose names the sequence has; row + 1 is the number */
};

struct lanes {
	gt_array(struct lane) rows;
};

/* One kind of things to show that way. */
struct family {
	const char *track_name;
	const char *category;
	const char *annotation;
	const char *(*kind_name)(uint32_t kind);
};

struct wait {
	gt_time start_ns;
	gt_time end_ns;
	gt_id process;
	uint32_t kind;
	uint32_t detail; /* value of the annotation, GT_NONE for none */
};

static void describe_lane(struct gt_perfetto *perfetto, const struct family *family, gt_id process,
                          uint64_t uuid)
{
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	track.has_uuid = track.has_parent_uuid = 1;
	track.uuid = uuid;
	track.parent_uuid = perfetto->ids.process_uuids[process];
	track.name = gt_borrow(family->track_name);
	packet.track_descriptor = &track;
	gt_sequence_add(&perfetto->descriptions, &packet);
}

/* The first lane that is free at the time. */
static struct lane *find_lane(struct gt_perfetto *perfetto, const struct family *family,
                              struct lanes *lanes, const struct wait *wait)
{
	gt_array_each(struct lane, lane, &lanes->rows)
		if (lane->end_ns <= wait->start_ns)
			return lane;

	struct lane *lane = gt_array_push(&lanes->rows);
	const uint64_t uuid = gt_ids_track_uuid(&perfetto->ids, wait->process, family->category,
	                                        lanes->rows.count);

	*lane = (struct lane){0};
	describe_lane(perfetto, family, wait->process, uuid);
	gt_slices_start(perfetto, &lane->sequence, uuid, family->category, &family->annotation, 1);
	return lane;
}

/* The interned number of the kind's name. */
static uint64_t find_name(struct lane *lane, const struct family *family, uint32_t kind)
{
	for (size_t i = 0; i < lane->kinds.count; i++)
		if (lane->kinds.rows[i] == kind)
			return i + 1;
	*gt_array_push(&lane->kinds) = kind;
	gt_slices_intern_name(&lane->sequence, lane->kinds.count, family->kind_name(kind));
	return lane->kinds.count;
}

static void put_wait(struct gt_perfetto *perfetto, const struct family *family, struct lanes *lanes,
                     const struct wait *wait)
{
	Perfetto__DebugAnnotation detail = PERFETTO__DEBUG_ANNOTATION__INIT;
	uint8_t begin[GT_SLICE_BEGIN_MAX];
	struct lane *lane;
	uint64_t name;

	if (wait->process >= perfetto->trace->processes.count ||
	    !gt_ids_time_is_sound(wait->start_ns)) {
		gt_perfetto_skip(perfetto);
		return;
	}
	lane = find_lane(perfetto, family, &lanes[wait->process], wait);
	name = find_name(lane, family, wait->kind);
	detail.has_name_iid = detail.has_uint_value = 1;
	detail.name_iid = 1;
	detail.uint_value = wait->detail;
	gt_sequence_put(&lane->sequence, wait->start_ns, gt_slices_tag(), begin,
	                gt_slices_pack_begin(name, wait->detail != GT_NONE ? &detail : NULL,
	                                     begin));
	lane->end_ns = wait->end_ns > wait->start_ns ? wait->end_ns : wait->start_ns + 1;
	gt_slices_end(&lane->sequence, lane->end_ns);
}

static struct lanes *new_lanes(const struct gt_trace *trace)
{
	struct lanes *lanes = gt_allocate(trace->processes.count * sizeof(*lanes));

	for (size_t i = 0; i < trace->processes.count; i++)
		lanes[i] = (struct lanes){0};
	return lanes;
}

static void free_lanes(struct lanes *lanes, const struct gt_trace *trace)
{
	for (size_t i = 0; i < trace->processes.count; i++) {
		gt_array_each(struct lane, lane, &lanes[i].rows)
			gt_array_release(&lane->kinds);
		gt_array_release(&lanes[i].rows);
	}
	gt_array_free(lanes);
}

/* From the context, or from the call that waited. */
static gt_id sync_process(const struct gt_trace *trace, const struct gt_sync *sync)
{
	gt_id thread = GT_NONE;

	if (sync->context < trace->contexts.count)
		return trace->contexts.rows[sync->context].process;
	if (sync->api_call < trace->api_calls.count)
		thread = trace->api_calls.rows[sync->api_call].thread;
	return thread < trace->threads.count ? trace->threads.rows[thread].process : GT_NONE;
}

static void write_syncs(struct gt_perfetto *perfetto)
{
	static const struct family family = {"CUDA synchronization", "sync", "stream",
	                                     gt_sync_kind_name};
	const struct gt_trace *trace = perfetto->trace;
	struct lanes *lanes = new_lanes(trace);

	gt_array_each(const struct gt_sync, sync, &trace->syncs) {
		const struct wait wait = {
			.start_ns = sync->start_ns,
			.end_ns = sync->end_ns,
			.process = sync_process(trace, sync),
			.kind = sync->kind,
			.detail = sync->stream < trace->streams.count
		                          ? trace->streams.rows[sync->stream].number
		                          : GT_NONE,
		};

		put_wait(perfetto, &family, lanes, &wait);
	}
	free_lanes(lanes, trace);
}

static void write_overheads(struct gt_perfetto *perfetto)
{
	static const struct family family = {"CUPTI overhead", "overhead", "thread",
	                                     gt_overhead_kind_name};
	const struct gt_trace *trace = perfetto->trace;
	struct lanes *lanes = new_lanes(trace);

	gt_array_each(const struct gt_overhead, overhead, &trace->overheads) {
		const struct wait wait = {
			.start_ns = overhead->start_ns,
			.end_ns = overhead->end_ns,
			.process = overhead->process,
			.kind = overhead->kind,
			.detail = overhead->tid ? overhead->tid : GT_NONE,
		};

		put_wait(perfetto, &family, lanes, &wait);
	}
	free_lanes(lanes, trace);
}

void gt_perfetto_write_waits(struct gt_perfetto *perfetto)
{
	write_syncs(perfetto);
	write_overheads(perfetto);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/timeline/timeline.h"

#include <string.h>

#include "analysis/memory/totals.h"
#include "analysis/time/busy.h"
#include "base/array.h"
#include "base/strings.h"
#include "model/kinds/memory.h"
#include "model/view/view.h"
#include "support/check.h"
#include "support/trace.h"

enum { LASTS = 100000000, MOST = 1000 };

static struct gt_trace trace;
static struct gt_view view;
static struct gt_timeline timeline;
static gt_id process;
static gt_id device;
static gt_id shape;

static void make(void)
{
	trace_init(&trace, LASTS);
	process = trace_process(&trace, "app", 100);
	device = trace_device(&trace);
	shape = trace_shape(&trace, "step", 1, 32);
	view = gt_view_of(&trace);
}

static void drop(void)
{
	gt_timeline_release(&timeline);
	gt_trace_release(&trace);
}

TestSuite(timeline, .init = make, .fini = drop);

/* The first track of a kind, and NULL: there is none. */
static const struct gt_timeline_track *track_of(enum gt_timeline_kind kind)
{
	gt_array_each(const struct gt_timeline_track, track, &timeline.tracks)
		if (track->kind == kind)
			return track;
	return NULL;
}

static uint64_t count_of(const struct gt_timeline_track *track)
{
	uint64_t count = 0;

	gt_array_each(const struct gt_timeline_lane, lane, &track->lanes)
		gt_array_each(const struct gt_timeline_piece, piece, &lane->pieces)
			count += piece->count;
	return count;
}

static uint64_t total_of(const struct gt_timeline_track *track)
{
	uint64_t total_ns = 0;

	gt_array_each(const struct gt_timeline_lane, lane, &track->lanes)
		gt_array_each(const struct gt_timeline_piece, piece, &lane->pieces)
			total_ns += piece->total_ns;
	return total_ns;
}

Test(timeline, draws_each_piece_where_there_is_room)
{
	const gt_id stream = trace_stream(&trace, process, device);
	const struct gt_timeline_track *track;
	const struct gt_timeline_piece *piece;

	trace_kernel(&trace, stream, shape, 1000, 3000);
	trace_kernel(&trace, stream, shape, 3000, 3500);
	trace_kernel(&trace, stream, shape, 90000000, 90000010);
	gt_timeline_init(&timeline, &view, MOST);
	track = track_of(GT_TIMELINE_STREAM);
	cr_assert(eq(sz, track->lanes.count, 1));
	cr_assert(eq(sz, track->lanes.rows[0].pieces.count, 3));
	piece = &track->lanes.rows[0].pieces.rows[1];
	cr_expect(eq(i64, piece->start_ns, TRACE_START_NS + 3000));
	cr_expect(eq(i64, piece->end_ns, TRACE_START_NS + 3500));
	cr_expect(eq(u64, piece->count, 1));
	cr_expect(eq(str, (char *)gt_strings_get(timeline.names, piece->name), "step"));
	cr_expect(eq(i64, timeline.together_ns, 0));
	/* Busy: the first two follow each other at once. */
	track = track_of(GT_TIMELINE_BUSY);
	cr_assert(eq(sz, track->lanes.rows[0].pieces.count, 2));
	cr_expect(eq(u64, track->lanes.rows[0].pieces.rows[0].count, 2));
	cr_expect(eq(u64, track->lanes.rows[0].pieces.rows[0].total_ns, 2500));
	/* Idle: between them and the third. */
	track = track_of(GT_TIMELINE_IDLE);
	cr_assert(eq(sz, track->lanes.rows[0].pieces.count, 1));
	cr_expect(eq(i64, track->lanes.rows[0].pieces.rows[0].start_ns, TRACE_START_NS + 3500));
}

Test(timeline, has_a_bound_and_loses_no_work)
{
	const size_t count = 50000;
	gt_id streams[3];
	struct gt_busy *busy;
	uint64_t works = 0;
	uint64_t total_ns = 0;

	for (size_t i = 0; i < 3; i++)
		streams[i] = trace_stream(&trace, process, device);
	for (size_t i = 0; i < count; i++) {
		const gt_time start_ns = (gt_time)i * 1900;
		const gt_time length_ns = (gt_time)(100 + i * 7919 % 2500);

		trace_kernel(&trace, streams[i % 3], shape, start_ns, start_ns + length_ns);
		total_ns += (uint64_t)length_ns;
	}
	gt_timeline_init(&timeline, &view, MOST);
	cr_expect(le(sz, timeline.piece_count, MOST));
	cr_expect(ge(sz, timeline.piece_count, MOST / 4));
	cr_expect(gt(i64, timeline.together_ns, 0));
	/* Against the same work, counted as it was made, and as report summary has it. */
	gt_array_each(const struct gt_timeline_track, track, &timeline.tracks)
		if (track->kind == GT_TIMELINE_STREAM) {
			works += count_of(track);
			total_ns -= total_of(track);
		}
	cr_expect(eq(u64, works, count));
	cr_expect(eq(u64, total_ns, 0));
	busy = gt_busy_of_devices(&view);
	cr_expect(eq(u64, total_of(track_of(GT_TIMELINE_BUSY)), busy[0].kernels.covered_ns));
	cr_expect(eq(u64, count_of(track_of(GT_TIMELINE_BUSY)), count));
	gt_array_free(busy);
}

Test(timeline, keeps_long_pieces_apart_and_pieces_in_order)
{
	const gt_id stream = trace_stream(&trace, process, device);
	const gt_id rare = trace_shape(&trace, "rare", 1, 32);
	bool found = false;

	for (size_t i = 0; i < 9000; i++)
		trace_kernel(&trace, stream, i == 4500 ? rare : shape, (gt_time)i * 10000,
		             (gt_time)i * 10000 + (i == 4500 ? 9000 : 500));
	gt_timeline_init(&timeline, &view, MOST);
	gt_array_each(const struct gt_timeline_track, track, &timeline.tracks)
		gt_array_each(const struct gt_timeline_lane, lane, &track->lanes)
			for (size_t i = 0; i < lane->pieces.count; i++) {
				const struct gt_timeline_piece *piece = &lane->pieces.rows[i];

				found |= strcmp(gt_strings_get(timeline.names, piece->name),
				                "rare") == 0 &&
				         piece->longest_ns == 9000;
				cr_expect(piece->count == 1 ||
				          piece->end_ns - piece->start_ns <= timeline.together_ns);
				if (i > 0)
					cr_expect(ge(i64, piece->start_ns, piece[-1].end_ns));
			}
	cr_expect(found, "the longest kernel names the piece that it is in");
}

Test(timeline, has_lanes_for_what_goes_on_at_once)
{
	const gt_id thread = trace_thread(&trace, process, 101);
	const struct gt_timeline_track *track;
	gt_id range = GT_NONE;

	for (int i = 0; i < GT_TIMELINE_LANES + 2; i++)
		range = trace_range(&trace, thread, range, "deep", i * 10, 1000 - i * 10);
	trace_range(&trace, thread, GT_NONE, "after", 1000, 1100);
	gt_timeline_init(&timeline, &view, MOST);
	track = track_of(GT_TIMELINE_RANGES);
	cr_expect(eq(sz, track->lanes.count, GT_TIMELINE_LANES));
	cr_expect(eq(u64, track->hidden, 2));
	cr_expect(eq(u64, gt_timeline_hidden(&timeline), 2));
	cr_expect(eq(sz, track->lanes.rows[0].pieces.count, 2));
	cr_expect(eq(str, (char *)track->label, "ranges of thread 101"));
}

Test(timeline, draws_the_busiest_streams)
{
	for (gt_time i = 0; i < GT_TIMELINE_STREAMS + 3; i++)
		trace_kernel(&trace, trace_stream(&trace, process, device), shape, i * 1000,
		             i * 1000 + 100 + i);
	gt_timeline_init(&timeline, &view, MOST);
	cr_expect(eq(u64, timeline.streams_left_out, 3));
	cr_expect(eq(u32, track_of(GT_TIMELINE_STREAM)->row, GT_TIMELINE_STREAMS + 2));
	/* The GPU was busy with all of them. */
	cr_expect(eq(u64, count_of(track_of(GT_TIMELINE_BUSY)), GT_TIMELINE_STREAMS + 3));
}

Test(timeline, has_the_peak_of_memory)
{
	const gt_id thread = trace_thread(&trace, process, 101);
	struct gt_memory_totals totals;
	double highest = 0;

	for (gt_time i = 0; i < 9000; i++)
		trace_allocation(&trace,
		                 trace_call(&trace, thread, "cudaMalloc", i * 100, i * 100 + 10),
		                 device, GT_MEMORY_CALL_ALLOCATE, (gt_size)(i * 31 % 977 + 1),
		                 i * 100 + 350);
	gt_timeline_init(&timeline, &view, MOST);
	cr_assert(eq(sz, timeline.curves.count, 1));
	cr_expect(
		le(sz, timeline.curves.rows[0].values.points.count, 3 * GT_TIMELINE_STRETCHES + 1));
	gt_array_each(const struct gt_point, point, &timeline.curves.rows[0].values.points)
		if (point->value > highest)
			highest = point->value;
	gt_memory_totals_init(&totals, &view);
	cr_expect(gt(u64, totals.of_device[device].peak, 0));
	cr_expect(eq(dbl, highest, (double)totals.of_device[device].peak));
	cr_expect(eq(dbl, timeline.curves.rows[0].peak, highest));
	gt_memory_totals_release(&totals);
}

Test(timeline, of_nothing_has_no_piece)
{
	gt_timeline_init(&timeline, &view, MOST);
	cr_expect(eq(sz, timeline.piece_count, 0));
	cr_expect(eq(sz, timeline.curves.count, 0));
}

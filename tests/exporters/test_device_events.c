/* SPDX-License-Identifier: Apache-2.0 */
/* Covers PART(device_events). For its import see the cases device-events of make_trace. */
#include "support/check.h"

#include <math.h>

#include "exporters/read.h"
#include "exporters/sample.h"
#include "exporters/timeline/device_lanes.h"

static struct gt_trace trace;

static void begin(void)
{
	gt_id process;
	gt_id stream;

	gt_trace_init(&trace);
	process = sample_process(&trace, "app", 42);
	sample_thread(&trace, process, 42);
	stream = sample_stream(&trace, sample_context(&trace, process, sample_device(&trace, 0, 0)),
	                       7);
	sample_kernel(&trace, stream, sample_shape(&trace, "gemm", "gemm", 4), GT_NONE,
	              SAMPLE_START + 1000, SAMPLE_START + 9000);
}

static void finish(void)
{
	sample_finish(&trace, SAMPLE_START + 1000000);
}

static void add(gt_count sm, gt_count block, gt_time start_ns, gt_time end_ns)
{
	sample_device_event(&trace, GT_DEVICE_RANGE, "load", sm, block, SAMPLE_START + start_ns,
	                    SAMPLE_START + end_ns);
}

Test(device_events, stand_below_their_process_by_multiprocessor)
{
	struct file file;
	struct bytes group;
	struct bytes first;
	struct bytes second;

	begin();
	add(12, 0, 1000, 2000);
	add(3, 1, 1100, 2000);
	finish();
	file = export(&trace, true);
	group = find_track(&file, "SMs of NVIDIA H200 #0 (device events)");
	first = find_track(&file, "SM 3");
	second = find_track(&file, "SM 12");
	cr_expect(eq(u64, number_in(group, 11), 3)); /* by rank */
	cr_expect(eq(u64, number_in(first, 5), number_in(group, 1)));
	cr_expect(lt(u64, number_in(first, 12), number_in(second, 12)));
	cr_expect(eq(u64, file.counts.device_slices, 2));
	free(file.bytes);
	gt_trace_release(&trace);
}

/* Blocks 0 and 1 run together; 2 follows block 1 and takes its lane, the first that is free. */
Test(device_events, have_a_lane_for_each_writer_at_a_time)
{
	struct gt_device_lanes lanes;

	begin();
	add(0, 0, 1000, 4000);
	add(0, 1, 1500, 2000);
	add(0, 2, 2000, 3000);
	add(1, 3, 2000, 3000);
	finish();
	gt_device_lanes_init(&lanes, &trace);
	cr_assert(eq(sz, lanes.groups.count, 1));
	cr_expect(eq(u64, lanes.groups.rows[0].events, 4));
	cr_expect(not(lanes.groups.rows[0].too_many));
	cr_expect(eq(uint, lanes.laid[0].lane, 0));
	cr_expect(eq(uint, lanes.laid[1].lane, 1));
	cr_expect(eq(uint, lanes.laid[2].lane, 1));
	cr_expect(eq(uint, gt_device_laid_writer(&lanes, 2)->block, 2));
	cr_expect(eq(uint, lanes.laid[3].lane, 0));
	cr_expect(eq(uint, gt_device_laid_writer(&lanes, 3)->sm, 1));
	gt_device_lanes_release(&lanes);
	gt_trace_release(&trace);
}

/* One more writer at a time than a multiprocessor may have lanes. */
Test(device_events, become_lines_where_they_are_too_many)
{
	const struct gt_export_options options = {.compression = GT_COMPRESSION_NONE};
	struct gt_view view;
	struct file file;

	begin();
	for (gt_count i = 0; i <= GT_DEVICE_LANES_MOST; i++)
		add(0, i, 1000, 5000);
	finish();
	view = gt_view_of(&trace);
	file = export(&trace, true);
	cr_expect(eq(u64, file.counts.device_slices, 0));
	(void)find_track(&file, "SMs of NVIDIA H200 #0 (65 device events, too many for slices)");
	(void)find_track(&file, "writers in load");
	free(file.bytes);
	file = export_as(&view, "chrome", &options);
	cr_expect(eq(u64, file.counts.device_slices, 0));
	cr_expect(eq(u64, file.counts.skipped, 65));
	free(file.bytes);
	gt_trace_release(&trace);
}

static double value_of(struct bytes event)
{
	struct field field;
	double value;

	if (!find(event, 44, &field))
		return (double)number_in(event, 30);
	memcpy(&value, &field.value, sizeof(value));
	return value;
}

/* The least and the most of a line, but for the 0 that it ends with. */
static void read_line(const struct file *file, const char *name, double *least, double *most)
{
	const uint64_t uuid = number_in(find_track(file, name), 1);
	struct bytes rest = all(file);
	uint64_t sequence = 0;
	struct bytes packet;
	double last = NAN;

	*least = *most = NAN;
	while (next_packet(&rest, &packet)) {
		if (number_in(message_in(message_in(packet, 59), 11), 11) == uuid)
			sequence = number_in(packet, SEQUENCE_ID);
		if (sequence == 0 || number_in(packet, SEQUENCE_ID) != sequence ||
		    count_in(packet, TRACK_EVENT) == 0)
			continue;
		*least = fmin(*least, last);
		*most = fmax(*most, last);
		last = value_of(message_in(packet, TRACK_EVENT));
	}
	cr_expect(eq(dbl, last, 0), "%s", name);
}

/* All lines together say how many writers are in any range. */
Test(device_events, count_on_lines_in_the_innermost_range_alone)
{
	struct file file;
	double least;
	double most;

	begin();
	for (gt_count i = 0; i <= GT_DEVICE_LANES_MOST; i++) {
		const gt_id outer = (gt_id)trace.device_events.count;

		add(0, i, 1000, 5000);
		sample_device_event(&trace, GT_DEVICE_RANGE, "wait", 0, i, SAMPLE_START + 2000,
		                    SAMPLE_START + 3000)
			->parent = outer;
	}
	finish();
	file = export(&trace, true);
	read_line(&file, "writers in load", &least, &most);
	cr_expect(eq(dbl, least, 0), "all are in the inner one");
	cr_expect(eq(dbl, most, GT_DEVICE_LANES_MOST + 1));
	read_line(&file, "writers in wait", &least, &most);
	cr_expect(eq(dbl, least, 0));
	cr_expect(eq(dbl, most, GT_DEVICE_LANES_MOST + 1));
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(device_events, are_threads_of_the_gpu_in_a_chrome_trace)
{
	const struct gt_export_options options = {.compression = GT_COMPRESSION_NONE};
	struct gt_view view;
	struct file file;

	begin();
	add(5, 2, 1000, 3000);
	sample_device_event(&trace, GT_DEVICE_INT, "depth", 5, 2, SAMPLE_START + 1500,
	                    SAMPLE_START + 1500)
		->value = 7;
	finish();
	view = gt_view_of(&trace);
	file = export_as(&view, "chrome", &options);
	cr_expect(eq(u64, file.counts.device_slices, 2));
	cr_expect(has_text(&file, "\"args\":{\"name\":\"SM 5\"}"));
	cr_expect(has_text(&file, "{\"ph\":\"X\",\"cat\":\"device_event\",\"name\":\"load\","));
	cr_expect(has_text(&file, "\"args\":{\"block\":2,\"thread\":0,\"kernel\":\"gemm\"}"));
	cr_expect(has_text(&file, "\"kernel\":\"gemm\",\"value\":7}"));
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(device_events, are_left_out_where_there_are_none)
{
	struct file file;

	begin();
	finish();
	file = export(&trace, true);
	cr_expect(eq(u64, file.counts.device_slices, 0));
	cr_expect(not(has_text(&file, "device events")));
	free(file.bytes);
	gt_trace_release(&trace);
}

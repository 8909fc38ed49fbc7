/* SPDX-License-Identifier: Apache-2.0 */
/* Covers PART(memory): what is written of memory in use, in both formats. */
#include "support/check.h"

#include "exporters/read.h"
#include "exporters/sample.h"

enum { TYPE = 9, TYPE_COUNTER = 4, FLOW = 47, FLOW_END = 48 };

static struct gt_trace trace;

static void begin(void)
{
	gt_id process;

	gt_trace_init(&trace);
	process = sample_process(&trace, "app", 42);
	sample_thread(&trace, process, 42);
	sample_context(&trace, process, sample_device(&trace, 0, 0));
}

static void finish(void)
{
	sample_finish(&trace, SAMPLE_START + 1000000);
}

static unsigned count_events(const struct file *file, uint32_t field)
{
	struct bytes rest = all(file);
	struct bytes packet;
	unsigned count = 0;

	while (next_packet(&rest, &packet))
		count += count_in(message_in(packet, TRACK_EVENT), field);
	return count;
}

static unsigned count_values(const struct file *file)
{
	struct bytes rest = all(file);
	struct bytes packet;
	unsigned count = 0;

	while (next_packet(&rest, &packet))
		count += number_in(message_in(packet, TRACK_EVENT), TYPE) == TYPE_COUNTER;
	return count;
}

Test(memory, stands_below_its_process_in_order_and_to_one_scale)
{
	struct file file;
	struct bytes group;
	struct bytes total;
	struct bytes part;

	begin();
	sample_allocation(&trace, GT_MEMORY_CALL_ALLOCATE, 4096, SAMPLE_START + 100, 0);
	sample_allocation(&trace, GT_MEMORY_CALL_CREATE_ARRAY, 512, SAMPLE_START + 500, 0);
	finish();
	file = export(&trace, true);
	group = find_track(&file, "GPU 0 memory");
	total = find_track(&file, "GPU 0 in use");
	part = find_track(&file, "GPU 0 in use: array");
	cr_expect(eq(u64, number_in(group, 11), 3)); /* by rank */
	cr_expect(eq(u64, number_in(total, 5), number_in(group, 1)));
	cr_expect(eq(u64, number_in(part, 5), number_in(group, 1)));
	cr_expect(lt(u64, number_in(total, 12), number_in(part, 12)));
	cr_expect(eq(u64, number_in(message_in(total, 8), 3), 3)); /* bytes */
	cr_expect(text_is(message_in(total, 8), 7, "memory 0"));
	cr_expect(text_is(message_in(part, 8), 7, "memory 0"));
	cr_expect(eq(u64, file.counts.memory_values, count_values(&file)));
	cr_expect(eq(u64, file.counts.memory_values, 3 + 2 + 2));
	cr_expect(eq(u64, file.counts.memory_marks, 3));
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(memory, leads_from_an_allocation_to_its_end)
{
	struct file file;

	begin();
	sample_allocation(&trace, GT_MEMORY_CALL_ALLOCATE, 4096, SAMPLE_START + 100,
	                  SAMPLE_START + 900);
	sample_allocation(&trace, GT_MEMORY_CALL_ALLOCATE, 4096, SAMPLE_START + 500, 0);
	sample_block(&trace, sample_pool(&trace, 0, "torch"), 64, SAMPLE_START + 600,
	             SAMPLE_START + 700);
	finish();
	file = export(&trace, true);
	cr_expect(eq(uint, count_events(&file, FLOW), 2));
	cr_expect(eq(uint, count_events(&file, FLOW_END), 2));
	cr_expect(eq(u64, file.counts.host_arrows, 2));
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(memory, says_beside_a_call_what_it_asked_for)
{
	struct file file;

	begin();
	sample_memory_call(&trace, "cudaMalloc", GT_MEMORY_CALL_ALLOCATE, 4096, SAMPLE_START + 100);
	finish();
	file = export(&trace, true);
	cr_expect(has_text(&file, "memory") && has_text(&file, "device memory"));
	cr_expect(has_text(&file, "bytes") && has_text(&file, "address"));
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(memory, is_left_out_where_nothing_is_known_of_it)
{
	struct file file;

	begin();
	finish();
	file = export(&trace, true);
	cr_expect(eq(u64, file.counts.memory_values + file.counts.memory_marks, 0));
	cr_expect(eq(int, has_text(&file, "GPU 0 memory"), false));
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(memory, is_in_no_other_line_where_a_pool_tells_it)
{
	const struct gt_export_options options = {.compression = GT_COMPRESSION_NONE};
	struct gt_view view;
	struct gt_series *series;
	struct file file;

	begin();
	sample_pool(&trace, 0, "torch");
	series = sample_series(&trace, 1, 2, 1000);
	series->columns[0][0] = 5;
	series->columns[0][1] = 7.5;
	sample_counter(&trace, "bytes_in_use", GT_COUNTER_GAUGE, 0, 0);
	trace.counters.rows[0].pool = 0;
	finish();
	view = gt_view_of(&trace);
	file = export_as(&view, "perfetto", &options);
	cr_expect(eq(u64, file.counts.memory_values, 2));
	cr_expect(eq(uint, count_packets(&file, COUNTER_EVENT), 0));
	cr_expect(eq(uint, count_values(&file), 2));
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(memory, is_the_same_in_a_chrome_trace)
{
	const struct gt_export_options options = {.compression = GT_COMPRESSION_NONE};
	struct gt_view view;
	struct file native;
	struct file file;

	begin();
	sample_allocation(&trace, GT_MEMORY_CALL_ALLOCATE, 4096, SAMPLE_START + 100,
	                  SAMPLE_START + 900);
	sample_block(&trace, sample_pool(&trace, 0, "torch"), 64, SAMPLE_START + 600, 0);
	sample_memory_call(&trace, "cudaMalloc", GT_MEMORY_CALL_ALLOCATE, 1 << 30,
	                   SAMPLE_START + 5000)
		->result = 2;
	finish();
	view = gt_view_of(&trace);
	native = export(&trace, true);
	file = export_as(&view, "chrome", &options);
	cr_expect(eq(u64, file.counts.memory_values, native.counts.memory_values));
	cr_expect(eq(u64, file.counts.memory_marks, native.counts.memory_marks));
	cr_expect(has_text(&file, "{\"ph\":\"C\",\"cat\":\"cuda_memory\",\"name\":\"GPU 0 in use\","
	                          "\"pid\":42,\"tid\":0,\"ts\":0.200,\"args\":{\"bytes\":4096}}"));
	cr_expect(has_text(&file, "\"name\":\"failed: device memory 1 GiB\""));
	cr_expect(has_text(&file, "\"code\":2,\"result\":\"cudaErrorMemoryAllocation\""));
	cr_expect(has_text(&file, "\"name\":\"GPU 0 torch: in use\""));
	cr_expect(has_text(&file, "\"never_freed\":1"));
	free(native.bytes);
	free(file.bytes);
	gt_trace_release(&trace);
}

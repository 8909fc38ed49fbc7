/* SPDX-License-Identifier: Apache-2.0 */
/* Events of kernels, the whole way: from records of a capture to the report and the files. */
#include "analysis/check_report.h"
#include "collector/collect.h"
#include "exporters/read.h"
#include "support/device_recording.h"

enum { TILE = 77, LOAD = 78, STRING_TILE = STRING_NEXT, STRING_LOAD, BLOCKS = 4 };

static const struct device_truth truth = {109355, 8, 32, 1.755};

/* Block 3 begins 1 us after the others and loads three times as long. */
static void write_block(struct recording *recording, uint32_t block)
{
	const double start_ns = block == 3 ? 5002000 : 5001000;
	const double load_ns = block == 3 ? 9000 : 3000;
	struct device_writer writer = {
		.recording = recording,
		.truth = &truth,
		.grid_id = 5,
		.context = CONTEXT,
		.sm = 2 * block,
		.block = block,
		.blocks = BLOCKS,
		.threads = 256,
	};

	write_chunk(&writer, block + 1, start_ns, 0);
	write_event(&writer, start_ns, GPUTRACE_DEVICE_BEGIN, TILE, 0);
	write_event(&writer, start_ns + 500, GPUTRACE_DEVICE_BEGIN, LOAD, 0);
	write_event(&writer, start_ns + 500 + load_ns, GPUTRACE_DEVICE_END, LOAD, 0);
	write_event(&writer, start_ns + 10000, GPUTRACE_DEVICE_END | GPUTRACE_DEVICE_TIMED, TILE,
	            0);
}

static struct gt_trace record(void)
{
	struct recording recording;
	struct gt_trace trace;

	recording_init(&recording);
	recording_begin(&recording, "node-1-1");
	recording_add_basics(&recording, 1);
	recording_add_string(&recording, STRING_TILE, "tile");
	recording_add_string(&recording, STRING_LOAD, "load");
	recording_add(&recording, device_name, .number = TILE, .name = STRING_TILE);
	recording_add(&recording, device_name, .number = LOAD, .name = STRING_LOAD);
	for (uint32_t i = 0; i < 100; i++)
		add_calibration(&recording, &truth, 1000000 + i, 1000000 + 10000000ull * i,
		                1600 + 32 * (i * 7 % 40), 300 + 16 * (i * 5 % 10));
	add_launch(&recording, 1, 5000000, 5020000, 5);
	for (uint32_t block = 0; block < BLOCKS; block++)
		write_block(&recording, block);
	recording_end(&recording, true);
	trace = collect(&recording);
	recording_release(&recording);
	return trace;
}

/* Within 2 percent, and what %globaltimer goes on by at either end. */
#define expect_about(result, title, heading, expected)                                             \
	cr_expect(epsilon_eq(dbl, (double)cell(result, title, 0, heading)->count, expected,        \
	                     0.02 * (expected) + 2 * 32))

Test(device_told, goes_from_records_to_the_report)
{
	struct gt_trace trace = record();
	struct gt_result result;

	run_report(&result, "device-events", &trace);
	cr_assert(eq(sz, row_count(&result, "ranges"), 2));
	expect_words(&result, "ranges", 0, "name", "tile");
	expect_words(&result, "ranges", 1, "name", "load");
	expect_count(&result, "ranges", 0, "count", BLOCKS);
	expect_about(&result, "ranges", "total_ns", 40000.0);
	expect_about(&result, "ranges", "own_ns", 40000.0 - 18000.0);
	expect_about(&result, "kernels", "late_ns", 1000.0);
	expect_about(&result, "kernels", "tail_ns", 1000.0);
	expect_count(&result, "kernels", 0, "total_ns", 20000);
	cr_expect(has_remark(&result, "SM 6 is the last"));
	cr_expect(has_remark(&result, "%globaltimer goes on by 32 ns"));
	gt_result_release(&result);
	gt_trace_release(&trace);
}

Test(device_told, goes_from_records_to_the_files)
{
	const struct gt_export_options options = {.compression = GT_COMPRESSION_NONE};
	struct gt_trace trace = record();
	const struct gt_view view = gt_view_of(&trace);
	struct file file = export(&trace, true);

	cr_expect(eq(u64, file.counts.device_slices, 2ull * BLOCKS));
	(void)find_track(&file, "SM 6");
	free(file.bytes);
	file = export_as(&view, "chrome", &options);
	cr_expect(eq(u64, file.counts.device_slices, 2ull * BLOCKS));
	cr_expect(has_text(&file, "\"args\":{\"name\":\"SM 6\"}"));
	free(file.bytes);
	gt_trace_release(&trace);
}

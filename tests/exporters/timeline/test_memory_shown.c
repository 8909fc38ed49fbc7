/* SPDX-License-Identifier: Apache-2.0 */
/* Also of exporters/timeline/memory_picked.h and exporters/timeline/memory_words.c. */
#include "exporters/timeline/memory_shown.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/strings.h"
#include "exporters/timeline/memory_picked.h"
#include "model/kinds/memory.h"
#include "model/view/view.h"
#include "support/check.h"
#include "support/scene.h"

static struct gt_memory_shown shown;

static struct gt_allocation *allocate(gt_count kind, gt_size bytes, gt_time start_ns,
                                      gt_time end_ns)
{
	const gt_id call = trace_call(&trace, thread, "cudaMalloc", start_ns, start_ns + 5);

	return trace_allocation(&trace, call, device, kind, bytes, end_ns);
}

static void show(void)
{
	const struct gt_view view = gt_view_of(&trace);

	gt_memory_shown_init(&shown, &view);
}

static void end(void)
{
	gt_memory_shown_release(&shown);
	gt_trace_release(&trace);
}

/* The line of that name; NULL: there is none, or it is not shown. */
static const struct gt_memory_line *find_line(const char *wanted)
{
	gt_array_each(const struct gt_memory_line, line, &shown.lines) {
		char name[GT_MEMORY_NAME_SIZE];

		gt_memory_line_name(&shown, line, 3, name);
		if (strcmp(name, wanted) == 0 && gt_memory_line_is_shown(line))
			return line;
	}
	return NULL;
}

/* values: "time=bytes time=bytes", times as moments. */
static void expect_line(const char *name, const char *values)
{
	const struct gt_memory_line *line = find_line(name);
	char text[512] = "";

	cr_assert(line != NULL, "no line %s", name);
	gt_array_each(const struct gt_point, point, &line->values.points)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%lld=%g",
		         *text ? " " : "", (long long)(point->time_ns - TRACE_START_NS),
		         point->value);
	expect_text(text, values);
}

/* "time name, time name" of all marks. */
static void expect_marks(const char *marks)
{
	char text[1024] = "";

	gt_array_each(const struct gt_memory_mark, mark, &shown.marks) {
		char name[GT_MEMORY_NAME_SIZE];

		gt_memory_mark_name(&shown, mark, name);
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%lld %s",
		         *text ? ", " : "", (long long)(mark->time_ns - TRACE_START_NS), name);
	}
	expect_text(text, marks);
}

Test(memory_shown, adds_up_what_is_on_a_gpu_and_shows_the_rest_apart)
{
	scene_begin(1000);
	allocate(GT_MEMORY_CALL_ALLOCATE, 100, 10, 50);
	allocate(GT_MEMORY_CALL_CREATE_ARRAY, 30, 20, 0);
	allocate(GT_MEMORY_CALL_ALLOCATE_MANAGED, 7, 30, 0);
	allocate(GT_MEMORY_CALL_IMPORT, 9, 31, 0);
	allocate(GT_MEMORY_CALL_RESERVE, 4096, 32, 0);
	allocate(GT_MEMORY_CALL_MAP, 4096, 33, 0);
	allocate(GT_MEMORY_CALL_ALLOCATE_HOST, 11, 40, 0)->device = GT_NONE;
	allocate(GT_MEMORY_CALL_REGISTER, 13, 41, 0)->device = GT_NONE;
	show();
	expect_line("GPU 3 in use", "0=0 15=100 25=130 50=30");
	expect_line("GPU 3 in use: device memory", "0=0 15=100 50=0");
	expect_line("GPU 3 in use: array", "0=0 25=30");
	expect_line("GPU 3 managed memory", "0=0 35=7");
	expect_line("GPU 3 imported physical memory", "0=0 36=9");
	expect_line("Host in use", "0=0 45=11");
	expect_line("Host registered memory", "0=0 46=13");
	cr_expect(find_line("GPU 3 mapping") == NULL);
	cr_expect(find_line("GPU 3 reserved addresses") == NULL);
	end();
}

Test(memory_shown, marks_begins_ends_and_peaks)
{
	scene_begin(1000);
	allocate(GT_MEMORY_CALL_ALLOCATE, 1024, 10, 50);
	allocate(GT_MEMORY_CALL_ALLOCATE, 512, 20, 0);
	show();
	expect_marks("15 device memory 1 KiB, 25 device memory 512 B, 25 peak: 1.50 KiB,"
	             " 50 end of device memory 1 KiB");
	cr_expect(shown.marks.rows[0].at_peak && shown.marks.rows[3].at_peak);
	cr_expect(eq(i64, shown.marks.rows[0].lived_ns, 35));
	cr_expect(eq(i64, shown.marks.rows[1].lived_ns, INT64_MAX));
	cr_expect(eq(u64, shown.peaks[0].bytes, 1536));
	cr_expect(eq(u64, shown.peaks[0].count, 2));
	end();
}

Test(memory_shown, marks_what_failed_with_what_was_in_use_then)
{
	gt_id call;

	scene_begin(1000);
	allocate(GT_MEMORY_CALL_ALLOCATE, 2048, 10, 0);
	call = trace_call(&trace, thread, "cudaMalloc", 40, 45);
	trace_memory_call(&trace, call, GT_MEMORY_CALL_ALLOCATE, 1 << 30, 2)->place = device;
	show();
	expect_marks("15 device memory 2 KiB, 15 peak: 2 KiB, 40 failed: device memory 1 GiB");
	cr_expect(eq(u64, shown.marks.rows[2].in_use_bytes, 2048));
	end();
}

/* "name, name" of the groups that marks of failures stand in. */
static void expect_failed_in(const char *names)
{
	char text[512] = "";

	gt_array_each(const struct gt_memory_mark, mark, &shown.marks) {
		char name[GT_MEMORY_NAME_SIZE];

		if (mark->is != GT_MEMORY_MARK_FAILED)
			continue;
		gt_memory_group_name(&shown, mark->group,
		                     shown.groups.rows[mark->group].device == device ? 3 : 4, name);
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
		         *text ? ", " : "", name);
	}
	expect_text(text, names);
}

/* The call says where, else its context does, whatever else has it. */
Test(memory_shown, marks_what_failed_where_it_was_to_be)
{
	gt_id other;
	gt_id calls[4];

	scene_begin(1000);
	other = trace_device(&trace);
	for (int i = 0; i < 4; i++)
		calls[i] = trace_call(&trace, thread, "cudaMalloc", 10 * i + 10, 10 * i + 15);
	for (int i = 0; i < 4; i++) {
		struct gt_memory_call *call =
			trace_memory_call(&trace, calls[i], GT_MEMORY_CALL_ALLOCATE, 8, 2);

		call->context = i < 2 ? trace.streams.rows[stream].context : GT_NONE;
		call->place = i % 2 == 0 ? other : GT_NONE;
	}
	show();
	expect_failed_in("GPU 4 memory, GPU 3 memory, GPU 4 memory, CUDA memory");
	end();
}

Test(memory_shown, shows_blocks_of_a_pool_and_what_the_pool_says)
{
	const double reserved[] = {4096, 8192};
	gt_id pool;

	scene_begin(1000);
	pool = trace_pool(&trace, process, device, "torch");
	trace_block(&trace, pool, 512, 10, 60);
	trace_block(&trace, pool, 1024, 20, 0);
	trace_counter(&trace, GT_NONE, "bytes_reserved", GT_COUNTER_GAUGE, 30, 10, reserved, 2);
	trace.counters.rows[0].pool = pool;
	trace.counters.rows[0].unit = gt_strings_add(trace.strings, "bytes");
	show();
	expect_line("GPU 3 torch: in use", "0=0 10=512 20=1536 60=1024");
	expect_line("GPU 3 torch: reserved", "30=4096 40=8192");
	cr_expect(gt_memory_line_is_bytes(&shown, find_line("GPU 3 torch: reserved")));
	expect_marks("10 allocate 512 B, 20 allocate 1 KiB, 20 peak: 1.50 KiB, 60 free 512 B");
	end();
}

Test(memory_shown, takes_the_peak_of_a_pool_without_blocks_from_what_it_says)
{
	const double used[] = {100, 300, 200};
	gt_id pool;

	scene_begin(1000);
	pool = trace_pool(&trace, process, GT_NONE, "staging");
	allocate(GT_MEMORY_CALL_ALLOCATE, 5, 50, 0);
	trace_counter(&trace, GT_NONE, "bytes_in_use", GT_COUNTER_GAUGE, 30, 10, used, 3);
	trace.counters.rows[0].pool = pool;
	show();
	expect_line("Host staging: in use", "30=100 40=300 50=200");
	expect_marks("40 peak: 300 B, 55 device memory 5 B, 55 peak: 5 B");
	end();
}

Test(memory_shown, begins_a_window_with_what_was_there_before)
{
	struct gt_view view;

	scene_begin(1000);
	allocate(GT_MEMORY_CALL_ALLOCATE, 100, 10, 90);
	allocate(GT_MEMORY_CALL_ALLOCATE, 30, 60, 500);
	view = gt_view_of(&trace);
	view.start_ns = TRACE_START_NS + 50;
	view.end_ns = TRACE_START_NS + 200;
	gt_memory_shown_init(&shown, &view);
	expect_line("GPU 3 in use", "50=100 65=130 90=30");
	expect_marks("65 device memory 30 B, 65 peak: 130 B, 90 end of device memory 100 B");
	end();
}

Test(memory_shown, ends_lines_with_their_process)
{
	scene_begin(1000);
	trace.processes.rows[process].end_ns = TRACE_START_NS + 400;
	trace.processes.rows[process].ended = GT_END_DIED;
	allocate(GT_MEMORY_CALL_ALLOCATE, 100, 10, 0);
	show();
	expect_line("GPU 3 in use", "0=0 15=100 400=0");
	gt_memory_shown_release(&shown);
	trace.processes.rows[process].ended = GT_END_RUNNING;
	show();
	expect_line("GPU 3 in use", "0=0 15=100");
	end();
}

Test(memory_shown, names_places)
{
	char name[GT_MEMORY_NAME_SIZE];

	scene_begin(1000);
	allocate(GT_MEMORY_CALL_ALLOCATE, 1, 10, 0);
	allocate(GT_MEMORY_CALL_ALLOCATE, 1, 20, 0)->device = GT_NONE;
	allocate(GT_MEMORY_CALL_ALLOCATE_HOST, 1, 30, 0);
	show();
	gt_memory_group_name(&shown, 0, 3, name);
	expect_text(name, "GPU 3 memory");
	gt_memory_group_name(&shown, 1, 3, name);
	expect_text(name, "CUDA memory");
	gt_memory_group_name(&shown, 2, 3, name);
	expect_text(name, "Host memory");
	end();
}

/* Rows of growing size of which every tenth is there at the peak and every hundredth never ends. */
static struct gt_memory_span span_of(const void *context, gt_id row)
{
	const size_t count = *(const size_t *)context;

	return (struct gt_memory_span){
		.begin_ns = row % 10 ? 100 : 10,
		.end_ns = row % 100 ? 200 : INT64_MAX,
		.peak_ns = 50,
		.size_bytes = row < count - 10 ? 1000 : 2000,
		.in_view = row != 7,
	};
}

static size_t count_picked(size_t count, bool *picked)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		found += picked[i];
	return found;
}

Test(memory_picked, picks_all_of_few)
{
	size_t count = GT_MEMORY_MARKED_ALL + 1; /* one is not in view */
	bool *picked = gt_memory_pick(count, span_of, &count);

	cr_expect(eq(sz, count_picked(count, picked), GT_MEMORY_MARKED_ALL));
	cr_expect(eq(int, picked[7], false));
	gt_array_free(picked);
}

Test(memory_picked, picks_the_largest_those_at_the_peak_and_those_never_freed)
{
	size_t count = 600000;
	bool *picked = gt_memory_pick(count, span_of, &count);

	/* The ten large ones and the first of the others: 4,990, but for row 7. */
	for (gt_id row = 0; row < 4990; row++)
		cr_assert(picked[row] == (row != 7), "row %u", row);
	for (gt_id row = (gt_id)count - 10; row < count; row++)
		cr_assert(picked[row], "row %u", row);
	/* The first 5,000 of every tenth go as far as row 49,990, but one is large; those of
	 * every hundredth as far as 499,900. */
	cr_expect(picked[40000] && picked[49980] && !picked[49991]);
	cr_expect(picked[499800] && !picked[500100]);
	cr_expect(lt(sz, count_picked(count, picked), 15000));
	gt_array_free(picked);
}

Test(memory_shown, puts_what_a_pool_says_in_order_and_most_of_it_to_one_scale)
{
	static const char *const names[] = {"limit", "bytes_reserved", "peak_bytes_in_use",
	                                    "bytes_in_use", "arena_bytes"};
	const double value = 100;
	const struct gt_memory_line *limit;

	scene_begin(1000);
	trace_pool(&trace, process, device, "torch");
	for (size_t i = 0; i < GT_COUNT_OF(names); i++) {
		trace_counter(&trace, GT_NONE, names[i], GT_COUNTER_GAUGE, 30, 10, &value, 1);
		trace.counters.rows[i].pool = 0;
	}
	show();
	limit = find_line("GPU 3 torch: limit");
	cr_expect(eq(sz, shown.lines.count, 4));
	cr_expect(gt_memory_line_rank(&shown, find_line("GPU 3 torch: in use")) <
	          gt_memory_line_rank(&shown, find_line("GPU 3 torch: reserved")));
	cr_expect(gt_memory_line_rank(&shown, find_line("GPU 3 torch: reserved")) <
	          gt_memory_line_rank(&shown, limit));
	cr_expect(gt_memory_line_rank(&shown, limit) <
	          gt_memory_line_rank(&shown, find_line("GPU 3 torch: arena bytes")));
	cr_expect(gt_memory_line_is_to_scale(&shown, find_line("GPU 3 torch: reserved")));
	cr_expect(eq(int, gt_memory_line_is_to_scale(&shown, limit), false));
	end();
}

Test(memory_shown, knows_what_cudas_pools_say_by_their_words)
{
	const double values[] = {10, 20};

	scene_begin(1000);
	trace_pool(&trace, process, device, "default pool");
	trace_counter(&trace, device, "bytes_in_use", GT_COUNTER_GAUGE, 30, 10, values, 2);
	trace_counter(&trace, device, "bytes_reserved", GT_COUNTER_GAUGE, 30, 10, values, 2);
	trace_counter(&trace, device, "peak_bytes_in_use", GT_COUNTER_GAUGE, 30, 10, values, 2);
	gt_array_each(struct gt_counter, counter, &trace.counters)
		counter->pool = 0;
	show();
	expect_line("GPU 3 default pool: in use", "30=10 40=20");
	expect_line("GPU 3 default pool: reserved", "30=10 40=20");
	cr_expect(eq(sz, shown.lines.count, 2));
	expect_marks("40 peak: 20 B");
	end();
}

Test(memory_shown, tells_pools_of_one_name_apart)
{
	static const char *const names[] = {"torch", "torch", "", "other"};
	static const char *const wanted[] = {"GPU 3 memory: torch 5", "GPU 3 memory: torch 6",
	                                     "GPU 3 memory: pool 7", "GPU 3 memory: other"};

	scene_begin(1000);
	for (gt_count i = 0; i < GT_COUNT_OF(names); i++) {
		const gt_id pool = trace_pool(&trace, process, device, names[i]);

		trace.pools.rows[pool].number = 5 + i;
		trace_block(&trace, pool, 512, 10 + i, 0);
	}
	show();
	for (uint32_t i = 0; i < GT_COUNT_OF(wanted); i++) {
		char name[GT_MEMORY_NAME_SIZE];

		gt_memory_group_name(&shown, i, 3, name);
		expect_text(name, wanted[i]);
	}
	end();
}

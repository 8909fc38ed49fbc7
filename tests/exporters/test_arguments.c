/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of the slices of a GPU, value for value. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/strings.h"
#include "exporters/read.h"
#include "exporters/sample.h"
#include "model/naming/kernel_names.h"

enum { KNOWN = 7 }; /* of an argument: a text that the file interned */
enum { KERNEL_IID = 19, NAME_IID = 20, LAUNCH = 21 }; /* of a slice */
enum {
	EVENT_NAMES = 2,
	ANNOTATION_TEXTS = 29,
	KERNELS = 1000,
	ARG_NAMES = 1001
}; /* tables of interned entries */

static struct gt_trace trace;
static struct file file;

/* Two GPUs of one machine, whose numbers there are 2 and 5; a process with a stream on each. */
static void make(void)
{
	gt_id process;

	gt_trace_init(&trace);
	process = sample_process(&trace, "app", 50);
	sample_thread(&trace, process, 51);
	sample_stream(&trace, sample_context(&trace, process, sample_device(&trace, 2, 4)), 13);
	sample_stream(&trace, sample_context(&trace, process, sample_device(&trace, 5, 3)), 7);
	sample_shape(&trace, "_Z4stepv", "step()", 4);
}

static void drop(void)
{
	free(file.bytes);
	gt_trace_release(&trace);
}

TestSuite(arguments, .init = make, .fini = drop);

static void write(void)
{
	sample_finish(&trace, SAMPLE_START + 5000);
	file = export(&trace, true);
}

/* An entry of a table that the file interned, by its number. */
static struct bytes interned(uint32_t table, uint64_t iid)
{
	struct bytes rest = all(&file);
	struct bytes packet;
	struct field entry;

	while (next_packet(&rest, &packet))
		for (unsigned i = 0; find_nth(message_in(packet, INTERNED_DATA), table, i, &entry);
		     i++)
			if (number_in(entry.bytes, 1) == iid)
				return entry.bytes;
	cr_assert(false, "%llu of table %u is not said", (unsigned long long)iid, table);
	return (struct bytes){0};
}

static struct bytes slice(unsigned n)
{
	return message_in(find_packet(&file, RENDER_STAGE, n), RENDER_STAGE);
}

/* The argument of that name among the fields of that number. */
static struct bytes argument(struct bytes message, uint32_t list, const char *name)
{
	struct field argument;

	for (unsigned i = 0; find_nth(message, list, i, &argument); i++)
		if (text_is(interned(ARG_NAMES, number_in(argument.bytes, 1)), 2, name))
			return argument.bytes;
	cr_assert(false, "no argument %s", name);
	return (struct bytes){0};
}

/* Argument of the nth slice; a kernel's stands with those that all its launches share. */
static struct bytes argument_of(unsigned n, const char *name)
{
	const uint64_t kernel = number_in(slice(n), KERNEL_IID);

	return kernel ? argument(interned(KERNELS, kernel), 5, name)
	              : argument(message_in(slice(n), LAUNCH), 3, name);
}

static void expect_number(unsigned n, const char *name, int64_t expected)
{
	const int64_t value = (int64_t)number_in(argument_of(n, name), 3);

	cr_expect(value == expected, "%s is %lld, not %lld", name, (long long)value,
	          (long long)expected);
}

static void expect_real(unsigned n, const char *name, double expected)
{
	const uint64_t bits = number_in(argument_of(n, name), 5);
	double value;

	memcpy(&value, &bits, sizeof(value));
	cr_expect(epsilon_eq(dbl, value, expected, 1e-6), "%s", name);
}

static void expect_words(unsigned n, const char *name, const char *expected)
{
	cr_expect(text_is(argument_of(n, name), 6, expected), "%s is not %s", name, expected);
}

Test(arguments, of_a_kernel_are_its_shape_and_what_that_leaves_unused)
{
	struct gt_launch_shape *shape = &trace.launch_shapes.rows[0];

	shape->registers = 64;
	shape->cluster_x = 2;
	shape->cluster_y = 3;
	shape->cluster_z = 1;
	shape->cache_config = 2;
	shape->family = GT_FAMILY_gemm;
	shape->origin = GT_ORIGIN_cublas;
	shape->tile = gt_strings_add(trace.strings, "128x64");
	shape->barriers = 4;
	sample_kernel(&trace, 0, 0, GT_NONE, SAMPLE_START + 100, SAMPLE_START + 200);
	write();
	expect_number(0, "grid_size", 4 * 2);
	expect_number(0, "workgroup_size", 128);
	expect_number(0, "thread_count", 4 * 2 * 128);
	expect_number(0, "registers_per_thread", 64);
	expect_number(0, "shared_mem_static", 256);
	expect_number(0, "shared_mem_dynamic", 1024);
	expect_number(0, "shared_mem_config_size", 102400);
	expect_words(0, "func_cache_config", "CachePreferL1");
	expect_words(0, "family", "gemm");
	expect_words(0, "origin", "cuBLAS");
	expect_words(0, "tile", "128x64");
	expect_number(0, "cluster_x", 2);
	expect_number(0, "cluster_y", 3);
	expect_number(0, "cluster_z", 1);
	/* 4 warps a block of 64; 2048 registers a warp of 65536; 2304 bytes a block of 102400. */
	expect_number(0, "occupancy_limit_warps", 16);
	expect_number(0, "occupancy_limit_registers", 8);
	expect_number(0, "occupancy_limit_shared_mem", 44);
	expect_number(0, "occupancy_limit_blocks", 32);
	expect_number(0, "occupancy_limit_barriers", 16);
	expect_number(0, "barriers_per_block", 4);
	expect_number(0, "sm__maximum_warps_avg_per_active_cycle", 32);
	expect_real(0, "sm__maximum_warps_per_active_cycle_pct", 50);
	expect_words(0, "occupancy_limited_by", "registers");
	expect_real(0, "waves_per_multiprocessor", 0.00758); /* 8 / (8 x 132), three digits */
	expect_real(0, "last_wave_empty_percent", 99.2);
	expect_words(0, "process_name", "app");
	expect_number(0, "process_id", 50);
	expect_number(0, "device", 4);
	expect_number(0, "stream", 13);
}

static void count_bytes(const char *name, double value)
{
	*gt_array_push(&trace.kernel_counters) = (struct gt_kernel_counter){
		.kernel = 0, .name = gt_strings_add(trace.strings, name), .value = value};
}

/* An argument of the launch itself, in its own list. */
static struct bytes own(unsigned n, const char *name)
{
	return argument(message_in(slice(n), LAUNCH), 3, name);
}

static double own_real(unsigned n, const char *name)
{
	const uint64_t bits = number_in(own(n, name), 5);
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* The first was profiled: 2 us by its counters, whatever its slice lasts. The third is not known. */
Test(arguments, of_a_kernel_are_the_bytes_that_are_known_of_it)
{
	gt_id call;
	gt_id range;

	sample_kernel(&trace, 0, 0, GT_NONE, SAMPLE_START + 100, SAMPLE_START + 900)->flags =
		GT_PROFILED;
	count_bytes("duration_ns", 2000);
	count_bytes("dram_read_bytes", 6000);
	count_bytes("dram_write_bytes", 2000);
	range = sample_range(&trace, 0, GT_NONE, "copy", SAMPLE_START + 1000, SAMPLE_START + 1100);
	trace.ranges.rows[range].data = gt_strings_add(
		trace.strings, "[{\"gputrace.read_bytes\":300,\"gputrace.write_bytes\":100}]");
	call = sample_call(&trace, 0, "cudaLaunchKernel", SAMPLE_START + 1010, SAMPLE_START + 1020);
	trace.api_calls.rows[call].range = range;
	sample_kernel(&trace, 0, 0, call, SAMPLE_START + 1200, SAMPLE_START + 1400);
	sample_kernel(&trace, 0, 0, GT_NONE, SAMPLE_START + 2000, SAMPLE_START + 2100);
	write();
	cr_expect(eq(dbl, own_real(0, "bytes"), 8000));
	cr_expect(eq(dbl, own_real(0, "read_bytes"), 6000));
	cr_expect(eq(dbl, own_real(0, "write_bytes"), 2000));
	cr_expect(eq(dbl, own_real(0, "gb_per_s"), 4));
	cr_expect(text_is(own(0, "bytes_from"), 6, "kernel counters"));
	cr_expect(eq(dbl, own_real(1, "bytes"), 400));
	cr_expect(eq(dbl, own_real(1, "gb_per_s"), 2));
	cr_expect(text_is(own(1, "bytes_from"), 6, "declared"));
	cr_expect(eq(uint, count_in(message_in(slice(2), LAUNCH), 3), 0));
}

/* 8 blocks, of which 16 fit on one of 33 multiprocessors. */
Test(arguments, of_a_kernel_in_a_green_context_are_of_its_multiprocessors)
{
	sample_kernel(&trace, 0, 0, GT_NONE, SAMPLE_START + 100, SAMPLE_START + 200);
	trace.contexts.rows[trace.streams.rows[0].context].sm_count = 33;
	write();
	expect_number(0, "multiprocessors", 33);
	expect_real(0, "waves_per_multiprocessor", 0.0152);
	expect_real(0, "last_wave_empty_percent", 98.5);
}

Test(arguments, of_a_kernel_name_it_in_both_ways_and_its_architecture)
{
	struct bytes kernel;

	sample_kernel(&trace, 0, 0, GT_NONE, SAMPLE_START + 100, SAMPLE_START + 200)->graph = 77;
	write();
	kernel = interned(KERNELS, number_in(slice(0), KERNEL_IID));
	cr_expect(text_is(kernel, 2, "_Z4stepv"));
	cr_expect(text_is(kernel, 3, "step()"));
	cr_expect(text_is(kernel, 4, "sm_90"));
	cr_expect(number_in(slice(0), 2) == 100, "its duration");
	cr_expect(number_in(slice(0), 11) == 2, "its GPU");
	cr_expect(number_in(message_in(message_in(slice(0), LAUNCH), 1), 1) == 4, "grid x");
	cr_expect(number_in(message_in(message_in(slice(0), LAUNCH), 1), 2) == 2, "grid y");
	cr_expect(number_in(message_in(message_in(slice(0), LAUNCH), 2), 1) == 128, "block x");
	cr_expect(number_in(argument(message_in(slice(0), LAUNCH), 3, "graph"), 3) == 77);
}

static bool has_own_argument(unsigned n, const char *name)
{
	const struct bytes message = message_in(slice(n), LAUNCH);
	struct field own;

	for (unsigned i = 0; find_nth(message, 3, i, &own); i++)
		if (text_is(interned(ARG_NAMES, number_in(own.bytes, 1)), 2, name))
			return true;
	return false;
}

/* Each function has a first launch on each GPU, whatever the shape. */
Test(arguments, of_a_kernel_say_whether_it_is_the_first_of_its_function)
{
	static const bool first[] = {true, false, true, false, false};

	sample_shape(&trace, "_Z4stepv", "step()", 8);
	sample_kernel(&trace, 0, 0, GT_NONE, SAMPLE_START + 100, SAMPLE_START + 200);
	sample_kernel(&trace, 0, 1, GT_NONE, SAMPLE_START + 300, SAMPLE_START + 400);
	sample_kernel(&trace, 1, 1, GT_NONE, SAMPLE_START + 500, SAMPLE_START + 600);
	sample_kernel(&trace, 1, 0, GT_NONE, SAMPLE_START + 700, SAMPLE_START + 800)->graph = 3;
	sample_kernel(&trace, 0, 0, GT_NONE, SAMPLE_START + 900, SAMPLE_START + 1000);
	write();
	for (unsigned i = 0; i < 5; i++)
		cr_expect(eq(int, has_own_argument(i, "first_launch"), first[i]), "slice %u", i);
	cr_expect(number_in(argument(message_in(slice(0), LAUNCH), 3, "first_launch"), 3) == 1);
	cr_expect(number_in(argument(message_in(slice(3), LAUNCH), 3, "graph"), 3) == 3);
}

/* A launch that was run several times for its counters has a title and an argument of its own. */
Test(arguments, of_a_kernel_say_whether_it_was_profiled)
{
	static const bool profiled[] = {false, true, false, true};
	struct field field;

	for (unsigned i = 0; i < 4; i++)
		if (profiled[i])
			sample_kernel(&trace, 0, 0, GT_NONE, SAMPLE_START + 100 + 200 * i,
			              SAMPLE_START + 200 + 200 * i)
				->flags = GT_PROFILED;
		else
			sample_kernel(&trace, 0, 0, GT_NONE, SAMPLE_START + 100 + 200 * i,
			              SAMPLE_START + 200 + 200 * i);
	write();
	for (unsigned i = 0; i < 4; i++) {
		const struct bytes title = interned(EVENT_NAMES, number_in(slice(i), NAME_IID));
		const struct bytes kernel = interned(KERNELS, number_in(slice(i), KERNEL_IID));
		bool marked = false;

		for (unsigned n = 0; find_nth(kernel, 5, n, &field); n++)
			marked |= text_is(interned(ARG_NAMES, number_in(field.bytes, 1)), 2,
			                  "profiled");
		cr_expect(eq(int, marked, profiled[i]), "slice %u", i);
		cr_expect(text_is(title, 2, profiled[i] ? "profiled: step()" : "step()"));
	}
	expect_number(1, "profiled", 1);
	expect_number(1, "thread_count", 1024);
}

Test(arguments, of_a_copy_are_its_bytes_ends_and_rate)
{
	sample_copy(&trace, 1, GT_COPY_HOST_TO_DEVICE, GT_NONE, SAMPLE_START + 100,
	            SAMPLE_START + 100 + (1 << 10))
		->graph = 5;
	write();
	expect_number(0, "bytes", 1 << 20);
	expect_words(0, "kind", "HtoD");
	expect_words(0, "src", "pinned");
	expect_words(0, "dst", "device");
	expect_real(0, "gb_per_s", 1020); /* 1 MiB in 1024 ns, three digits */
	expect_number(0, "graph", 5);
	expect_number(0, "stream", 7);
	expect_number(0, "device", 3);
	cr_expect(number_in(slice(0), 11) == 5, "its GPU");
}

/* An executable graph's node 1, whose origin is node 0, and the name of the call that made that. */
static void add_nodes(const char *function)
{
	const gt_string made_by = gt_strings_add(trace.strings, function);

	*gt_array_push(&trace.graph_nodes) = (struct gt_graph_node){
		.origin = 0, .made_by = made_by, .thread = 0, .exec = GT_NONE};
	*gt_array_push(&trace.graph_nodes) =
		(struct gt_graph_node){.origin = 0, .thread = GT_NONE, .exec = GT_NONE};
}

Test(arguments, of_what_came_from_a_graph_name_its_node_and_who_made_it)
{
	struct gt_kernel *kernel;
	struct gt_copy *copy;

	add_nodes("cuLaunchKernel");
	kernel = sample_kernel(&trace, 0, 0, GT_NONE, SAMPLE_START + 100, SAMPLE_START + 200);
	kernel->graph = 77;
	kernel->graph_node = (UINT64_C(77) << 32) | 5;
	kernel->node = 1;
	copy = sample_copy(&trace, 1, GT_COPY_HOST_TO_DEVICE, GT_NONE, SAMPLE_START + 300,
	                   SAMPLE_START + 400);
	copy->graph = 78;
	copy->graph_node = 9;
	copy->node = 0;
	write();
	cr_expect(number_in(argument(message_in(slice(0), LAUNCH), 3, "graph_node"), 3) ==
	          (UINT64_C(77) << 32 | 5));
	cr_expect(
		text_is(argument(message_in(slice(0), LAUNCH), 3, "made_by"), 6, "cuLaunchKernel"));
	cr_expect(number_in(argument(message_in(slice(0), LAUNCH), 3, "made_on_thread"), 3) == 51);
	expect_number(1, "graph_node", 9);
	expect_words(1, "made_by", "cuLaunchKernel");
}

static void expect_known(unsigned n, const char *name, const char *expected)
{
	const uint64_t iid = number_in(argument(message_in(slice(n), LAUNCH), 3, name), KNOWN);

	cr_expect(text_is(interned(ANNOTATION_TEXTS, iid), 2, expected), "%s is not %s", name,
	          expected);
}

static bool has_argument(unsigned n, const char *name)
{
	struct field argument;

	for (unsigned i = 0; find_nth(message_in(slice(n), LAUNCH), 3, i, &argument); i++)
		if (text_is(interned(ARG_NAMES, number_in(argument.bytes, 1)), 2, name))
			return true;
	return false;
}

/* Two ranges may have to do with what a graph ran: one launched it, in the other it was captured. */
Test(arguments, of_what_came_from_a_graph_name_both_its_ranges)
{
	const gt_id capture =
		sample_range(&trace, 0, GT_NONE, "capture", SAMPLE_START + 10, SAMPLE_START + 50);
	const gt_id replay =
		sample_range(&trace, 0, GT_NONE, "replay", SAMPLE_START + 60, SAMPLE_START + 90);
	const gt_id call =
		sample_call(&trace, 0, "cudaGraphLaunch", SAMPLE_START + 70, SAMPLE_START + 80);
	struct gt_kernel *kernel;

	add_nodes("cuLaunchKernel");
	gt_array_each(struct gt_graph_node, node, &trace.graph_nodes) {
		node->range = capture;
		node->for_range = GT_NONE;
	}
	trace.api_calls.rows[call].range = replay;
	kernel = sample_kernel(&trace, 0, 0, call, SAMPLE_START + 100, SAMPLE_START + 200);
	kernel->graph = 77;
	kernel->node = 1;
	sample_kernel(&trace, 0, 0, call, SAMPLE_START + 300, SAMPLE_START + 400);
	write();
	expect_known(0, "range", "replay");
	expect_known(0, "captured_in", "capture");
	expect_known(1, "range", "replay");
	cr_expect(not(has_argument(1, "captured_in")));
}

/* A damaged recording may hold such a node. */
Test(arguments, of_a_node_are_cut_short_where_they_are_too_long)
{
	char name[5000];
	struct gt_kernel *kernel;

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	add_nodes(name);
	kernel = sample_kernel(&trace, 0, 0, GT_NONE, SAMPLE_START + 100, SAMPLE_START + 200);
	kernel->graph = UINT32_MAX;
	kernel->graph_node = UINT64_MAX;
	kernel->node = 1;
	trace.threads.rows[0].tid = UINT32_MAX;
	write();
	name[63] = '\0';
	cr_expect(text_is(argument(message_in(slice(0), LAUNCH), 3, "made_by"), 6, name));
}

Test(arguments, of_a_copy_between_two_GPUs_name_both)
{
	struct gt_copy *copy = sample_copy(&trace, 0, GT_COPY_PEER_TO_PEER, GT_NONE,
	                                   SAMPLE_START + 100, SAMPLE_START + 200);

	copy->src_kind = GT_MEMORY_DEVICE;
	copy->src_device = 0;
	copy->dst_device = 1;
	write();
	expect_words(0, "kind", "PtoP");
	expect_words(0, "src", "device #2");
	expect_words(0, "dst", "device #5");
}

Test(arguments, of_a_fill_are_its_bytes_value_and_rate)
{
	struct gt_fill *fill =
		sample_fill(&trace, 0, GT_NONE, SAMPLE_START + 100, SAMPLE_START + 200);

	fill->value = 255;
	write();
	expect_number(0, "bytes", 4096);
	expect_number(0, "value", 255);
	expect_words(0, "kind", "fill");
	expect_words(0, "dst", "device");
	expect_real(0, "gb_per_s", 41); /* 40.96, three digits */
	expect_number(0, "stream", 13);
}

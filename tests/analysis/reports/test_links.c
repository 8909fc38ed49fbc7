/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "analysis/check_report.h"
#include "base/strings.h"
#include "model/gpu/ceilings.h"
#include "model/names.h"

#define US INT64_C(1000)

static struct gt_trace trace;
static struct gt_result result;
static gt_id devices[2];
static gt_id streams[2];

/* A recording of 1 ms of a program on two GPUs. */
static void make(void)
{
	trace_init(&trace, 1000 * US);

	const gt_id process = trace_process(&trace, "app", 100);

	for (size_t i = 0; i < 2; i++) {
		devices[i] = trace_device(&trace);
		streams[i] = trace_stream(&trace, process, devices[i]);
	}
}

static void drop(void)
{
	gt_result_release(&result);
	gt_trace_release(&trace);
}

TestSuite(links, .init = make, .fini = drop);

/* The machine was asked: so many NVLinks of 25 GB/s between both. */
static void link_both(gt_code nvlinks)
{
	for (size_t i = 0; i < 2; i++) {
		trace_pci_gpu(&trace, devices[i], GT_NONE, "");
		trace.pci_devices.rows[i].nvlinks = nvlinks;
		trace.pci_devices.rows[i].nvlink_bytes_per_second = 25000000000;
	}
	trace_gpu_pair(&trace, 0, 1, nvlinks);
}

static struct gt_copy *copy_to_peer(gt_size bytes, gt_time start_ns, gt_time end_ns)
{
	struct gt_copy *copy =
		trace_copy(&trace, streams[0], GT_COPY_PEER_TO_PEER, bytes, start_ns, end_ns);

	copy->src_device = devices[0];
	copy->dst_device = devices[1];
	return copy;
}

static void add_ceiling(gt_id device, gt_id peer, enum gt_ceiling_name name, double value,
                        enum gt_ceiling_source source)
{
	*gt_array_push(&trace.ceilings) = (struct gt_ceiling){
		.device = device,
		.peer = peer,
		.name = gt_strings_add(trace.strings, gt_ceiling_names[name]),
		.value = value,
		.source = source,
	};
}

Test(links, are_busy_while_any_copy_crosses_them)
{
	const double peak = 32e9 * 128 / 130 / 8 * 16;

	/* Two at once, then one: 300 us in which 6 MB moved. */
	trace_copy(&trace, streams[0], GT_COPY_HOST_TO_DEVICE, 2000000, 0, 200 * US);
	trace_copy(&trace, streams[0], GT_COPY_HOST_TO_DEVICE, 2000000, 100 * US, 200 * US);
	trace_copy(&trace, streams[0], GT_COPY_HOST_TO_DEVICE, 2000000, 500 * US, 600 * US);
	trace_copy(&trace, streams[1], GT_COPY_DEVICE_TO_HOST, 1000000, 500 * US, 600 * US);
	run_report(&result, "links", &trace);
	cr_assert(eq(sz, row_count(&result, "links"), 4));
	expect_words(&result, "links", 0, "link", "PCIe");
	expect_words(&result, "links", 0, "from", "host");
	expect_words(&result, "links", 0, "to", "GPU 0");
	expect_count(&result, "links", 0, "copies", 3);
	expect_count(&result, "links", 0, "bytes", 6000000);
	expect_count(&result, "links", 0, "busy_ns", 300 * US);
	expect_real(&result, "links", 0, "busy_percent", 30.0);
	expect_real(&result, "links", 0, "busy_bytes_per_second", 20e9);
	expect_real(&result, "links", 0, "peak_bytes_per_second", peak);
	expect_real(&result, "links", 0, "peak_percent", 100 * 20e9 / peak);
	expect_count(&result, "links", 1, "copies", 0);
	expect_unknown(&result, "links", 1, "busy_bytes_per_second");
	expect_words(&result, "links", 3, "from", "GPU 1");
	expect_words(&result, "links", 3, "to", "host");
	expect_count(&result, "links", 3, "bytes", 1000000);
}

/* A copy that ends behind the window is in it as far as the window goes. */
Test(links, are_busy_for_no_more_than_the_window)
{
	struct gt_view view = gt_view_of(&trace);

	view.end_ns = TRACE_START_NS + 100 * US;
	trace_copy(&trace, streams[0], GT_COPY_HOST_TO_DEVICE, 1000000, 50 * US, 900 * US);
	run_report_on(&result, "links", &view);
	expect_count(&result, "links", 0, "busy_ns", 850 * US);
	expect_real(&result, "links", 0, "busy_percent", 50.0);
}

Test(links, between_gpus_are_nvlink_where_the_machine_has_it)
{
	link_both(18);
	copy_to_peer(9000000, 0, 100 * US);
	run_report(&result, "links", &trace);
	cr_assert(eq(sz, row_count(&result, "links"), 5));
	expect_words(&result, "links", 4, "link", "NVLink");
	expect_words(&result, "links", 4, "from", "GPU 0");
	expect_words(&result, "links", 4, "to", "GPU 1");
	expect_real(&result, "links", 4, "peak_bytes_per_second", 450e9);
	expect_real(&result, "links", 4, "peak_percent", 20.0);
}

Test(links, between_gpus_without_nvlink_are_pcie)
{
	link_both(0);
	trace.devices.rows[1].pcie_width = 8;
	copy_to_peer(9000000, 0, 100 * US);
	run_report(&result, "links", &trace);
	expect_words(&result, "links", 4, "link", "PCIe");
	expect_real(&result, "links", 4, "peak_bytes_per_second", 32e9 * 128 / 130 / 8 * 8);
}

Test(links, between_gpus_of_a_machine_that_nobody_asked_are_not_known)
{
	copy_to_peer(9000000, 0, 100 * US);
	run_report(&result, "links", &trace);
	expect_unknown(&result, "links", 4, "link");
	expect_unknown(&result, "links", 4, "peak_bytes_per_second");
	expect_real(&result, "links", 4, "busy_bytes_per_second", 90e9);
	cr_expect(has_remark(&result, "NVLink or PCIe is not in the recording"));
}

Test(links, to_a_processor_of_the_same_make_are_nvlink_c2c)
{
	link_both(18);
	trace.pci_devices.rows[0].c2c_links = 10;
	trace.pci_devices.rows[0].c2c_bytes_per_second = 40000000000;
	trace_copy(&trace, streams[0], GT_COPY_HOST_TO_DEVICE, 20000000, 0, 100 * US);
	run_report(&result, "links", &trace);
	expect_words(&result, "links", 0, "link", "NVLink-C2C");
	expect_real(&result, "links", 0, "peak_percent", 50.0);
	expect_words(&result, "links", 2, "link", "PCIe");
}

Test(links, are_held_against_what_was_measured)
{
	trace_copy(&trace, streams[0], GT_COPY_HOST_TO_DEVICE, 2500000, 0, 100 * US);
	copy_to_peer(3000000, 200 * US, 300 * US);
	add_ceiling(0, GT_NONE, GT_CEILING_pcie_to_device_pinned, 50e9, GT_CEILING_SAME_MODEL);
	add_ceiling(0, 1, GT_CEILING_peer_copy, 999e9, GT_CEILING_DATA_SHEET);
	add_ceiling(0, 1, GT_CEILING_peer_copy, 300e9, GT_CEILING_HERE);
	add_ceiling(1, 0, GT_CEILING_peer_copy, 100e9, GT_CEILING_HERE);
	run_report(&result, "links", &trace);
	expect_real(&result, "links", 0, "ceiling_percent", 50.0);
	expect_words(&result, "links", 0, "ceiling_source", "measured on the same model");
	expect_unknown(&result, "links", 1, "ceiling_bytes_per_second");
	expect_words(&result, "links", 1, "ceiling_source", "not measured: gputrace calibrate");
	expect_real(&result, "links", 4, "ceiling_bytes_per_second", 300e9);
	expect_real(&result, "links", 4, "ceiling_percent", 10.0);
}

/* Four samples of 250 us: copies of 3 MB, of which the last half is behind the samples. */
static void sample(const double *read, const double *received)
{
	const struct trace_column columns[] = {
		{"pcie_read_bytes", "bytes", GT_COUNTER_SUM, read},
		{"nvlink_rx_bytes", "bytes", GT_COUNTER_SUM, received},
	};

	trace_sampled(&trace, 0, 0, 250 * US, columns, 2, 4);
}

Test(links, have_what_hardware_counted)
{
	static const double read[] = {4e6, 0, 1e3, 4e6};
	static const double received[] = {NAN, NAN, NAN, NAN};
	const double peak = 32e9 * 128 / 130 / 8 * 16;

	sample(read, received);
	trace_copy(&trace, streams[0], GT_COPY_HOST_TO_DEVICE, 2000000, 0, 200 * US);
	trace_copy(&trace, streams[0], GT_COPY_DEVICE_TO_HOST, 7000000, 0, 200 * US);
	trace_copy(&trace, streams[0], GT_COPY_HOST_TO_DEVICE, 2000000, 900 * US, 1100 * US);
	run_report(&result, "links", &trace);
	cr_assert(eq(sz, row_count(&result, "counted"), 8));
	expect_words(&result, "counted", 0, "device", "0: NVIDIA H200");
	expect_words(&result, "counted", 0, "link", "PCIe");
	expect_words(&result, "counted", 0, "direction", "read");
	expect_count(&result, "counted", 0, "bytes", 8001000);
	expect_real(&result, "counted", 0, "mean_bytes_per_second", 8001e6);
	expect_real(&result, "counted", 0, "most_bytes_per_second", 16e9);
	expect_real(&result, "counted", 0, "peak_percent", 100 * 8001e6 / peak);
	expect_real(&result, "counted", 0, "busy_percent", 50.0);
	expect_count(&result, "counted", 0, "copied_bytes", 3000000);
	expect_words(&result, "counted", 0, "source", "hardware counters");
	/* Sampled, but never measured, as neither was the second GPU. */
	expect_words(&result, "counted", 2, "direction", "received");
	expect_unknown(&result, "counted", 2, "bytes");
	expect_unknown(&result, "counted", 4, "bytes");
	expect_words(&result, "counted", 4, "source",
	             "not measured: gputrace run --counters=links");
}

Test(links, of_nvlink_are_counted_for_all_peers_together)
{
	static const double read[] = {0, 0, 0, 0};
	static const double received[] = {0, 45e6, 45e6, 0};

	link_both(18);
	sample(read, received);
	run_report_with(&result, "links", &trace, "busy=40");
	expect_words(&result, "counted", 2, "link", "NVLink");
	expect_real(&result, "counted", 2, "peak_bytes_per_second", 450e9);
	expect_real(&result, "counted", 2, "most_bytes_per_second", 180e9);
	expect_real(&result, "counted", 2, "busy_percent", 50.0);
	expect_count(&result, "counted", 2, "copied_bytes", 0);
}

Test(links, without_nvlink_have_no_rows_for_it)
{
	static const double read[] = {0, 0, 0, 0};
	const struct trace_column column = {"pcie_read_bytes", "bytes", GT_COUNTER_SUM, read};

	link_both(0);
	trace_sampled(&trace, 0, 0, 250 * US, &column, 1, 4);
	run_report(&result, "links", &trace);
	cr_expect(eq(sz, row_count(&result, "counted"), 4));
}

Test(links, that_nobody_counted_say_so)
{
	run_report(&result, "links", &trace);
	cr_expect(eq(sz, row_count(&result, "counted"), 0));
	cr_expect(has_remark(&result, "gputrace run --counters=links"));
}

Test(links, leave_out_managed_memory_and_copies_without_an_end)
{
	trace_copy(&trace, streams[0], GT_COPY_HOST_TO_DEVICE, 100, 0, 10)->dst_kind =
		GT_MEMORY_MANAGED;
	trace_copy(&trace, streams[0], GT_COPY_HOST_TO_DEVICE, 100, 10, 20)->flags = GT_UNFINISHED;
	run_report(&result, "links", &trace);
	expect_count(&result, "links", 0, "copies", 0);
	cr_expect(has_remark(&result, "1 copies of managed memory"));
	cr_expect(has_remark(&result, "1 copies have no end time"));
}

/* A copy of that many bytes in 100 us, asked for by a thread on one node, of memory on another. */
static void copy_from_node(gt_code memory_node, gt_code thread_node, gt_size bytes,
                           gt_time start_ns)
{
	const gt_id thread = trace_thread(&trace, 0, (gt_count)(70 + thread_node));
	const gt_id call = trace_call(&trace, thread, "cudaMemcpyAsync", start_ns, start_ns + US);
	struct gt_copy *copy = trace_copy(&trace, streams[0], GT_COPY_HOST_TO_DEVICE, bytes,
	                                  start_ns, start_ns + 100 * US);

	copy->api_call = call;
	*gt_array_push(&trace.copy_places) = (struct gt_copy_place){
		.start_ns = TRACE_START_NS + start_ns,
		.end_ns = TRACE_START_NS + start_ns,
		.thread = thread,
		.api_call = call,
		.cpu_node = thread_node,
		.memory_node = memory_node,
	};
}

/* Both GPUs are near node 1. */
static void place_gpus(void)
{
	trace_numa_node(&trace, 0);
	trace_numa_node(&trace, 1);
	for (size_t i = 0; i < 2; i++)
		trace_pci_gpu(&trace, devices[i], 1, "");
}

Test(links, name_memory_and_threads_on_the_far_node)
{
	place_gpus();
	copy_from_node(0, 0, 2000000, 0);
	copy_from_node(0, 1, 1000000, 100 * US);
	copy_from_node(1, 1, 4000000, 200 * US);
	copy_from_node(1, 0, 3000000, 300 * US);
	run_report(&result, "links", &trace);
	cr_assert(eq(sz, row_count(&result, "copy_nodes"), 4));
	expect_count(&result, "copy_nodes", 0, "memory_node", 1);
	expect_words(&result, "copy_nodes", 0, "far", "nothing");
	expect_words(&result, "copy_nodes", 1, "far", "thread");
	expect_words(&result, "copy_nodes", 2, "far", "memory, thread");
	expect_words(&result, "copy_nodes", 3, "far", "memory");
	expect_words(&result, "copy_nodes", 2, "host_memory", "pinned");
	expect_words(&result, "copy_nodes", 2, "direction", "to the GPU");
	expect_words(&result, "copy_nodes", 2, "thread", " (70)");
	expect_count(&result, "copy_nodes", 2, "gpu_node", 1);
	expect_count(&result, "copy_nodes", 2, "thread_node", 0);
	expect_real(&result, "copy_nodes", 2, "achieved_bytes_per_second", 20e9);
	expect_real(&result, "copy_nodes", 2, "near_bytes_per_second", 35e9);
	/* 3 MB took 200 us, and would have taken 86 at 35 GB/s. */
	cr_expect(has_remark(&result, "3.00 MB were copied"));
	cr_expect(has_remark(&result, "114 us less"));
}

Test(links, of_far_memory_that_is_not_slower_need_no_remark)
{
	place_gpus();
	copy_from_node(0, 1, 3900000, 0);
	copy_from_node(1, 1, 4000000, 200 * US);
	run_report(&result, "links", &trace);
	expect_words(&result, "copy_nodes", 1, "far", "memory");
	cr_expect(not(has_remark(&result, "were copied between")));
}

Test(links, do_not_know_what_is_far_without_the_nodes)
{
	copy_from_node(0, 1, 1000000, 0);
	copy_from_node(-1, -1, 500000, 200 * US);
	run_report(&result, "links", &trace);
	expect_unknown(&result, "copy_nodes", 0, "far");
	expect_unknown(&result, "copy_nodes", 0, "gpu_node");
	expect_unknown(&result, "copy_nodes", 1, "memory_node");
	expect_unknown(&result, "copy_nodes", 1, "near_bytes_per_second");
}

Test(links, say_what_would_measure_nodes_where_there_are_several)
{
	place_gpus();
	trace_copy(&trace, streams[0], GT_COPY_HOST_TO_DEVICE, 100, 0, 10);
	run_report(&result, "links", &trace);
	cr_expect(has_remark(&result, "gputrace run --numa"));
}

Test(links, of_a_machine_with_one_node_have_none_that_is_far)
{
	trace_numa_node(&trace, 0);
	trace_copy(&trace, streams[0], GT_COPY_HOST_TO_DEVICE, 100, 0, 10);
	run_report(&result, "links", &trace);
	cr_expect(not(has_remark(&result, "gputrace run --numa")));
}

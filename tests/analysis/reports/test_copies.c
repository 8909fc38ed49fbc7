/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/check_scene.h"
#include "model/names.h"

Test(copies, over_pcie_are_measured_by_the_links_rate)
{
	scene_begin(1000000);
	/* 40,000 bytes in 1,000 ns: 40 GB/s of the 63.0 GB/s of 16 lanes of generation 5. */
	trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, 10000, 0, 200);
	trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, 30000, 200, 1000);
	run_report(&result, "copies", &trace);

	const double peak = 32e9 * 128 / 130 / 8 * 16;

	cr_assert(eq(sz, row_count(&result, "copies"), 1));
	expect_words(&result, "copies", 0, "kind", "HtoD");
	expect_words(&result, "copies", 0, "source", "pinned");
	expect_words(&result, "copies", 0, "destination", "device");
	expect_unknown(&result, "copies", 0, "from_device");
	expect_count(&result, "copies", 0, "calls", 2);
	expect_count(&result, "copies", 0, "bytes", 40000);
	expect_count(&result, "copies", 0, "total_ns", 1000);
	expect_real(&result, "copies", 0, "achieved_bytes_per_second", 40e9);
	expect_real(&result, "copies", 0, "traffic_bytes_per_second", 40e9);
	expect_real(&result, "copies", 0, "peak_bytes_per_second", peak);
	expect_real(&result, "copies", 0, "efficiency_percent", 100 * 40e9 / peak);
	expect_words(&result, "copies", 0, "peak_source", "PCIe 5.0 x16");
	scene_end();
}

Test(copies, inside_a_gpu_move_each_byte_twice)
{
	scene_begin(1000000);
	/* 2 MB in 1,000 ns: 2 TB/s copied, 4 TB/s read and written. */
	trace_copy(&trace, stream, GT_COPY_DEVICE_TO_DEVICE, 2000000, 0, 1000);
	run_report(&result, "copies", &trace);

	const double peak = 2 * 3201e6 * 6144 / 8;

	expect_real(&result, "copies", 0, "achieved_bytes_per_second", 2e12);
	expect_real(&result, "copies", 0, "traffic_bytes_per_second", 4e12);
	expect_real(&result, "copies", 0, "peak_bytes_per_second", peak);
	expect_real(&result, "copies", 0, "efficiency_percent", 100 * 4e12 / peak);
	expect_words(&result, "copies", 0, "peak_source",
	             "device memory, 6144 bits, 2 x 3201 MHz, read + write");
	cr_expect(not(has_remark(&result, "above 100 %")));
	scene_end();
}

struct lane {
	gt_count generation;
	double lane_bytes_per_second;
};

Test(copies, know_the_rate_of_every_generation_of_pcie)
{
	/* One lane, as the PCI-SIG's own overview has it; 6.0 with the flit's overhead off. */
	static const struct lane lanes[] = {
		{1, 250e6}, {2, 500e6}, {3, 984.615e6}, {4, 1969e6}, {5, 3938e6}, {6, 7375e6},
	};

	for (size_t i = 0; i < sizeof(lanes) / sizeof(lanes[0]); i++) {
		scene_begin(1000000);
		trace.devices.rows[0].pcie_generation = lanes[i].generation;
		trace.devices.rows[0].pcie_width = 8;
		trace_copy(&trace, stream, GT_COPY_DEVICE_TO_HOST, 1, 0, 1);
		run_report(&result, "copies", &trace);

		const double peak = cell(&result, "copies", 0, "peak_bytes_per_second")->real;

		cr_expect(epsilon_eq(dbl, peak, 8 * lanes[i].lane_bytes_per_second, 1e-3 * peak));
		scene_end();
	}
}

Test(copies, have_no_efficiency_where_the_peak_is_not_known)
{
	scene_begin(1000000);
	trace.devices.rows[0].pcie_generation = 0;
	trace.devices.rows[0].memory_clock_khz = 0;
	trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, 9, 0, 9);
	trace_copy(&trace, stream, GT_COPY_DEVICE_TO_DEVICE, 8, 10, 18);
	trace_copy(&trace, stream, GT_COPY_PEER_TO_PEER, 7, 20, 27);
	trace_copy(&trace, stream, GT_COPY_DEVICE_TO_DEVICE, 6, 30, 36)->dst_kind =
		GT_MEMORY_MANAGED;
	trace_copy(&trace, stream, 77, 5, 40, 45);
	run_report(&result, "copies", &trace);

	cr_assert(eq(sz, row_count(&result, "copies"), 5));
	for (size_t i = 0; i < 5; i++) {
		expect_unknown(&result, "copies", i, "peak_bytes_per_second");
		expect_unknown(&result, "copies", i, "efficiency_percent");
		expect_real(&result, "copies", i, "achieved_bytes_per_second", 1e9);
	}
	expect_words(&result, "copies", 0, "peak_source",
	             "not known: the PCIe link was not recorded");
	expect_words(&result, "copies", 2, "kind", "PtoP");
	expect_unknown(&result, "copies", 2, "traffic_bytes_per_second");
	expect_words(&result, "copies", 3, "peak_source",
	             "not known: where the managed pages lay was not measured");
	expect_words(&result, "copies", 4, "kind", "unknown");
	cr_expect(has_remark(&result, "Copies between GPUs have no efficiency"));
	scene_end();
}

Test(copies, between_gpus_name_both)
{
	scene_begin(1000000);

	const gt_id other = trace_device(&trace);
	struct gt_copy *there = trace_copy(&trace, stream, GT_COPY_PEER_TO_PEER, 100, 0, 20);

	there->src_device = 0;
	there->dst_device = other;

	struct gt_copy *back = trace_copy(&trace, stream, GT_COPY_PEER_TO_PEER, 100, 20, 30);

	back->src_device = other;
	back->dst_device = 0;
	run_report(&result, "copies", &trace);

	cr_assert(eq(sz, row_count(&result, "copies"), 2));
	expect_words(&result, "copies", 0, "from_device", "0: NVIDIA H200");
	expect_words(&result, "copies", 0, "to_device", "1: NVIDIA H200");
	expect_words(&result, "copies", 1, "from_device", "1: NVIDIA H200");
	scene_end();
}

Test(copies, of_pageable_memory_are_remarked_on)
{
	scene_begin(1000000);
	trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, 100, 0, 20);
	run_report(&result, "copies", &trace);
	cr_expect(not(has_remark(&result, "Pageable")));
	gt_result_release(&result);

	trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, 100, 20, 30)->src_kind =
		GT_MEMORY_PAGEABLE;
	run_report(&result, "copies", &trace);
	cr_expect(has_remark(&result, "Pageable"));
	cr_expect(eq(sz, row_count(&result, "copies"), 2));
	scene_end();
}

Test(copies, into_pageable_memory_are_remarked_on_too)
{
	scene_begin(1000000);
	trace_copy(&trace, stream, GT_COPY_DEVICE_TO_HOST, 100, 0, 20);
	run_report(&result, "copies", &trace);
	cr_expect(not(has_remark(&result, "Pageable")));
	gt_result_release(&result);

	trace_copy(&trace, stream, GT_COPY_DEVICE_TO_HOST, 100, 20, 30)->dst_kind =
		GT_MEMORY_PAGEABLE;
	run_report(&result, "copies", &trace);
	cr_expect(has_remark(&result, "Pageable"));
	scene_end();
}

Test(copies, above_the_peak_are_explained)
{
	scene_begin(1000000);
	trace_copy(&trace, stream, GT_COPY_DEVICE_TO_DEVICE, 40000000, 0, 1000);
	run_report(&result, "copies", &trace);
	cr_expect(has_remark(&result, "above 100 %"));
	scene_end();
}

Test(copies, are_sorted_into_sizes_by_powers_of_four)
{
	scene_begin(1000000);
	trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, 0, 0, 10);
	trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, 1023, 10, 20);
	trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, 1024, 20, 30);
	trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, 4095, 30, 50);
	trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, UINT64_MAX, 50, 60);
	run_report(&result, "copies", &trace);

	cr_assert(eq(sz, row_count(&result, "sizes"), 4));
	expect_count(&result, "sizes", 0, "from_bytes", 0);
	expect_count(&result, "sizes", 0, "below_bytes", 4);
	expect_count(&result, "sizes", 1, "from_bytes", 256);
	expect_count(&result, "sizes", 1, "below_bytes", 1024);
	expect_count(&result, "sizes", 1, "calls", 1);
	expect_count(&result, "sizes", 2, "from_bytes", 1024);
	expect_count(&result, "sizes", 2, "calls", 2);
	expect_count(&result, "sizes", 2, "bytes", 5119);
	expect_count(&result, "sizes", 2, "mean_ns", 15);
	expect_real(&result, "sizes", 2, "achieved_bytes_per_second", 5119e9 / 30);
	expect_count(&result, "sizes", 3, "from_bytes", (int64_t)1 << 62);
	expect_unknown(&result, "sizes", 3, "below_bytes");
	scene_end();
}

Test(copies, and_fills_are_apart)
{
	scene_begin(1000000);
	trace_fill(&trace, stream, 3000000, 0, 1000);
	trace_fill(&trace, stream, 100, 1000, 1010)->memory_kind = GT_MEMORY_MANAGED;
	run_report(&result, "copies", &trace);

	cr_expect(eq(sz, row_count(&result, "copies"), 0));
	cr_assert(eq(sz, row_count(&result, "fills"), 2));
	expect_words(&result, "fills", 0, "memory", "device");
	expect_real(&result, "fills", 0, "traffic_bytes_per_second", 3e12);
	expect_real(&result, "fills", 0, "efficiency_percent",
	            100 * 3e12 / (2 * 3201e6 * 6144 / 8));
	expect_unknown(&result, "fills", 1, "efficiency_percent");
	scene_end();
}

Test(copies, without_end_or_duration_have_no_rate)
{
	scene_begin(1000000);
	trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, 100, 0, 0)->flags = GT_UNFINISHED;
	trace_copy(&trace, stream, GT_COPY_DEVICE_TO_HOST, 100, 10, 10);
	run_report(&result, "copies", &trace);

	cr_assert(eq(sz, row_count(&result, "copies"), 1));
	expect_words(&result, "copies", 0, "kind", "DtoH");
	expect_unknown(&result, "copies", 0, "achieved_bytes_per_second");
	expect_unknown(&result, "copies", 0, "efficiency_percent");
	cr_expect(has_remark(&result, "1 copies and fills have no end time"));
	scene_end();
}

Test(copies, of_pinned_and_pageable_memory_are_apart_in_sizes)
{
	scene_begin(1000000);
	trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, 1024, 0, 30)->src_kind =
		GT_MEMORY_PAGEABLE;
	trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, 1024, 30, 40)->src_kind =
		GT_MEMORY_PINNED;
	trace_copy(&trace, stream, GT_COPY_DEVICE_TO_HOST, 1024, 40, 50)->dst_kind =
		GT_MEMORY_PINNED;
	trace_copy(&trace, stream, GT_COPY_DEVICE_TO_DEVICE, 1024, 50, 60);
	run_report(&result, "copies", &trace);

	cr_assert(eq(sz, row_count(&result, "sizes"), 4));
	expect_words(&result, "sizes", 0, "host_memory", "pageable");
	expect_count(&result, "sizes", 0, "total_ns", 30);
	expect_words(&result, "sizes", 1, "host_memory", "pinned");
	expect_count(&result, "sizes", 1, "total_ns", 10);
	expect_words(&result, "sizes", 2, "kind", "DtoH");
	expect_words(&result, "sizes", 2, "host_memory", "pinned");
	expect_unknown(&result, "sizes", 3, "host_memory");
	scene_end();
}

Test(copies, of_an_empty_trace_are_none)
{
	struct gt_trace trace;
	struct gt_result result;

	gt_trace_init(&trace);
	run_report(&result, "copies", &trace);
	cr_expect(eq(sz, row_count(&result, "copies"), 0));
	cr_expect(eq(sz, row_count(&result, "fills"), 0));
	cr_expect(eq(sz, row_count(&result, "sizes"), 0));
	cr_expect(has_remark(&result, "No copies"));
	gt_result_release(&result);
	gt_trace_release(&trace);
}

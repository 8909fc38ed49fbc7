/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/array.h"
#include "collector/collect.h"
#include "collector/stage.h"

static struct recording recording;

static void make(void)
{
	recording_init(&recording);
	recording_begin(&recording, "node-1-1");
	recording_add_basics(&recording, 1);
}

static void drop(void)
{
	recording_release(&recording);
}

TestSuite(names, .init = make, .fini = drop);

static const struct {
	const char *raw;
	const char *plain;
	enum gt_api_kind kind;
} calls[] = {
	{"cudaLaunchKernel_v7000", "cudaLaunchKernel", GT_API_LAUNCH},
	{"cudaLaunchKernel_ptsz_v7000", "cudaLaunchKernel", GT_API_LAUNCH},
	{"cudaLaunchKernelExC_v11060", "cudaLaunchKernelExC", GT_API_LAUNCH},
	{"cuLaunchKernel", "cuLaunchKernel", GT_API_LAUNCH},
	{"cuLaunchKernelEx_ptsz", "cuLaunchKernelEx", GT_API_LAUNCH},
	{"cuLaunchHostFunc_ptsz", "cuLaunchHostFunc", GT_API_OTHER},
	{"cudaMemcpyAsync_ptsz_v7000", "cudaMemcpyAsync", GT_API_COPY},
	{"cudaMemcpy2D_v3020", "cudaMemcpy2D", GT_API_COPY},
	{"cudaMemcpy3DPeer_ptds_v7000", "cudaMemcpy3DPeer", GT_API_COPY},
	{"cuMemcpyHtoD_v2_ptds", "cuMemcpyHtoD", GT_API_COPY},
	{"cuMemcpyHtoDAsync_v2", "cuMemcpyHtoDAsync", GT_API_COPY},
	{"cuMemsetD2D8_v2", "cuMemsetD2D8", GT_API_FILL},
	{"cuMemsetD32Async_ptsz", "cuMemsetD32Async", GT_API_FILL},
	{"cudaMalloc_v3020", "cudaMalloc", GT_API_ALLOCATE},
	{"cuMemAlloc_v2", "cuMemAlloc", GT_API_ALLOCATE},
	{"cuMemFree_v2", "cuMemFree", GT_API_FREE},
	{"cudaStreamSynchronize_ptsz_v7000", "cudaStreamSynchronize", GT_API_SYNCHRONIZE},
	{"cudaStreamBeginCapture_v10000", "cudaStreamBeginCapture", GT_API_GRAPH},
	{"cuStreamBeginCapture_v2_ptsz", "cuStreamBeginCapture", GT_API_GRAPH},
	{"cuStreamCreateWithPriority", "cuStreamCreateWithPriority", GT_API_STREAM},
	{"cudaEventRecord_v3020", "cudaEventRecord", GT_API_EVENT},
	{"cuGraphInstantiate_v2", "cuGraphInstantiate", GT_API_GRAPH},
	{"cuGraphInstantiateWithParams_ptsz", "cuGraphInstantiateWithParams", GT_API_GRAPH},
	{"cuGraphExecKernelNodeSetParams_v2", "cuGraphExecKernelNodeSetParams", GT_API_GRAPH},
	{"cudaGraphLaunch_v10000", "cudaGraphLaunch", GT_API_GRAPH_LAUNCH},
	{"cuModuleLoadDataEx", "cuModuleLoadDataEx", GT_API_MODULE},
	{"cuDevicePrimaryCtxReset_v2", "cuDevicePrimaryCtxReset", GT_API_OTHER},
	/* No suffixes, however much they look like one. */
	{"_v2", "_v2", GT_API_OTHER},
	{"cuThing_v", "cuThing_v", GT_API_OTHER},
	{"cuThing_x2", "cuThing_x2", GT_API_OTHER},
	{"cuThingv2", "cuThingv2", GT_API_OTHER},
	{"", "", GT_API_OTHER},
};

enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

Test(names, of_api_calls_lose_their_suffixes_and_give_their_kinds)
{
	struct gt_trace trace;

	for (uint32_t i = 0; i < CALLS; i++) {
		recording_add_string(&recording, STRING_NEXT + i, calls[i].raw);
		recording_add(&recording, api_call, .start_ns = 2000 + 10 * i,
		              .end_ns = 2005 + 10 * i, .correlation = i + 1,
		              .function = STRING_NEXT + i, .thread = 1);
	}
	recording_end(&recording, true);
	trace = collect(&recording);
	cr_assert(eq(sz, trace.api_calls.count, CALLS));
	for (size_t i = 0; i < CALLS; i++) {
		const struct gt_api_call *call = &trace.api_calls.rows[i];

		expect_text(gt_trace_text(&trace, call->function), calls[i].plain);
		cr_expect(eq(u32, call->kind, calls[i].kind), "%s", calls[i].raw);
	}
	gt_trace_release(&trace);
}

/* Each line of the list decides for what begins with it, unless a line above does. */
Test(names, give_the_kinds_of_the_list)
{
	static const struct {
		const char *prefix;
		enum gt_api_kind kind;
	} lines[] = {
#define GT_API_NONE        GT_API_OTHER
#define CALL(prefix, kind) {prefix, GT_API_##kind},
#include "format/kinds/api_calls.def"
	};
	const uint32_t count = sizeof(lines) / sizeof(lines[0]);
	struct gt_trace trace;

	for (uint32_t i = 0; i < count; i++) {
		recording_add_string(&recording, STRING_NEXT + i, lines[i].prefix);
		recording_add(&recording, api_call, .start_ns = 2000 + 10 * i,
		              .end_ns = 2005 + 10 * i, .correlation = i + 1,
		              .function = STRING_NEXT + i, .thread = 1);
	}
	recording_end(&recording, true);
	trace = collect(&recording);
	cr_assert(eq(sz, trace.api_calls.count, count));
	for (uint32_t i = 0; i < count; i++)
		cr_expect(eq(u32, trace.api_calls.rows[i].kind, lines[i].kind), "%s",
		          lines[i].prefix);
	gt_trace_release(&trace);
}

Test(names, of_kernels_are_demangled_when_they_are_mangled)
{
	/* C names; "a" and "Pf" would also be codes of C++ types. */
	static const char *const mangled[] = {"_ZN3app6work_3IfEEvPT_i", "plain_c", "_Znonsense",
	                                      "a", "Pf"};
	static const char *const demangled[] = {"void app::work_3<float>(float*, int)", "plain_c",
	                                        "_Znonsense", "a", "Pf"};
	struct gt_trace trace;

	for (uint32_t i = 0; i < 5; i++) {
		recording_add_string(&recording, STRING_NEXT + i, mangled[i]);
		recording_add(&recording, shape, .id = SHAPE + 1 + i, .name = STRING_NEXT + i);
		recording_add(&recording, kernel, .start_ns = 2000 + i, .end_ns = 2010 + i,
		              .shape = SHAPE + 1 + i, .context = CONTEXT, .stream = STREAM);
	}
	recording_end(&recording, true);
	trace = collect(&recording);
	for (uint32_t i = 0; i < 5; i++) {
		const struct gt_launch_shape *shape =
			&trace.launch_shapes.rows[trace.kernels.rows[i].shape];

		expect_text(gt_trace_text(&trace, shape->name), mangled[i]);
		expect_text(gt_trace_text(&trace, shape->demangled), demangled[i]);
	}
	gt_trace_release(&trace);
}

Test(names, bring_every_field_of_a_shape_across)
{
	struct gt_trace trace;

	recording_add(&recording, shape, .id = 2, .name = STRING_KERNEL, .grid_x = 1, .grid_y = 2,
	              .grid_z = 3, .block_x = 4, .block_y = 5, .block_z = 6, .cluster_x = 7,
	              .cluster_y = 8, .cluster_z = 9, .registers = 10, .shared_static = 11,
	              .shared_dynamic = 12, .shared_executed = 13, .local_per_thread = 14,
	              .cache_config = 2);
	recording_end(&recording, true);
	trace = collect(&recording);
	cr_assert(eq(sz, trace.launch_shapes.count, 2));

	const struct gt_launch_shape *shape = &trace.launch_shapes.rows[1];

	cr_expect(eq(u32, shape->grid_x, 1));
	cr_expect(eq(u32, shape->grid_y, 2));
	cr_expect(eq(u32, shape->grid_z, 3));
	cr_expect(eq(u32, shape->block_x, 4));
	cr_expect(eq(u32, shape->block_y, 5));
	cr_expect(eq(u32, shape->block_z, 6));
	cr_expect(eq(u32, shape->cluster_x, 7));
	cr_expect(eq(u32, shape->cluster_y, 8));
	cr_expect(eq(u32, shape->cluster_z, 9));
	cr_expect(eq(u32, shape->registers, 10));
	cr_expect(eq(u64, shape->shared_static_bytes, 11));
	cr_expect(eq(u64, shape->shared_dynamic_bytes, 12));
	cr_expect(eq(u64, shape->shared_executed_bytes, 13));
	cr_expect(eq(u64, shape->local_per_thread_bytes, 14));
	cr_expect(eq(u32, shape->local_known, 1));
	cr_expect(eq(u32, shape->cache_config, 2));
	gt_trace_release(&trace);
}

/* A shape gets a second id when the traced process's table was full, or was salvaged. */
Test(names, put_equal_shapes_together)
{
	struct gt_trace trace;

	for (uint32_t id = 2; id <= 5; id++) {
		recording_add(&recording, shape, .id = id, .name = STRING_KERNEL,
		              .grid_x = id == 5 ? 5 : 4, .grid_y = 1, .grid_z = 1, .block_x = 256,
		              .block_y = 1, .block_z = 1);
		recording_add(&recording, kernel, .start_ns = 2000 + id, .end_ns = 2010 + id,
		              .shape = id, .context = CONTEXT, .stream = STREAM);
	}
	recording_end(&recording, true);
	trace = collect(&recording);
	cr_expect(eq(sz, trace.launch_shapes.count, 2));
	for (size_t i = 0; i < 4; i++)
		cr_expect(eq(u32, trace.kernels.rows[i].shape, i == 3));
	gt_trace_release(&trace);
}

Test(names, leave_kernels_of_an_unknown_shape_with_an_empty_one)
{
	struct gt_trace trace;

	recording_add(&recording, kernel, .start_ns = 2000, .end_ns = 2010, .shape = 77,
	              .context = CONTEXT, .stream = STREAM);
	recording_add(&recording, kernel, .start_ns = 2020, .end_ns = 2030, .context = CONTEXT,
	              .stream = STREAM);
	recording_end(&recording, true);
	trace = collect(&recording);
	cr_assert(eq(sz, trace.launch_shapes.count, 2));
	for (size_t i = 0; i < 2; i++) {
		const struct gt_launch_shape *shape =
			&trace.launch_shapes.rows[trace.kernels.rows[i].shape];

		expect_text(gt_trace_text(&trace, shape->name), "");
		cr_expect(eq(u32, shape->grid_x, 0));
	}
	gt_trace_release(&trace);
}

/* The chunk with the first shapes was lost: later ones still have their names. */
Test(names, survive_shapes_that_were_lost)
{
	struct gt_trace trace;

	recording_add(&recording, shape, .id = 5000000, .name = STRING_KERNEL, .grid_x = 9);
	recording_add(&recording, kernel, .start_ns = 2000, .end_ns = 2010, .shape = 5000000,
	              .context = CONTEXT, .stream = STREAM);
	recording_end(&recording, true);
	trace = collect(&recording);
	cr_expect(eq(u32, trace.launch_shapes.rows[trace.kernels.rows[0].shape].grid_x, 9));
	gt_trace_release(&trace);
}

/* CUPTI says something of a device, NVML more, later. */
Test(names, merge_what_is_said_about_a_device)
{
	struct gt_trace trace;
	const struct gt_device *device;

	recording_add_string(&recording, STRING_NEXT, "0000:18:00.0");
	recording_add(&recording, device, .ordinal = 0, .cc_major = 9, .sm_count = 132,
	              .memory_bytes = 150000000000);
	recording_add(&recording, device, .ordinal = 0, .pci = STRING_NEXT, .index_plus_one = 4,
	              .pcie_generation = 5);
	recording_end(&recording, true);
	trace = collect(&recording);
	cr_assert(eq(sz, trace.devices.count, 1));
	device = trace.devices.rows;
	expect_text(gt_trace_text(&trace, device->name), "NVIDIA H200");
	expect_text(gt_trace_text(&trace, device->uuid), "GPU-0123");
	expect_text(gt_trace_text(&trace, device->pci), "0000:18:00.0");
	expect_text(gt_trace_text(&trace, device->host), "node");
	cr_expect(eq(u32, device->cc_major, 9));
	cr_expect(eq(u32, device->sm_count, 132));
	cr_expect(eq(u64, device->memory_bytes, 150000000000));
	cr_expect(eq(i32, device->index, 3));
	cr_expect(eq(u32, device->pcie_generation, 5));
	gt_trace_release(&trace);
}

/* Two processes, each with its own order of two GPUs, and one without a UUID. */
Test(names, make_one_row_of_each_gpu)
{
	struct gt_trace trace;

	recording_add_string(&recording, STRING_NEXT, "GPU-4567");
	recording_add(&recording, device, .ordinal = 1, .uuid = STRING_NEXT);
	recording_add(&recording, context, .id = 2, .device = 1);
	recording_add(&recording, kernel, .start_ns = 2000, .end_ns = 2010, .device = 1,
	              .context = 2);
	recording_end(&recording, true);

	recording_begin(&recording, "node-2-1");
	recording_add_basics(&recording, 2);
	recording_add_string(&recording, STRING_UUID, "GPU-4567"); /* the other one is its first */
	recording_add_string(&recording, STRING_NEXT, "GPU-0123");
	recording_add(&recording, device, .ordinal = 1, .uuid = STRING_NEXT);
	recording_add(&recording, device, .ordinal = 2);
	recording_add(&recording, kernel, .start_ns = 2020, .end_ns = 2030, .device = 0,
	              .context = CONTEXT, .stream = STREAM);
	recording_add(&recording, copy, .start_ns = 2040, .end_ns = 2050, .device = 2,
	              .src_device = 1, .dst_device = 2, .context = CONTEXT, .stream = STREAM);
	recording_add(&recording, fill, .start_ns = 2060, .end_ns = 2070, .device = 1,
	              .context = CONTEXT, .stream = STREAM);
	recording_end(&recording, true);
	trace = collect(&recording);
	cr_assert(eq(sz, trace.devices.count, 3));
	expect_text(gt_trace_text(&trace, trace.devices.rows[0].uuid), "GPU-0123");
	expect_text(gt_trace_text(&trace, trace.devices.rows[1].uuid), "GPU-4567");
	expect_text(gt_trace_text(&trace, trace.devices.rows[2].uuid), "");
	cr_expect(eq(u32, trace.kernels.rows[0].device, 1));
	cr_expect(eq(u32, trace.kernels.rows[1].device, 1));
	cr_expect(eq(u32, trace.copies.rows[0].device, 2));
	cr_expect(eq(u32, trace.copies.rows[0].src_device, 1));
	cr_expect(eq(u32, trace.copies.rows[0].dst_device, 0));
	cr_expect(eq(u32, trace.fills.rows[0].device, 0));
	cr_expect(eq(u32, trace.contexts.rows[trace.streams.rows[0].context].device, 0));
	gt_trace_release(&trace);
}

Test(names, take_nothing_from_a_device_with_the_number_of_none)
{
	struct gt_trace trace;

	recording_add(&recording, device, .ordinal = UINT32_MAX, .name = STRING_DEVICE,
	              .sm_count = 7);
	recording_end(&recording, true);
	trace = collect(&recording);
	cr_expect(eq(sz, trace.devices.count, 1));
	cr_expect(ne(u32, trace.devices.rows[0].sm_count, 7));
	gt_trace_release(&trace);
}

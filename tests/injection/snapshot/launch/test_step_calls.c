/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/launch/step_calls.h"

#include "support/check.h"

static CUstream const stream = (CUstream)0x5000;
static CUevent const event = (CUevent)0xe000;
static char here[64];
static char there[64];

static struct gt_step_call read_call(bool driver, CUpti_CallbackId id, const char *name,
                                     const void *params)
{
	const CUpti_CallbackData data = {
		.callbackSite = CUPTI_API_ENTER, .functionName = name, .functionParams = params};
	struct gt_step_call call;

	gt_step_call_read(driver, id, &data, &call);
	return call;
}

#define RUNTIME_CALL(call, ...)                                                                    \
	read_call(false, CUPTI_RUNTIME_TRACE_CBID_##call, #call, &(call##_params){__VA_ARGS__})
#define DRIVER_CALL(call, ...)                                                                     \
	read_call(true, CUPTI_DRIVER_TRACE_CBID_##call, #call, &(call##_params){__VA_ARGS__})

static void expect_step(const struct gt_step_call *call, enum gt_bundle_step_kind kind)
{
	cr_assert(eq(int, (int)call->kind, (int)GT_STEP_CALL_STEP));
	cr_expect(eq(int, (int)call->step, (int)kind));
}

static void expect_refused(const struct gt_step_call *call, const char *words)
{
	cr_assert(eq(int, (int)call->kind, (int)GT_STEP_CALL_REFUSED));
	cr_expect(ne(ptr, strstr(call->reason, words), NULL), "%s", call->reason);
}

Test(step_calls, read_copies_of_runtime_and_driver)
{
	struct gt_step_call call =
		RUNTIME_CALL(cudaMemcpyAsync_v3020, here, there, 64, cudaMemcpyDefault, stream);

	expect_step(&call, GT_BUNDLE_STEP_copy);
	cr_expect(eq(u64, call.to, (uint64_t)(uintptr_t)here));
	cr_expect(eq(u64, call.from, (uint64_t)(uintptr_t)there));
	cr_expect(eq(u64, call.bytes, 64));
	cr_expect(eq(ptr, (void *)call.stream, (void *)stream));
	cr_expect(not(call.blocks));
	call = DRIVER_CALL(cuMemcpyDtoH_v2, there, 0x10000, 64);
	expect_step(&call, GT_BUNDLE_STEP_copy);
	cr_expect(call.blocks);
	cr_expect(eq(ptr, (void *)call.stream, NULL));
	call = DRIVER_CALL(cuMemcpyDtoH_v2_ptds, there, 0x10000, 64);
	cr_expect(eq(ptr, (void *)call.stream, (void *)CU_STREAM_PER_THREAD));
}

Test(step_calls, read_fills_with_their_values)
{
	struct gt_step_call call = DRIVER_CALL(cuMemsetD2D16Async, 0x10000, 256, 7, 16, 3, stream);

	expect_step(&call, GT_BUNDLE_STEP_fill);
	cr_expect(eq(u64, call.to, 0x10000));
	cr_expect(eq(u64, call.bytes, 32));
	cr_expect(eq(u64, call.rows, 3));
	cr_expect(eq(u64, call.to_pitch, 256));
	cr_expect(eq(u32, call.value, 7));
	cr_expect(eq(u32, call.value_bytes, 2));
}

static void expect_shape(const struct gt_step_call *call, uint64_t bytes, uint64_t rows,
                         uint64_t slices)
{
	cr_expect(eq(u64, call->bytes, bytes));
	cr_expect(eq(u64, call->rows, rows));
	cr_expect(eq(u64, call->slices > 1 ? call->slices : 1, slices));
}

static void expect_pitches(const struct gt_step_call *call, uint64_t to, uint64_t from,
                           uint64_t to_slice, uint64_t from_slice)
{
	cr_expect(eq(u64, call->to_pitch, to));
	cr_expect(eq(u64, call->from_pitch, from));
	cr_expect(eq(u64, call->to_slice_pitch, to_slice));
	cr_expect(eq(u64, call->from_slice_pitch, from_slice));
}

Test(step_calls, read_copies_of_rows_and_slices)
{
	const struct cudaMemcpy3DParms box = {
		.srcPtr = {there, 64, 64, 8},
		.dstPtr = {here, 128, 128, 4},
		.dstPos = {.x = 8, .y = 1, .z = 2},
		.extent = {.width = 32, .height = 4, .depth = 3},
	};
	struct gt_step_call call =
		RUNTIME_CALL(cudaMemcpy2D_v3020, here, 32, there, 16, 8, 4, cudaMemcpyDefault);

	expect_step(&call, GT_BUNDLE_STEP_copy);
	expect_shape(&call, 8, 4, 1);
	expect_pitches(&call, 32, 16, 0, 0);
	cr_expect(call.blocks);
	call = RUNTIME_CALL(cudaMemcpy3DAsync_v3020, &box, stream);
	expect_step(&call, GT_BUNDLE_STEP_copy);
	cr_expect(eq(u64, call.to, (uint64_t)(uintptr_t)here + 2 * 4 * 128 + 128 + 8));
	expect_shape(&call, 32, 4, 3);
	expect_pitches(&call, 128, 64, 4 * 128, 8 * 64);
}

static struct gt_step_call read_box(size_t width, size_t height, size_t depth, size_t from_height)
{
	const CUDA_MEMCPY3D box = {
		.srcMemoryType = CU_MEMORYTYPE_DEVICE,
		.srcDevice = 0x10000,
		.srcPitch = 64,
		.srcHeight = from_height,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE,
		.dstDevice = 0x20000,
		.dstPitch = 64,
		.dstHeight = 4,
		.WidthInBytes = width,
		.Height = height,
		.Depth = depth,
	};

	return DRIVER_CALL(cuMemcpy3DAsync_v2, &box, stream);
}

Test(step_calls, put_together_what_lies_on_end)
{
	struct gt_step_call call = read_box(64, 4, 3, 4);

	expect_shape(&call, 768, 1, 1);
	expect_pitches(&call, 0, 0, 0, 0);
	call = read_box(64, 4, 3, 5); /* rows on end, slices not on one side */
	expect_shape(&call, 256, 3, 1);
	expect_pitches(&call, 256, 320, 0, 0);
	call = read_box(32, 4, 3, 4); /* slices on end, rows not */
	expect_shape(&call, 32, 12, 1);
	expect_pitches(&call, 64, 64, 0, 0);
	call = read_box(32, 1, 3, 5);
	expect_shape(&call, 32, 3, 1);
	expect_pitches(&call, 256, 320, 0, 0);
	call = read_box(32, 2, 3, 5);
	expect_shape(&call, 32, 2, 3);
	expect_pitches(&call, 64, 64, 256, 320);
}

Test(step_calls, read_fills_of_slices)
{
	const struct gt_step_call call =
		RUNTIME_CALL(cudaMemset3DAsync_v3020, .pitchedDevPtr = {here, 64, 64, 8},
	                     .value = 7, .extent = {16, 4, 3}, .stream = stream);

	expect_step(&call, GT_BUNDLE_STEP_fill);
	expect_shape(&call, 16, 4, 3);
	expect_pitches(&call, 64, 0, 512, 0);
}

Test(step_calls, know_copies_of_variables_by_their_names)
{
	struct gt_step_call call =
		RUNTIME_CALL(cudaMemcpyToSymbol_v3020, here, there, 64, 0, cudaMemcpyDefault);

	cr_expect(eq(int, (int)call.kind, (int)GT_STEP_CALL_NAMED));
	cr_expect(call.blocks);
	call = RUNTIME_CALL(cudaMemcpyFromSymbolAsync_v3020, here, there, 64, 0,
	                    cudaMemcpyDeviceToHost, stream);
	cr_expect(eq(int, (int)call.kind, (int)GT_STEP_CALL_NAMED));
	cr_expect(eq(ptr, (void *)call.stream, (void *)stream));
	call = RUNTIME_CALL(cudaGraphAddMemcpyNodeToSymbol_v11010, .src = here, .count = 64);
	cr_expect(eq(int, (int)call.kind, (int)GT_STEP_CALL_NONE));
}

Test(step_calls, read_each_copy_of_a_batch)
{
	enum { COUNT = 130 };
	void *to[COUNT];
	const void *from[COUNT];
	size_t sizes[COUNT];
	struct cudaMemcpyAttributes attributes = {.flags = 0};
	const cudaMemcpyBatchAsync_v13000_params params = {.dsts = to,
	                                                   .srcs = from,
	                                                   .sizes = sizes,
	                                                   .count = COUNT,
	                                                   .attrs = &attributes,
	                                                   .numAttrs = 1,
	                                                   .stream = (cudaStream_t)stream};
	const CUpti_CallbackData data = {.callbackSite = CUPTI_API_ENTER,
	                                 .functionName = "cudaMemcpyBatchAsync",
	                                 .functionParams = &params};
	const CUpti_CallbackId id = CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyBatchAsync_v13000;
	struct gt_step_call call;
	size_t count = 0;

	for (size_t i = 0; i < COUNT; i++) {
		to[i] = (char *)0x10000 + 64 * i;
		from[i] = (char *)0x90000 + 64 * i;
		sizes[i] = i + 1;
	}
	gt_step_call_read(false, id, &data, &call);
	do {
		expect_step(&call, GT_BUNDLE_STEP_copy);
		cr_expect(eq(u64, call.to, 0x10000 + 64 * count));
		cr_expect(eq(u64, call.from, 0x90000 + 64 * count));
		cr_expect(eq(u64, call.bytes, ++count));
	} while (gt_step_call_next(false, id, &data, &call));
	cr_expect(eq(sz, count, COUNT));
	attributes.flags = 2;
	gt_step_call_read(false, id, &data, &call);
	expect_refused(&call, "a flag that is not known");
}

Test(step_calls, read_what_orders_work)
{
	struct gt_step_call call = DRIVER_CALL(cuEventRecord, event, stream);

	expect_step(&call, GT_BUNDLE_STEP_record);
	cr_expect(eq(ptr, (void *)call.event, (void *)event));
	cr_expect(eq(ptr, (void *)call.stream, (void *)stream));
	call = RUNTIME_CALL(cudaStreamWaitEvent_v3020, stream, (cudaEvent_t)event, 0);
	expect_step(&call, GT_BUNDLE_STEP_wait);
	call = RUNTIME_CALL(cudaEventSynchronize_v3020, (cudaEvent_t)event);
	expect_step(&call, GT_BUNDLE_STEP_host_wait);
	cr_expect(not(call.has_stream));
	cr_expect(eq(ptr, (void *)call.event, (void *)event));
	call = read_call(false, CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020,
	                 "cudaDeviceSynchronize", NULL);
	expect_step(&call, GT_BUNDLE_STEP_host_wait);
	cr_expect(not(call.has_stream));
	call = DRIVER_CALL(cuStreamSynchronize, stream);
	expect_step(&call, GT_BUNDLE_STEP_host_wait);
	cr_expect(call.has_stream);
}

Test(step_calls, know_launches_and_memory_that_goes)
{
	struct gt_step_call call = DRIVER_CALL(cuLaunchKernel, .hStream = stream);

	expect_step(&call, GT_BUNDLE_STEP_launch);
	cr_expect(eq(ptr, (void *)call.stream, (void *)stream));
	call = RUNTIME_CALL(cudaFree_v3020, here);
	cr_assert(eq(int, (int)call.kind, (int)GT_STEP_CALL_END));
	cr_expect(eq(u64, call.address, (uint64_t)(uintptr_t)here));
	call = DRIVER_CALL(cuArrayDestroy, (CUarray)here);
	cr_assert(eq(int, (int)call.kind, (int)GT_STEP_CALL_END));
	cr_expect(eq(u64, call.address, (uint64_t)(uintptr_t)here));
	call = RUNTIME_CALL(cudaFree_v3020, NULL);
	cr_expect(eq(int, (int)call.kind, (int)GT_STEP_CALL_NONE));
}

/* Names of callback ids, from CUPTI's own headers. */
static const char *const runtime_names[1024] = {
#include "fakes/runtime_names.inc"
};
static const char *const driver_names[1024] = {
#include "fakes/driver_names.inc"
};

static bool has_one_of(const char *name, const char *const *words)
{
	for (; *words; words++)
		if (strstr(name, *words))
			return true;
	return false;
}

/* By their names: after these memory that steps may use is not there, or not the GPU's any more. */
static bool ends_memory(const char *name)
{
	static const char *const words[] = {
		"cudaFree",      "cuMemFree",      "HostUnregister",          "cuMemUnmap",
		"cuMemHostFree", "cuArrayDestroy", "cuMipmappedArrayDestroy", NULL};
	/* Of CUDA 3.1 and earlier, which later ones replaced. */
	static const char *const old[] = {"cuMemFree", NULL};

	return has_one_of(name, words) && strcmp(name, *old) != 0;
}

static size_t check_calls_that_end(bool driver, const char *const *names)
{
	/* Their parameters are handles, addresses and sizes, the memory is the first. */
	const uint64_t params[] = {0x10000, 64, 0, 0, 0, 0, 0, 0};
	size_t count = 0;

	for (CUpti_CallbackId id = 1; id < 1024; id++) {
		const struct gt_step_call call =
			names[id] && ends_memory(names[id])
				? read_call(driver, id, names[id], params)
				: (struct gt_step_call){.kind = GT_STEP_CALL_NONE};

		if (!names[id] || !ends_memory(names[id]))
			continue;
		count++;
		cr_expect(gt_step_call_is_known(driver, id), "%s", names[id]);
		cr_expect(eq(int, (int)call.kind, (int)GT_STEP_CALL_END), "%s", names[id]);
		cr_expect(eq(u64, call.address, 0x10000), "%s", names[id]);
		cr_expect(eq(u64, call.freed_bytes, strstr(names[id], "Unmap") ? 64 : 0), "%s",
		          names[id]);
	}
	return count;
}

Test(step_calls, know_each_call_after_which_memory_is_gone)
{
	cr_expect(ge(sz, check_calls_that_end(false, runtime_names), 7));
	cr_expect(ge(sz, check_calls_that_end(true, driver_names), 7));
}

Test(step_calls, say_what_no_sequence_can_have)
{
	const CUDA_MEMCPY2D from_array = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
	                                  .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                                  .dstDevice = 0x10000,
	                                  .dstPitch = 64,
	                                  .WidthInBytes = 64,
	                                  .Height = 4};
	struct gt_step_call call = DRIVER_CALL(cuMemcpy2DAsync_v2, &from_array, stream);

	expect_refused(&call, "array");
	call = DRIVER_CALL(cuLaunchHostFunc, stream, NULL, NULL);
	expect_refused(&call, "function of the host");
	call = DRIVER_CALL(cuStreamWaitValue32_v2, stream, 0x10000, 1, 0);
	expect_refused(&call, "value in memory");
	call = DRIVER_CALL(cuMemcpyHtoA_v2, NULL, 0, here, 64);
	expect_refused(&call, "array");
	call = DRIVER_CALL(cuMemcpyAtoA_v2, NULL, 0, NULL, 0, 64);
	expect_refused(&call, "array");
}

/* Each way to change an array that is no copy in two or three dimensions. */
Test(step_calls, know_all_copies_of_arrays)
{
	static const CUpti_CallbackId of_driver[] = {
		CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoA_v2,
		CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoAAsync_v2,
		CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoAAsync_v2_ptsz,
		CUPTI_DRIVER_TRACE_CBID_cuMemcpyAtoH_v2,
		CUPTI_DRIVER_TRACE_CBID_cuMemcpyAtoHAsync_v2,
		CUPTI_DRIVER_TRACE_CBID_cuMemcpyAtoHAsync_v2_ptsz,
		CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoA_v2,
		CUPTI_DRIVER_TRACE_CBID_cuMemcpyAtoD_v2,
		CUPTI_DRIVER_TRACE_CBID_cuMemcpyAtoA_v2,
	};
	static const CUpti_CallbackId of_runtime[] = {
		CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyToArray_v3020,
		CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyToArrayAsync_v3020,
		CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyFromArray_v3020,
		CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyFromArrayAsync_v3020,
		CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2DToArray_v3020,
		CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2DToArrayAsync_v3020,
		CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2DToArrayAsync_ptsz_v7000,
		CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2DFromArray_v3020,
		CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2DFromArrayAsync_v3020,
		CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyArrayToArray_v3020,
		CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2DArrayToArray_v3020,
	};
	struct gt_step_call call;

	for (size_t i = 0; i < sizeof(of_driver) / sizeof(of_driver[0]); i++)
		cr_expect(gt_step_call_is_known(true, of_driver[i]), "driver's %zu", i);
	for (size_t i = 0; i < sizeof(of_runtime) / sizeof(of_runtime[0]); i++)
		cr_expect(gt_step_call_is_known(false, of_runtime[i]), "runtime's %zu", i);
	call = DRIVER_CALL(cuMemcpyHtoAAsync_v2, NULL, 0, here, 64, stream);
	expect_refused(&call, "array");
	call = RUNTIME_CALL(cudaMemcpy2DToArrayAsync_v3020, .src = here, .width = 64, .height = 4);
	expect_refused(&call, "array");
}

Test(step_calls, leave_out_what_does_nothing_yet)
{
	const CUDA_MEMSET_NODE_PARAMS fill = {
		.dst = 0x10000, .elementSize = 1, .width = 64, .height = 1};
	struct gt_step_call call =
		DRIVER_CALL(cuGraphAddMemsetNode, NULL, NULL, NULL, 0, &fill, NULL);

	cr_expect(eq(int, (int)call.kind, (int)GT_STEP_CALL_NONE));
	call = RUNTIME_CALL(cudaMemcpyAsync_v3020, here, there, 0, cudaMemcpyDefault, stream);
	cr_expect(eq(int, (int)call.kind, (int)GT_STEP_CALL_NONE));
	cr_expect(
		not(gt_step_call_is_known(false, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000)),
		"its driver's call would not be heard of inside of it");
	cr_expect(not(gt_step_call_is_known(
			  false, CUPTI_RUNTIME_TRACE_CBID_cudaStreamBeginCapture_v10000)),
	          "likewise");
	cr_expect(gt_step_call_is_known(true, CUPTI_DRIVER_TRACE_CBID_cuEventRecord));
}

Test(step_calls, read_launches_of_graphs_and_what_their_nodes_do)
{
	const CUgraphExec exec = (CUgraphExec)0x6000;
	const CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
	                            .srcHost = here,
	                            .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                            .dstDevice = 0x10000,
	                            .WidthInBytes = 64,
	                            .Height = 1,
	                            .Depth = 1};
	const CUDA_MEMCPY3D from_array = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
	                                  .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                                  .dstDevice = 0x10000,
	                                  .WidthInBytes = 64,
	                                  .Height = 1,
	                                  .Depth = 1};
	const CUDA_MEMSET_NODE_PARAMS fill = {.dst = 0x10000,
	                                      .pitch = 256,
	                                      .value = 7,
	                                      .elementSize = 2,
	                                      .width = 16,
	                                      .height = 3};
	struct gt_step_call call = DRIVER_CALL(cuGraphLaunch, exec, stream);

	cr_assert(eq(int, (int)call.kind, (int)GT_STEP_CALL_GRAPH));
	cr_expect(eq(ptr, (void *)call.exec, (void *)exec));
	cr_expect(eq(ptr, (void *)call.stream, (void *)stream));
	gt_step_call_read_copy(&copy, &call);
	expect_step(&call, GT_BUNDLE_STEP_copy);
	cr_expect(eq(u64, call.from, (uint64_t)(uintptr_t)here));
	cr_expect(eq(u64, call.to, 0x10000));
	cr_expect(eq(u64, call.bytes, 64));
	gt_step_call_read_copy(&from_array, &call);
	expect_refused(&call, "from or to an array");
	gt_step_call_read_fill(&fill, &call);
	expect_step(&call, GT_BUNDLE_STEP_fill);
	cr_expect(eq(u64, call.bytes, 32));
	cr_expect(eq(u64, call.rows, 3));
	cr_expect(eq(u64, call.to_pitch, 256));
	cr_expect(eq(u32, call.value_bytes, 2));
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/step_calls.h"

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
	call = RUNTIME_CALL(cudaFree_v3020, NULL);
	cr_expect(eq(int, (int)call.kind, (int)GT_STEP_CALL_NONE));
}

Test(step_calls, say_what_no_sequence_can_have)
{
	struct gt_step_call call =
		RUNTIME_CALL(cudaMemcpy2D_v3020, here, 32, there, 16, 8, 4, cudaMemcpyDefault);

	expect_refused(&call, "rows with gaps");
	call = RUNTIME_CALL(cudaMemcpyToSymbol_v3020, here, there, 64, 0, cudaMemcpyDefault);
	expect_refused(&call, "a variable by its name");
	call = DRIVER_CALL(cuGraphLaunch, .hStream = stream);
	expect_refused(&call, "CUDA graph");
	call = DRIVER_CALL(cuLaunchHostFunc, stream, NULL, NULL);
	expect_refused(&call, "function of the host");
	call = DRIVER_CALL(cuStreamWaitValue32_v2, stream, 0x10000, 1, 0);
	expect_refused(&call, "value in memory");
	call = DRIVER_CALL(cuMemcpyHtoA_v2, NULL, 0, here, 64);
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

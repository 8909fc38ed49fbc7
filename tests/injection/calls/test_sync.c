/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/calls/sync.h"

#include <stdio.h>
#include <string.h>

#include "injection/calls/parameters.h"
#include "support/check.h"

#define MAX_FACTS 4

static CUstream const stream = (CUstream)0x5000;
static CUevent const event = (CUevent)0xe000;
static CUevent const earlier = (CUevent)0xe100;

/* Facts of one call. */
struct said {
	unsigned count;
	struct gt_sync_facts facts[MAX_FACTS];
};

static struct said read_call(bool driver, CUpti_CallbackId id, const void *params)
{
	const struct gt_sync_call *call = gt_sync_call_find(driver, id);
	const CUpti_CallbackData data = {.callbackSite = CUPTI_API_ENTER, .functionParams = params};
	struct said said = {0};

	memset(said.facts, 0xaa, sizeof(said.facts));
	cr_assert(ne(ptr, (void *)call, NULL), "callback id %u", id);
	said.count = gt_sync_call_read(call, &data, said.facts, MAX_FACTS);
	return said;
}

/* The one fact of a call with these parameters, in the order of CUPTI's struct. */
#define RUNTIME_FACT(call, ...)                                                                    \
	only(read_call(false, CUPTI_RUNTIME_TRACE_CBID_##call, &(call##_params){__VA_ARGS__}))
#define DRIVER_FACT(call, ...)                                                                     \
	only(read_call(true, CUPTI_DRIVER_TRACE_CBID_##call, &(call##_params){__VA_ARGS__}))
#define BARE_FACT(driver, id) only(read_call(driver, id, NULL))

static struct gt_sync_facts only(struct said said)
{
	cr_assert(eq(uint, said.count, 1));
	return said.facts[0];
}

static void expect_same(struct gt_sync_facts actual, struct gt_sync_facts expected)
{
	cr_expect(eq(int, (int)actual.kind, (int)expected.kind));
	cr_expect(eq(int, (int)actual.waits, (int)expected.waits));
	cr_expect(eq(u64, actual.stream, expected.stream));
	cr_expect(eq(u64, actual.event, expected.event));
	cr_expect(eq(u64, actual.second_event, expected.second_event));
	cr_expect(eq(u64, actual.context, expected.context));
	cr_expect(eq(u64, actual.address, expected.address));
	cr_expect(eq(u64, actual.value, expected.value));
	cr_expect(eq(u32, actual.count, expected.count));
	cr_expect(eq(u32, actual.flags, expected.flags));
}

/* Names of callback ids, from CUPTI's own headers. */
static const char *const runtime_names[1024] = {
#include "fakes/runtime_names.inc"
};
static const char *const driver_names[1024] = {
#include "fakes/driver_names.inc"
};

static const char *name_of(bool driver, CUpti_CallbackId id)
{
	const char *name = driver ? driver_names[id] : runtime_names[id];

	return name ? name : "";
}

static bool contains_one_of(const char *name, const char *const *words)
{
	for (; *words; words++)
		if (strstr(name, *words))
			return true;
	return false;
}

Test(sync_calls, knows_every_call_that_is_about_order_by_its_name)
{
	static const char *const words[] = {
		"Synchronize", "StreamWaitEvent", "EventRecord",    "EventDestroy",
		"EventQuery",  "StreamQuery",     "ElapsedTime",    "LaunchHostFunc",
		"AddCallback", "WaitValue",       "WriteValue",     "StreamBatchMemOp",
		"EventCreate", "SemaphoresAsync", "CtxRecordEvent", "CtxWaitEvent",
		NULL,
	};
	static const char *const no[] = {"Graph", "FromEGLSync", "FromNVNSync", NULL};
	unsigned found = 0;

	for (CUpti_CallbackId id = 0; id < 2048; id++) {
		const bool driver = id >= 1024;
		const char *name = name_of(driver, id % 1024);

		if (!contains_one_of(name, words) || contains_one_of(name, no))
			continue;
		cr_expect(ne(ptr, (void *)gt_sync_call_find(driver, id % 1024), NULL), "%s", name);
		found++;
	}
	cr_expect(gt(uint, found, 60));
}

/* The calls of CUDA 3.1 are there beside their successors, with pointers of 32 bits. */
static bool is_replaced(const char *name)
{
	char successor[128];

	snprintf(successor, sizeof(successor), "%s_v2", name);
	for (size_t i = 0; i < 1024; i++)
		if (driver_names[i] && strcmp(driver_names[i], successor) == 0)
			return strcmp(name, "cuMemcpy") != 0;
	return strncmp(name, "cu64", 4) == 0 || strcmp(name, "cuMemcpy_v2") == 0;
}

Test(sync_calls, knows_every_copy_fill_and_free_that_may_wait)
{
	static const char *const words[] = {"Memcpy",
	                                    "Memset",
	                                    "cudaFree",
	                                    "cuMemFree",
	                                    "HostUnregister",
	                                    "cuArrayDestroy",
	                                    "cu64Mem",
	                                    "MipmappedArrayDestroy",
	                                    NULL};
	static const char *const no[] = {"Graph", "Async", "HostAlloc", NULL};
	unsigned found = 0;

	for (CUpti_CallbackId id = 0; id < 2048; id++) {
		const bool driver = id >= 1024;
		const char *name = name_of(driver, id % 1024);
		const bool wanted = contains_one_of(name, words) && !contains_one_of(name, no) &&
		                    strcmp(name, "cu64MemAlloc") != 0 &&
		                    strcmp(name, "cu64MemAllocPitch") != 0 &&
		                    strcmp(name, "cu64MemGetAddressRange") != 0;

		if (!wanted)
			continue;
		cr_expect(eq(int, gt_sync_call_find(driver, id % 1024) != NULL, !is_replaced(name)),
		          "%s", name);
		found++;
	}
	cr_expect(gt(uint, found, 60));
}

Test(sync_calls, a_null_stream_is_the_threads_own_only_in_calls_compiled_for_that)
{
	unsigned per_thread = 0;

	for (CUpti_CallbackId id = 0; id < 2048; id++) {
		const bool driver = id >= 1024;
		const char *name = name_of(driver, id % 1024);
		const struct gt_sync_call *call = gt_sync_call_find(driver, id % 1024);
		const bool by_name = strstr(name, "_ptsz") || strstr(name, "_ptds");

		if (!call)
			continue;
		cr_expect(eq(int, call->default_stream == GT_STREAM_PER_THREAD, by_name), "%s",
		          name);
		per_thread += by_name;
	}
	cr_expect(gt(uint, per_thread, 50));
}

Test(sync_calls, knows_nothing_of_other_calls)
{
	cr_expect(eq(ptr, (void *)gt_sync_call_find(false, 0), NULL));
	cr_expect(eq(ptr, (void *)gt_sync_call_find(true, 0), NULL));
	cr_expect(eq(ptr, (void *)gt_sync_call_find(false, UINT32_MAX), NULL));
	cr_expect(eq(ptr, (void *)gt_sync_call_find(true, UINT32_MAX), NULL));
	for (CUpti_CallbackId id = CUPTI_DRIVER_TRACE_CBID_SIZE; id < 4096; id++)
		cr_expect(eq(ptr, (void *)gt_sync_call_find(true, id), NULL), "%u", id);
	for (CUpti_CallbackId id = CUPTI_RUNTIME_TRACE_CBID_SIZE; id < 4096; id++)
		cr_expect(eq(ptr, (void *)gt_sync_call_find(false, id), NULL), "%u", id);
	cr_expect(eq(ptr,
	             (void *)gt_sync_call_find(false,
	                                       CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000),
	             NULL));
	cr_expect(
		eq(ptr,
	           (void *)gt_sync_call_find(false, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020),
	           NULL));
	cr_expect(eq(ptr, (void *)gt_sync_call_find(true, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel),
	             NULL));
}

Test(sync_calls, a_stream_is_waited_for)
{
	struct gt_sync_facts expected = {.kind = GT_SYNC_STREAM_SYNCHRONIZE,
	                                 .waits = GT_SYNC_WAITS_ALWAYS,
	                                 .stream = 0x5000};

	expect_same(RUNTIME_FACT(cudaStreamSynchronize_v3020, stream), expected);
	expect_same(RUNTIME_FACT(cudaStreamSynchronize_ptsz_v7000, stream), expected);
	expect_same(DRIVER_FACT(cuStreamSynchronize, stream), expected);
	expect_same(DRIVER_FACT(cuStreamSynchronize_ptsz, stream), expected);
}

Test(sync_calls, default_streams_have_one_number_each_however_they_are_named)
{
	cr_expect(eq(u64, RUNTIME_FACT(cudaStreamSynchronize_v3020, NULL).stream, 0));
	cr_expect(eq(u64, RUNTIME_FACT(cudaStreamSynchronize_ptsz_v7000, NULL).stream, 2));
	cr_expect(eq(u64, DRIVER_FACT(cuStreamQuery, NULL).stream, 0));
	cr_expect(eq(u64, DRIVER_FACT(cuStreamQuery_ptsz, NULL).stream, 2));
	cr_expect(eq(u64, DRIVER_FACT(cuStreamQuery, CU_STREAM_LEGACY).stream, 0));
	cr_expect(eq(u64, DRIVER_FACT(cuStreamQuery_ptsz, CU_STREAM_LEGACY).stream, 0));
	cr_expect(eq(u64, DRIVER_FACT(cuStreamQuery, CU_STREAM_PER_THREAD).stream, 2));
	cr_expect(eq(u64, RUNTIME_FACT(cudaMemcpy_v3020, NULL).stream, 0));
	cr_expect(eq(u64, RUNTIME_FACT(cudaMemcpy_ptds_v7000, NULL).stream, 2));
	cr_expect(eq(u64, RUNTIME_FACT(cudaMemcpyPeer_v4000, NULL).stream, 0));
}

Test(sync_calls, an_event_is_waited_for)
{
	struct gt_sync_facts expected = {.kind = GT_SYNC_EVENT_SYNCHRONIZE,
	                                 .waits = GT_SYNC_WAITS_ALWAYS,
	                                 .stream = GT_STREAM_NONE,
	                                 .event = 0xe000};

	expect_same(RUNTIME_FACT(cudaEventSynchronize_v3020, event), expected);
	expect_same(DRIVER_FACT(cuEventSynchronize, event), expected);
}

Test(sync_calls, a_context_is_waited_for_also_without_parameters)
{
	struct gt_sync_facts expected = {.kind = GT_SYNC_CONTEXT_SYNCHRONIZE,
	                                 .waits = GT_SYNC_WAITS_ALWAYS,
	                                 .stream = GT_STREAM_NONE};

	expect_same(BARE_FACT(false, CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020),
	            expected);
	expect_same(BARE_FACT(false, CUPTI_RUNTIME_TRACE_CBID_cudaThreadSynchronize_v3020),
	            expected);
	expect_same(BARE_FACT(true, CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize), expected);
	expected.context = 0xc000;
	expect_same(DRIVER_FACT(cuCtxSynchronize_v2, (CUcontext)0xc000), expected);
}

Test(sync_calls, a_stream_waits_for_an_event)
{
	struct gt_sync_facts expected = {
		.kind = GT_SYNC_STREAM_WAIT_EVENT, .stream = 0x5000, .event = 0xe000, .flags = 1};

	expect_same(RUNTIME_FACT(cudaStreamWaitEvent_v3020, stream, event, 1), expected);
	expect_same(RUNTIME_FACT(cudaStreamWaitEvent_ptsz_v7000, stream, event, 1), expected);
	expect_same(DRIVER_FACT(cuStreamWaitEvent, stream, event, 1), expected);
	expect_same(DRIVER_FACT(cuStreamWaitEvent_ptsz, stream, event, 1), expected);
	expected.stream = GT_STREAM_NONE;
	expected.context = 0xc000;
	expected.flags = 0;
	expect_same(DRIVER_FACT(cuCtxWaitEvent, (CUcontext)0xc000, event), expected);
}

Test(sync_calls, an_event_is_recorded_in_a_stream)
{
	struct gt_sync_facts expected = {
		.kind = GT_SYNC_EVENT_RECORD, .stream = 0x5000, .event = 0xe000};

	expect_same(RUNTIME_FACT(cudaEventRecord_v3020, event, stream), expected);
	expect_same(RUNTIME_FACT(cudaEventRecord_ptsz_v7000, event, stream), expected);
	expect_same(DRIVER_FACT(cuEventRecord, event, stream), expected);
	expect_same(DRIVER_FACT(cuEventRecord_ptsz, event, stream), expected);
	expected.flags = 1;
	expect_same(RUNTIME_FACT(cudaEventRecordWithFlags_v11010, event, stream, 1), expected);
	expect_same(RUNTIME_FACT(cudaEventRecordWithFlags_ptsz_v11010, event, stream, 1), expected);
	expect_same(DRIVER_FACT(cuEventRecordWithFlags, event, stream, 1), expected);
	expect_same(DRIVER_FACT(cuEventRecordWithFlags_ptsz, event, stream, 1), expected);
}

Test(sync_calls, two_events_are_compared_whatever_the_version)
{
	struct gt_sync_facts expected = {.kind = GT_SYNC_EVENT_ELAPSED_TIME,
	                                 .stream = GT_STREAM_NONE,
	                                 .event = 0xe000,
	                                 .second_event = 0xe100};
	const cudaEventElapsedTime_v12080_params before_cuda_13 = {NULL, earlier, event};

	expect_same(RUNTIME_FACT(cudaEventElapsedTime_v12080, NULL, earlier, event), expected);
	expect_same(only(read_call(false, CUPTI_RUNTIME_TRACE_CBID_cudaEventElapsedTime_v3020,
	                           &before_cuda_13)),
	            expected);
	expect_same(DRIVER_FACT(cuEventElapsedTime, NULL, earlier, event), expected);
	expect_same(DRIVER_FACT(cuEventElapsedTime_v2, NULL, earlier, event), expected);
}

Test(sync_calls, queries_ask_and_do_not_wait)
{
	expect_same(RUNTIME_FACT(cudaEventQuery_v3020, event),
	            (struct gt_sync_facts){.kind = GT_SYNC_EVENT_QUERY,
	                                   .stream = GT_STREAM_NONE,
	                                   .event = 0xe000});
	expect_same(DRIVER_FACT(cuEventQuery, event),
	            (struct gt_sync_facts){.kind = GT_SYNC_EVENT_QUERY,
	                                   .stream = GT_STREAM_NONE,
	                                   .event = 0xe000});
	expect_same(RUNTIME_FACT(cudaStreamQuery_v3020, stream),
	            (struct gt_sync_facts){.kind = GT_SYNC_STREAM_QUERY, .stream = 0x5000});
	expect_same(DRIVER_FACT(cuStreamQuery_ptsz, stream),
	            (struct gt_sync_facts){.kind = GT_SYNC_STREAM_QUERY, .stream = 0x5000});
}

static void a_host_function(void *data)
{
	(void)data;
}

static void CUDART_CB a_callback(cudaStream_t of, cudaError_t status, void *data)
{
	(void)of;
	(void)status;
	(void)data;
}

Test(sync_calls, a_function_of_the_host_comes_with_its_address)
{
	struct gt_sync_facts expected = {.kind = GT_SYNC_HOST_FUNCTION,
	                                 .stream = 0x5000,
	                                 .address = (uintptr_t)a_host_function};

	expect_same(RUNTIME_FACT(cudaLaunchHostFunc_v10000, stream, a_host_function), expected);
	expect_same(RUNTIME_FACT(cudaLaunchHostFunc_ptsz_v10000, stream, a_host_function),
	            expected);
	expect_same(DRIVER_FACT(cuLaunchHostFunc, stream, a_host_function), expected);
	expected.address = (uintptr_t)a_callback;
	expect_same(RUNTIME_FACT(cudaStreamAddCallback_v5000, stream, a_callback), expected);
	expect_same(DRIVER_FACT(cuStreamAddCallback, stream, (CUstreamCallback)a_callback),
	            expected);
}

Test(sync_calls, semaphores_of_others_are_counted)
{
	struct gt_sync_facts expected = {
		.kind = GT_SYNC_EXTERNAL_SIGNAL, .stream = 0x5000, .count = 3};

	expect_same(RUNTIME_FACT(cudaSignalExternalSemaphoresAsync_v11020, NULL, NULL, 3, stream),
	            expected);
	expect_same(DRIVER_FACT(cuSignalExternalSemaphoresAsync, NULL, NULL, 3, stream), expected);
	expected.kind = GT_SYNC_EXTERNAL_WAIT;
	expect_same(RUNTIME_FACT(cudaWaitExternalSemaphoresAsync_ptsz_v11020, NULL, NULL, 3,
	                         stream),
	            expected);
	expect_same(DRIVER_FACT(cuWaitExternalSemaphoresAsync_ptsz, NULL, NULL, 3, stream),
	            expected);
}

Test(sync_calls, values_are_read_in_both_widths)
{
	struct gt_sync_facts expected = {.kind = GT_SYNC_WAIT_VALUE,
	                                 .stream = 0x5000,
	                                 .address = 0xadd0,
	                                 .value = 7,
	                                 .flags = CU_STREAM_WAIT_VALUE_EQ};
	const uint64_t wide = UINT64_C(0x100000007);

	expect_same(DRIVER_FACT(cuStreamWaitValue32, stream, 0xadd0, 7, 1), expected);
	expect_same(DRIVER_FACT(cuStreamWaitValue32_v2, stream, 0xadd0, 7, 1), expected);
	expect_same(DRIVER_FACT(cuStreamWaitValue32_v2_ptsz, stream, 0xadd0, 7, 1), expected);
	expected.value = wide;
	expect_same(DRIVER_FACT(cuStreamWaitValue64_v2, stream, 0xadd0, wide, 1), expected);
	expected.kind = GT_SYNC_WRITE_VALUE;
	expect_same(DRIVER_FACT(cuStreamWriteValue64, stream, 0xadd0, wide, 1), expected);
	expect_same(DRIVER_FACT(cuStreamWriteValue64_v2_ptsz, stream, 0xadd0, wide, 1), expected);
	expected.value = 7;
	expect_same(DRIVER_FACT(cuStreamWriteValue32_v2, stream, 0xadd0, 7, 1), expected);
}

/* A wait, a barrier, a write of 64 bits, and more waits. */
static void fill_batch(CUstreamBatchMemOpParams *operations, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		operations[i].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
		operations[i].waitValue.address = 0xa000 + i;
		operations[i].waitValue.value64 = UINT64_C(0xffffffff00000000) + i;
		operations[i].waitValue.flags = CU_STREAM_WAIT_VALUE_AND;
	}
	operations[1].memoryBarrier.operation = CU_STREAM_MEM_OP_BARRIER;
	operations[2].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
	operations[2].writeValue.value64 = UINT64_C(1) << 40;
	operations[2].writeValue.flags = 0;
}

Test(sync_calls, a_batch_is_as_many_facts_as_it_has_waits_and_writes)
{
	CUstreamBatchMemOpParams operations[3] = {{0}};
	const cuStreamBatchMemOp_v2_params params = {stream, 3, operations, 0};
	struct said said;

	fill_batch(operations, 3);
	said = read_call(true, CUPTI_DRIVER_TRACE_CBID_cuStreamBatchMemOp_v2, &params);
	cr_assert(eq(uint, said.count, 2));
	expect_same(said.facts[0], (struct gt_sync_facts){.kind = GT_SYNC_WAIT_VALUE,
	                                                  .stream = 0x5000,
	                                                  .address = 0xa000,
	                                                  .count = 3,
	                                                  .flags = CU_STREAM_WAIT_VALUE_AND});
	expect_same(said.facts[1], (struct gt_sync_facts){.kind = GT_SYNC_WRITE_VALUE,
	                                                  .stream = 0x5000,
	                                                  .address = 0xa002,
	                                                  .value = UINT64_C(1) << 40,
	                                                  .count = 3});
}

Test(sync_calls, a_long_batch_is_cut_and_says_how_long_it_was)
{
	CUstreamBatchMemOpParams operations[20] = {{0}};
	const cuStreamBatchMemOp_ptsz_params params = {NULL, 20, operations, 0};
	struct said said;

	fill_batch(operations, 20);
	said = read_call(true, CUPTI_DRIVER_TRACE_CBID_cuStreamBatchMemOp_ptsz, &params);
	cr_assert(eq(uint, said.count, MAX_FACTS));
	cr_expect(eq(u64, said.facts[MAX_FACTS - 1].address, 0xa004));
	cr_expect(eq(u64, said.facts[MAX_FACTS - 1].value, 4));
	cr_expect(eq(u64, said.facts[MAX_FACTS - 1].stream, GT_STREAM_PER_THREAD));
	cr_expect(eq(u32, said.facts[MAX_FACTS - 1].count, 20));
}

Test(sync_calls, a_batch_that_the_driver_refuses_is_not_read)
{
	const cuStreamBatchMemOp_v2_params params = {stream, 3, NULL, 0};

	cr_expect(eq(uint,
	             read_call(true, CUPTI_DRIVER_TRACE_CBID_cuStreamBatchMemOp_v2, &params).count,
	             0));
}

Test(sync_calls, a_copy_waits_as_its_direction_says)
{
	static const struct {
		enum cudaMemcpyKind direction;
		enum gt_sync_waits waits;
	} cases[] = {{cudaMemcpyHostToHost, GT_SYNC_WAITS_ALWAYS},
	             {cudaMemcpyHostToDevice, GT_SYNC_WAITS_SOMETIMES},
	             {cudaMemcpyDeviceToHost, GT_SYNC_WAITS_ALWAYS},
	             {cudaMemcpyDeviceToDevice, GT_SYNC_WAITS_NEVER},
	             {cudaMemcpyDefault, GT_SYNC_WAITS_SOMETIMES},
	             {(enum cudaMemcpyKind)99, GT_SYNC_WAITS_SOMETIMES}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct gt_sync_facts expected = {.kind = GT_SYNC_BLOCKING_COPY,
		                                       .waits = cases[i].waits};

		expect_same(RUNTIME_FACT(cudaMemcpy_v3020, NULL, NULL, 8, cases[i].direction),
		            expected);
		expect_same(RUNTIME_FACT(cudaMemcpyToSymbol_v3020, NULL, NULL, 8, 0,
		                         cases[i].direction),
		            expected);
	}
}

Test(sync_calls, copies_fills_and_frees_of_the_driver_wait_as_documented)
{
	cr_expect(eq(int, (int)DRIVER_FACT(cuMemcpyDtoH_v2, NULL).waits, GT_SYNC_WAITS_ALWAYS));
	cr_expect(eq(int, (int)DRIVER_FACT(cuMemcpyHtoD_v2, 0).waits, GT_SYNC_WAITS_SOMETIMES));
	cr_expect(eq(int, (int)DRIVER_FACT(cuMemcpyDtoD_v2, 0).waits, GT_SYNC_WAITS_NEVER));
	cr_expect(eq(int, (int)DRIVER_FACT(cuMemcpyPeer_ptds, 0).waits, GT_SYNC_WAITS_NEVER));
	expect_same(DRIVER_FACT(cuMemsetD32_v2, 0xadd0, 1, 2),
	            (struct gt_sync_facts){.kind = GT_SYNC_BLOCKING_FILL,
	                                   .waits = GT_SYNC_WAITS_SOMETIMES});
	expect_same(DRIVER_FACT(cuMemFree_v2, 0xadd0),
	            (struct gt_sync_facts){.kind = GT_SYNC_BLOCKING_FREE,
	                                   .waits = GT_SYNC_WAITS_SOMETIMES,
	                                   .stream = GT_STREAM_NONE,
	                                   .address = 0xadd0});
}

Test(sync_calls, freeing_nothing_waits_for_nothing)
{
	cr_expect(eq(int, (int)RUNTIME_FACT(cudaFree_v3020, NULL).waits, GT_SYNC_WAITS_NEVER));
	cr_expect(eq(int, (int)RUNTIME_FACT(cudaFree_v3020, (void *)0xadd0).waits,
	             GT_SYNC_WAITS_SOMETIMES));
	cr_expect(eq(u64, RUNTIME_FACT(cudaFreeHost_v3020, (void *)0xadd0).address, 0xadd0));
}

/* Fact of a creation at this site of the call, with its result and its variable so filled. */
static struct gt_sync_facts created(CUpti_ApiCallbackSite site, int result, CUevent variable)
{
	const cuEventCreate_params params = {&variable, CU_EVENT_DISABLE_TIMING};
	const CUpti_CallbackData data = {
		.callbackSite = site, .functionParams = &params, .functionReturnValue = &result};
	const struct gt_sync_call *call =
		gt_sync_call_find(true, CUPTI_DRIVER_TRACE_CBID_cuEventCreate);
	struct gt_sync_facts facts;

	cr_assert(ne(ptr, (void *)call, NULL));
	cr_expect(eq(uint, call->flags, GT_SYNC_CALL_AT_EXIT));
	cr_expect(eq(uint, gt_sync_call_read(call, &data, &facts, 1), 1));
	return facts;
}

Test(sync_calls, a_created_event_is_known_when_the_call_returned_without_error)
{
	expect_same(created(CUPTI_API_EXIT, 0, event),
	            (struct gt_sync_facts){.kind = GT_SYNC_EVENT_CREATE,
	                                   .stream = GT_STREAM_NONE,
	                                   .event = 0xe000,
	                                   .flags = CU_EVENT_DISABLE_TIMING});
	cr_expect(eq(u64, created(CUPTI_API_ENTER, 0, event).event, 0));
	cr_expect(eq(u64, created(CUPTI_API_EXIT, CUDA_ERROR_OUT_OF_MEMORY, event).event, 0));
}

/* Fact of giving an event away, or opening one, at its return with that result. */
static struct gt_sync_facts handed_over(bool driver, CUpti_CallbackId id, const void *params,
                                        int result)
{
	const CUpti_CallbackData data = {.callbackSite = CUPTI_API_EXIT,
	                                 .functionParams = params,
	                                 .functionReturnValue = &result};
	const struct gt_sync_call *call = gt_sync_call_find(driver, id);
	struct gt_sync_facts facts;

	cr_assert(ne(ptr, (void *)call, NULL));
	cr_expect(eq(uint, call->flags, GT_SYNC_CALL_AT_EXIT));
	cr_assert(eq(uint, gt_sync_call_read(call, &data, &facts, 1), 1));
	return facts;
}

Test(sync_calls, an_event_that_is_opened_has_the_value_of_the_one_that_was_given_away)
{
	CUipcEventHandle handle = {.reserved = "where it is"};
	cudaIpcEventHandle_t same;
	CUevent opened = event;
	struct gt_sync_facts given;
	struct gt_sync_facts got;

	memcpy(&same, &handle, sizeof(same));
	given = handed_over(true, CUPTI_DRIVER_TRACE_CBID_cuIpcGetEventHandle,
	                    &(cuIpcGetEventHandle_params){&handle, earlier}, 0);
	cr_expect(eq(int, (int)given.kind, (int)GT_SYNC_EVENT_EXPORT));
	cr_expect(eq(u64, given.event, 0xe100));
	cr_expect(ne(u64, given.value, 0));
	got = handed_over(false, CUPTI_RUNTIME_TRACE_CBID_cudaIpcOpenEventHandle_v4010,
	                  &(cudaIpcOpenEventHandle_v4010_params){&opened, same}, 0);
	expect_same(got, (struct gt_sync_facts){.kind = GT_SYNC_EVENT_CREATE,
	                                        .stream = GT_STREAM_NONE,
	                                        .event = 0xe000,
	                                        .value = given.value});
	got = handed_over(true, CUPTI_DRIVER_TRACE_CBID_cuIpcOpenEventHandle,
	                  &(cuIpcOpenEventHandle_params){&opened, handle}, 0);
	cr_expect(eq(u64, got.value, given.value));
	handle.reserved[63] = 1;
	got = handed_over(
		false, CUPTI_RUNTIME_TRACE_CBID_cudaIpcGetEventHandle_v4010,
		&(cudaIpcGetEventHandle_v4010_params){(cudaIpcEventHandle_t *)&handle, earlier}, 0);
	cr_expect(ne(u64, got.value, given.value), "all 64 bytes count");
}

Test(sync_calls, a_handle_that_was_not_given_is_not_read)
{
	const struct gt_sync_facts facts =
		handed_over(true, CUPTI_DRIVER_TRACE_CBID_cuIpcGetEventHandle,
	                    &(cuIpcGetEventHandle_params){(CUipcEventHandle *)16, earlier},
	                    CUDA_ERROR_INVALID_HANDLE);

	cr_expect(eq(u64, facts.value, 0));
}

Test(sync_calls, a_destroyed_event_is_named_by_both_versions)
{
	const struct gt_sync_facts expected = {
		.kind = GT_SYNC_EVENT_DESTROY, .stream = GT_STREAM_NONE, .event = 0xe000};

	expect_same(RUNTIME_FACT(cudaEventDestroy_v3020, event), expected);
	expect_same(DRIVER_FACT(cuEventDestroy, event), expected);
	expect_same(DRIVER_FACT(cuEventDestroy_v2, event), expected);
}

Test(sync_calls, nothing_is_filled_when_there_is_room_for_nothing)
{
	const struct gt_sync_call *call =
		gt_sync_call_find(true, CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize);
	const cuEventSynchronize_params params = {event};
	const CUpti_CallbackData data = {.functionParams = &params};

	cr_expect(eq(uint, gt_sync_call_read(call, &data, NULL, 0), 0));
}

Test(sync_calls, says_what_a_call_does)
{
	static const struct {
		CUpti_CallbackId id;
		uint32_t flags;
	} cases[] = {
		{CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, GT_SYNC_CALL_BLOCKS},
		{CUPTI_DRIVER_TRACE_CBID_cuMemcpy, GT_SYNC_CALL_BLOCKS | GT_SYNC_CALL_IMPLICIT},
		{CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent, GT_SYNC_CALL_ORDERS},
		{CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc, GT_SYNC_CALL_ORDERS},
		{CUPTI_DRIVER_TRACE_CBID_cuEventRecord, GT_SYNC_CALL_SIGNALS},
		{CUPTI_DRIVER_TRACE_CBID_cuStreamWriteValue32_v2, GT_SYNC_CALL_SIGNALS},
		{CUPTI_DRIVER_TRACE_CBID_cuEventQuery, GT_SYNC_CALL_QUERIES},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct gt_sync_call *call = gt_sync_call_find(true, cases[i].id);

		cr_assert(ne(ptr, (void *)call, NULL));
		cr_expect(eq(u32, call->flags, cases[i].flags), "callback id %u", cases[i].id);
	}
}

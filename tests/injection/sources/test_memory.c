/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/calls/memory.h"
#include "injection/recorder.h"
#include "injection/session/source.h"

/* Covers SOURCE(memory): what becomes of calls that allocate and free. */

extern const struct gt_source gt_source_memory;

#define HEARS gt_source_memory.hears

static struct recorder recorder;
static void *state; /* as zeroed as the session's is */

static void make(void)
{
	recorder_init(&recorder);
	state = zeroed(gt_source_memory.state_size);
	atomic_store(&recorder.session->phase, GT_SESSION_RECORDING);
}

TestSuite(memory, .init = make);

static void *enter(CUpti_CallbackId id, const void *params, uint32_t correlation)
{
	const CUpti_CallbackData data = {.callbackSite = CUPTI_API_ENTER,
	                                 .functionParams = params,
	                                 .correlationId = correlation};

	return HEARS.enter(recorder.session, state,
	                   (struct gt_call){.data = &data, .id = (uint16_t)id, .driver = 1});
}

static void leave(CUpti_CallbackId id, const void *params, int result, void *kept)
{
	const CUpti_CallbackData data = {.callbackSite = CUPTI_API_EXIT,
	                                 .functionParams = params,
	                                 .contextUid = 3,
	                                 .functionReturnValue = &result};

	HEARS.leave(recorder.session, state,
	            (struct gt_call){.data = &data, .id = (uint16_t)id, .driver = 1}, kept);
}

/* The only record there is; the caller frees it. */
static struct gt_record_memory_call *only_record(void)
{
	struct gt_record_memory_call *rows;
	size_t count;

	recorder_drain(&recorder);
	rows = recorder_records(&recorder, GT_RECORD_memory_call, &count);
	cr_assert(eq(sz, count, 1));
	return rows;
}

Test(memory, writes_what_was_allocated_where_and_how_long_it_took)
{
	CUdeviceptr made = 0;
	const cuMemAllocAsync_params params = {&made, 4096, (CUstream)0x5000};
	struct gt_record_memory_call *row;
	void *kept = enter(CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync, &params, 42);

	made = 0x7000;
	leave(CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync, &params, 0, kept);
	row = only_record();
	cr_expect(eq(u32, row->kind, GT_MEMORY_CALL_ALLOCATE_ORDERED));
	cr_expect(eq(u64, row->address, 0x7000));
	cr_expect(eq(u64, row->size_bytes, 4096));
	cr_expect(eq(u64, row->stream, 0x5000));
	cr_expect(eq(u32, row->correlation, 42));
	cr_expect(eq(u32, row->context, 3), "which the call itself may have made current");
	cr_expect(eq(i32, row->result, 0));
	cr_expect(eq(u32, row->flags, GT_RECORD_DRIVER_API));
	cr_expect(gt(u64, row->start_ns, 0));
	cr_expect(ge(u64, row->end_ns, row->start_ns));
	free(row);
}

Test(memory, keeps_what_could_not_be_allocated)
{
	CUdeviceptr made = 0xbad;
	const cuMemAlloc_v2_params params = {&made, UINT64_C(1) << 40};
	struct gt_record_memory_call *row;
	void *kept = enter(CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2, &params, 1);

	leave(CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2, &params, CUDA_ERROR_OUT_OF_MEMORY, kept);
	row = only_record();
	cr_expect(eq(i32, row->result, 2));
	cr_expect(eq(u64, row->address, 0));
	cr_expect(eq(u64, row->size_bytes, UINT64_C(1) << 40));
	free(row);
}

Test(memory, leaves_a_call_unfinished_in_which_the_process_died)
{
	CUdeviceptr made = 0;
	const cuMemAlloc_v2_params params = {&made, 512};
	struct gt_record_memory_call *row;

	(void)enter(CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2, &params, 1);
	row = only_record();
	cr_expect(eq(u64, row->end_ns, 0));
	cr_expect(row->flags & GT_RECORD_UNFINISHED);
	cr_expect(eq(u64, row->size_bytes, 512));
	free(row);
}

Test(memory, writes_nothing_of_freeing_nothing)
{
	const cuMemFree_v2_params nothing = {0};
	const cuMemFree_v2_params something = {0x7000};
	struct gt_record_memory_call *row;
	void *kept = enter(CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2, &nothing, 1);

	cr_expect(eq(ptr, kept, NULL));
	leave(CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2, &nothing, 0, kept);
	kept = enter(CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2, &something, 2);
	leave(CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2, &something, 0, kept);
	row = only_record();
	cr_expect(eq(u64, row->address, 0x7000));
	free(row);
}

/* In a stream that is being captured nothing is allocated yet. */
Test(memory, marks_what_became_a_node_of_a_graph)
{
	CUdeviceptr made = 0x7000;
	const cuMemAllocAsync_params params = {&made, 4096, NULL};
	struct gt_record_memory_call *row;
	void *kept = enter(CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync, &params, 1);

	HEARS.event(recorder.session, NULL, CUPTI_CB_DOMAIN_RESOURCE,
	            CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, NULL, kept);
	leave(CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync, &params, 0, kept);
	row = only_record();
	cr_expect(eq(u32, row->flags, GT_RECORD_DRIVER_API | GT_RECORD_GRAPH_NODE));
	free(row);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "injection/cupti/cupti.h"
#include "injection/recorder.h"
#include "injection/session/source.h"

/* Covers SOURCE(sync): what becomes of a call that waits, asks or makes an event. */

extern const struct gt_source gt_source_sync;

#define ENTER gt_source_sync.hears.enter
#define LEAVE gt_source_sync.hears.leave

enum { CONTEXT = 3, NOT_READY = 600, READY = 0 };

static CUevent const event = (CUevent)0xe000;
static CUevent const other_event = (CUevent)0xe100;
static CUstream const stream = (CUstream)0x5000;

static struct recorder recorder;

static void make(void)
{
	recorder_init(&recorder);
	atomic_store(&recorder.session->phase, GT_SESSION_RECORDING);
}

TestSuite(sync, .init = make);

/* A call of the driver from its entry to its return. */
static void make_call(CUpti_CallbackId id, const void *params, uint32_t context, int result,
                      uint32_t correlation)
{
	CUpti_CallbackData data = {.callbackSite = CUPTI_API_ENTER,
	                           .functionParams = params,
	                           .contextUid = context,
	                           .correlationId = correlation};
	const struct gt_call call = {.data = &data, .id = (uint16_t)id, .driver = 1};
	void *kept = ENTER(recorder.session, NULL, call);

	data.callbackSite = CUPTI_API_EXIT;
	data.functionReturnValue = &result;
	LEAVE(recorder.session, NULL, call, kept);
}

static void ask_event(CUevent which, int answer)
{
	const cuEventQuery_params params = {which};

	make_call(CUPTI_DRIVER_TRACE_CBID_cuEventQuery, &params, CONTEXT, answer, 1);
}

static void ask_stream(uint32_t context, int answer)
{
	const cuStreamQuery_params params = {stream};

	make_call(CUPTI_DRIVER_TRACE_CBID_cuStreamQuery, &params, context, answer, 1);
}

static struct gt_record_query *queries(size_t *count)
{
	recorder_drain(&recorder);
	return recorder_records(&recorder, GT_RECORD_query, count);
}

Test(sync, counts_like_queries_in_one_record_and_others_apart)
{
	struct gt_record_query *rows;
	size_t count;

	for (int i = 0; i < 5; i++)
		ask_event(event, NOT_READY);
	ask_event(event, READY);
	ask_event(other_event, NOT_READY);
	ask_stream(CONTEXT, NOT_READY);
	ask_event(event, NOT_READY); /* counted in the first record still */
	rows = queries(&count);
	cr_assert(eq(sz, count, 4));
	cr_expect(eq(u64, rows[0].event, 0xe000));
	cr_expect(eq(i32, rows[0].result, NOT_READY));
	cr_expect(eq(u32, rows[0].count, 6));
	cr_expect(eq(u32, rows[0].context, CONTEXT));
	cr_expect(ge(u64, rows[0].end_ns, rows[2].start_ns));
	cr_expect(eq(u64, rows[1].event, 0xe000));
	cr_expect(eq(i32, rows[1].result, READY));
	cr_expect(eq(u32, rows[1].count, 1));
	cr_expect(eq(u64, rows[2].event, 0xe100));
	cr_expect(eq(u32, rows[2].count, 1));
	cr_expect(eq(u64, rows[3].stream, 0x5000));
	cr_expect(eq(u32, rows[3].count, 1));
	cr_expect(ne(u32, rows[3].kind, rows[0].kind));
	free(rows);
}

Test(sync, counts_queries_of_two_contexts_apart)
{
	struct gt_record_query *rows;
	size_t count;

	ask_stream(CONTEXT, READY);
	ask_stream(CONTEXT + 1, READY);
	ask_stream(CONTEXT, READY);
	rows = queries(&count);
	cr_assert(eq(sz, count, 2));
	cr_expect(eq(u32, rows[0].count, 2));
	cr_expect(eq(u32, rows[1].count, 1));
	cr_expect(eq(u32, rows[1].context, CONTEXT + 1));
	free(rows);
}

Test(sync, counts_on_in_a_new_record_when_the_slot_is_another)
{
	struct gt_record_query *rows;
	size_t count;

	ask_event(event, READY);
	gt_emit_hand_over(recorder.session);
	ask_event(event, READY);
	ask_event(event, READY);
	rows = queries(&count);
	cr_assert(eq(sz, count, 2));
	cr_expect(eq(u32, rows[0].count, 1));
	cr_expect(eq(u32, rows[1].count, 2));
	free(rows);
}

Test(sync, writes_a_wait_with_its_stream_times_and_result)
{
	const cuStreamSynchronize_params params = {stream};
	struct gt_record_sync_call *rows;
	size_t count;

	errno = EDOM;
	make_call(CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, &params, CONTEXT, 719, 42);
	cr_expect(eq(int, errno, EDOM));
	recorder_drain(&recorder);
	rows = recorder_records(&recorder, GT_RECORD_sync_call, &count);
	cr_assert(eq(sz, count, 1));
	cr_expect(eq(u64, rows[0].stream, 0x5000));
	cr_expect(eq(u32, rows[0].correlation, 42));
	cr_expect(eq(u32, rows[0].context, CONTEXT));
	cr_expect(eq(i32, rows[0].result, 719));
	cr_expect(gt(u64, rows[0].start_ns, 0));
	cr_expect(ge(u64, rows[0].end_ns, rows[0].start_ns));
	cr_expect(eq(u32, rows[0].flags, GT_RECORD_DRIVER_API));
	free(rows);
}

Test(sync, knows_an_event_only_when_it_was_made)
{
	CUevent made = (CUevent)0xe200;
	const cuEventCreate_params params = {&made, 0};
	struct gt_record_sync_call *rows;
	size_t count;

	make_call(CUPTI_DRIVER_TRACE_CBID_cuEventCreate, &params, CONTEXT, 2, 42);
	make_call(CUPTI_DRIVER_TRACE_CBID_cuEventCreate, &params, CONTEXT, 0, 43);
	recorder_drain(&recorder);
	rows = recorder_records(&recorder, GT_RECORD_sync_call, &count);
	cr_assert(eq(sz, count, 1));
	cr_expect(eq(u64, rows[0].event, 0xe200));
	cr_expect(eq(u32, rows[0].correlation, 43));
	cr_expect(eq(u64, rows[0].end_ns, rows[0].start_ns));
	free(rows);
}

Test(sync, names_both_events_of_an_elapsed_time)
{
	const cuEventElapsedTime_v2_params params = {NULL, event, other_event};
	struct gt_record_sync_call *rows;
	size_t count;

	make_call(CUPTI_DRIVER_TRACE_CBID_cuEventElapsedTime_v2, &params, CONTEXT, 0, 42);
	recorder_drain(&recorder);
	rows = recorder_records(&recorder, GT_RECORD_sync_call, &count);
	cr_assert(eq(sz, count, 1));
	cr_expect(eq(u64, rows[0].event, 0xe100)); /* the end */
	cr_expect(eq(u64, rows[0].value, 0xe000)); /* the beginning */
	free(rows);
}

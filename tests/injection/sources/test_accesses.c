/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/calls/access.h"
#include "injection/recorder.h"
#include "injection/session/source.h"

/* Covers SOURCE(accesses): what becomes of calls that copy and fill. */

extern const struct gt_source gt_source_accesses;

static struct recorder recorder;

static void make(void)
{
	recorder_init(&recorder);
	atomic_store(&recorder.session->phase, GT_SESSION_RECORDING);
}

TestSuite(accesses, .init = make);

static void *enter(CUpti_CallbackId id, const void *params, uint32_t correlation)
{
	const CUpti_CallbackData data = {.callbackSite = CUPTI_API_ENTER,
	                                 .functionParams = params,
	                                 .contextUid = 3,
	                                 .correlationId = correlation};

	return gt_source_accesses.hears.enter(
		recorder.session, NULL,
		(struct gt_call){.data = &data, .id = (uint16_t)id, .driver = 1});
}

Test(accesses, write_one_record_for_each_side_of_a_copy)
{
	const cuMemcpyDtoDAsync_v2_params params = {0x10000, 0x20000, 4096, (CUstream)0x5000};
	struct gt_record_access *rows;
	size_t count;

	cr_expect(eq(ptr, enter(CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2, &params, 42), NULL));
	recorder_drain(&recorder);
	rows = recorder_records(&recorder, GT_RECORD_access, &count);
	cr_assert(eq(sz, count, 2));
	cr_expect(eq(u32, rows[0].kind, GT_ACCESS_COPY_FROM));
	cr_expect(eq(u64, rows[0].address, 0x20000));
	cr_expect(eq(u32, rows[1].kind, GT_ACCESS_COPY_TO));
	cr_expect(eq(u64, rows[1].address, 0x10000));
	for (int i = 0; i < 2; i++) {
		cr_expect(eq(u64, rows[i].size_bytes, 4096));
		cr_expect(eq(u32, rows[i].rows, 1));
		cr_expect(eq(u64, rows[i].stream, 0x5000));
		cr_expect(eq(u32, rows[i].correlation, 42));
		cr_expect(eq(u32, rows[i].context, 3));
		cr_expect(gt(u64, rows[i].start_ns, 0));
		cr_expect(eq(u64, rows[i].end_ns, rows[i].start_ns));
		cr_expect(eq(u32, rows[i].flags, GT_RECORD_DRIVER_API));
	}
	free(rows);
}

Test(accesses, write_nothing_of_other_calls_and_of_nothing)
{
	const cuMemsetD8_v2_params nothing = {0x10000, 0, 0};
	struct gt_record_access *rows;
	size_t count;

	(void)enter(CUPTI_DRIVER_TRACE_CBID_cuMemsetD8_v2, &nothing, 1);
	(void)enter(CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, NULL, 2);
	recorder_drain(&recorder);
	rows = recorder_records(&recorder, GT_RECORD_access, &count);
	cr_expect(eq(sz, count, 0));
	free(rows);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/collect.h"
#include "format/file/meta.h"
#include "model/ledger.h"

/* Counts of a process beside its records that are there. */

static struct recording recording;

enum { NAME = STRING_NEXT };

static void make(void)
{
	recording_init(&recording);
	recording_begin(&recording, "node-1-1");
	recording_add_basics(&recording, 1);
	recording_add_call(&recording, 2000, 1);
	recording_add_kernel(&recording, 3000, 1);
}

static void drop(void)
{
	recording_release(&recording);
}

TestSuite(missing, .init = make, .fini = drop);

static struct gt_trace end(void)
{
	recording_end(&recording, true);
	return collect(&recording);
}

static bool is_clean(const struct gt_trace *trace)
{
	const struct gt_ledger_state state = gt_ledger_state(trace);

	return gt_ledger_is_clean(&state);
}

static void tell(uint32_t kind, uint64_t rows)
{
	recording_add(&recording, written, .kind = kind, .rows = rows);
}

static void count(const char *name, uint64_t value)
{
	static uint32_t string = NAME;

	recording_add_string(&recording, string, name);
	recording_add(&recording, ledger, .name = string++, .value = value);
}

Test(missing, tells_nothing_of_a_capture_that_has_all)
{
	struct gt_trace trace;

	tell(GT_RECORD_kernel, 1);
	tell(GT_RECORD_api_call, 1);
	tell(GT_RECORD_STRINGS, 3); /* more are there: they came behind the count */
	trace = end();
	cr_expect(is_clean(&trace));
	cr_expect(eq(u64, ledger_of(&trace, "missing_kernel"), UINT64_MAX));
	gt_trace_release(&trace);
}

Test(missing, names_each_kind_of_which_records_are_missing)
{
	struct gt_trace trace;

	tell(GT_RECORD_kernel, 5);
	tell(GT_RECORD_kernel, 7); /* the last one holds */
	tell(GT_RECORD_range_begin, 1);
	tell(GT_RECORD_STRINGS, 1000);
	trace = end();
	cr_expect(not(is_clean(&trace)));
	cr_expect(eq(u64, ledger_of(&trace, "missing_kernel"), 6));
	cr_expect(eq(u64, ledger_of(&trace, "missing_range_begin"), 1));
	cr_expect(ledger_of(&trace, "missing_strings") > 900);
	cr_expect(has_note(&trace, 0,
	                   "node-1-1.capture lacks records that its process counted: kernel, 1 of "
	                   "7 are there"));
	gt_trace_release(&trace);
}

Test(missing, wants_the_counts_of_a_process_that_counts)
{
	struct gt_trace trace;

	recording_add_meta(&recording, GT_META_WRITTEN, GT_META_COUNTED);
	trace = end();
	cr_expect(eq(u64, ledger_of(&trace, "ledgers_unknown"), 1));
	cr_expect(not(is_clean(&trace)));
	gt_trace_release(&trace);
}

Test(missing, wants_a_ledger_of_a_process_that_ended)
{
	struct gt_trace trace;

	recording_begin(&recording, "node-1-1");
	recording_add_meta(&recording, GT_META_API, "outer");
	recording_add_string(&recording, STRING_LAUNCH, "cudaLaunchKernel_v7000");
	recording_add_call(&recording, 2000, 1);
	trace = end();
	cr_expect(eq(u64, ledger_of(&trace, "ledgers_unknown"), 1));
	cr_expect(not(is_clean(&trace)));
	gt_trace_release(&trace);
}

Test(missing, takes_no_count_that_nobody_can_have_counted)
{
	struct gt_trace trace;

	tell(GT_RECORD_kernel, UINT64_MAX);
	tell(70000, 5); /* a kind of a later gputrace */
	trace = end();
	cr_expect(eq(u64, ledger_of(&trace, "missing_kernel"), UINT64_MAX));
	cr_expect(eq(u64, ledger_of(&trace, "ledgers_unknown"), 1));
	gt_trace_release(&trace);
}

/* Captures of earlier versions count groups of kinds only. */
Test(missing, compares_the_ledger_where_records_are_not_counted)
{
	struct gt_trace trace;

	count("api_calls", 1000000);
	count("nvtx_calls", 3);
	count("activity_records", 12);
	count("activity_folded", 4);
	count("unknown_records", 2);
	count("device_events", 1);
	recording_add(&recording, range_begin, .time_ns = 2100, .thread = 100);
	trace = end();
	cr_expect(eq(u64, ledger_of(&trace, "missing_api_call"), 999999));
	cr_expect(eq(u64, ledger_of(&trace, "missing_nvtx"), 2));
	/* 12 less 4 and 2; a kernel, a device, a context and a stream are there */
	cr_expect(eq(u64, ledger_of(&trace, "missing_activity"), 12 - 4 - 2 - 4));
	cr_expect(eq(u64, ledger_of(&trace, "missing_device_event"), 1));
	cr_expect(not(is_clean(&trace)));
	gt_trace_release(&trace);
}

Test(missing, believes_the_finer_counts_where_there_are_both)
{
	struct gt_trace trace;

	count("api_calls", 1000000);
	tell(GT_RECORD_api_call, 1);
	trace = end();
	cr_expect(is_clean(&trace));
	gt_trace_release(&trace);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "collector/collect.h"

static struct recording recording;

static void make(void)
{
	recording_init(&recording);
}

static void drop(void)
{
	recording_release(&recording);
}

TestSuite(own, .init = make, .fini = drop);

static void add_wait(uint64_t start, uint32_t correlation)
{
	recording_add(&recording, sync_call, .start_ns = start, .end_ns = start + 5,
	              .stream = UINT64_MAX, .event = UINT64_MAX, .correlation = correlation,
	              .context = CONTEXT, .thread = 100);
}

/* Launches with the ids 1 to 9, of which gputrace made those with the ids 2, 3 and 9. */
static void add_process(uint32_t pid, bool own)
{
	char name[32];

	snprintf(name, sizeof(name), "node-%u-1", pid);
	recording_begin(&recording, name);
	recording_add_basics(&recording, pid);
	recording_add(&recording, own_call, .correlation = own ? 9 : 99);
	for (uint32_t id = 1; id <= 9; id++) {
		const bool is_own = own && (id == 2 || id == 3 || id == 9);

		if (!is_own)
			recording_add_call(&recording, 2000 + id, id);
		recording_add_kernel(&recording, 3000 + 100 * id, id);
		recording_add(&recording, copy, .start_ns = 5000 + id, .end_ns = 5001 + id,
		              .size_bytes = id, .correlation = id, .context = CONTEXT,
		              .stream = STREAM);
		add_wait(6000 + id, id);
		recording_add(&recording, sync, .start_ns = 7000 + id, .end_ns = 7001 + id,
		              .correlation = id, .context = CONTEXT, .stream = STREAM);
		recording_add(&recording, query, .start_ns = 8000 + id, .end_ns = 8000 + id,
		              .stream = UINT64_MAX, .event = UINT64_MAX, .context = CONTEXT,
		              .thread = 100, .count = 1);
	}
	recording_add(&recording, kernel, .start_ns = 9000, .end_ns = 9001, .shape = SHAPE,
	              .context = CONTEXT, .stream = STREAM); /* of no call */
	if (own) /* written last by a thread that took its time */
		for (uint32_t id = 2; id <= 3; id++)
			recording_add(&recording, own_call, .correlation = id);
	recording_end(&recording, true);
}

Test(own, is_in_no_table)
{
	struct gt_trace trace;
	uint64_t bytes = 0;

	add_process(1, true);
	trace = collect(&recording);
	cr_expect(eq(sz, trace.api_calls.count, 6));
	cr_expect(eq(sz, trace.kernels.count, 6 + 1));
	cr_expect(eq(sz, trace.copies.count, 6));
	cr_expect(eq(sz, trace.syncs.count, 2 * 6));
	cr_expect(eq(sz, trace.queries.count, 9), "queries have no correlation id");
	gt_array_each(const struct gt_copy, copy, &trace.copies)
		bytes += copy->size_bytes;
	cr_expect(eq(u64, bytes, 1 + 4 + 5 + 6 + 7 + 8));
	gt_trace_release(&trace);
}

Test(own, is_in_no_class_of_the_ledger_but_its_own)
{
	struct gt_trace trace;

	add_process(1, true);
	trace = collect(&recording);
	cr_expect(eq(u64, ledger_of(&trace, "launches"), 6));
	cr_expect(eq(u64, ledger_of(&trace, "launches_timed"), 6));
	cr_expect(eq(u64, ledger_of(&trace, "kernels"), 7));
	cr_expect(eq(u64, ledger_of(&trace, "kernels_without_call"), 1));
	gt_trace_release(&trace);
}

/* Launches with the ids 1 to 3, of which the counters of that with the id 2 were read: of a graph. */
static void add_counted_process(uint32_t pid, bool is_counted)
{
	char name[32];

	snprintf(name, sizeof(name), "node-%u-1", pid);
	recording_begin(&recording, name);
	recording_add_basics(&recording, pid);
	for (uint32_t id = 1; id <= 3; id++) {
		recording_add_call(&recording, 2000 + id, id);
		recording_add_kernel(&recording, 3000 + 100 * id, id);
	}
	recording_add(&recording, profiled_launch, .start_ns = 2000, .end_ns = 4000,
	              .correlation = 2, .passes = 1, .kind = is_counted);
	recording_end(&recording, true);
}

/* Ids of launches begin anew in each process. */
Test(own, kernels_of_cupti_are_known_by_process)
{
	struct gt_trace trace;
	uint32_t kernels[3] = {0};

	add_counted_process(1, false);
	add_counted_process(2, true);
	add_counted_process(3, false);
	trace = collect(&recording);
	gt_array_each(const struct gt_kernel, kernel, &trace.kernels)
		kernels[gt_trace_stream_process(&trace, kernel->stream)]++;
	cr_expect(eq(u32, kernels[0], 3));
	cr_expect(eq(u32, kernels[1], 2));
	cr_expect(eq(u32, kernels[2], 3));
	gt_trace_release(&trace);
}

Test(own, is_known_by_process)
{
	struct gt_trace trace;
	uint32_t kernels[3] = {0};

	add_process(1, false);
	add_process(2, true);
	add_process(3, false);
	trace = collect(&recording);
	gt_array_each(const struct gt_kernel, kernel, &trace.kernels)
		kernels[gt_trace_stream_process(&trace, kernel->stream)]++;
	cr_expect(eq(u32, kernels[0], 10));
	cr_expect(eq(u32, kernels[1], 7));
	cr_expect(eq(u32, kernels[2], 10));
	cr_expect(eq(sz, trace.syncs.count, 18 + 12 + 18));
	/* Times and links are still those of their rows. */
	gt_array_each(const struct gt_kernel, kernel, &trace.kernels)
		if (kernel->api_call != GT_NONE)
			cr_expect(eq(u32, trace.api_calls.rows[kernel->api_call].correlation,
			             kernel->correlation));
	gt_trace_release(&trace);
}

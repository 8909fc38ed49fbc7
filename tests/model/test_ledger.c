/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ledger.h"

#include <stdio.h>
#include <string.h>

#include "support/check.h"
#include "support/trace.h"

Test(ledger, knows_every_class_that_processes_count)
{
	static const char *const names[] = {
#define LEDGER(name, help) #name,
#include "format/ledger.def"
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		cr_expect(gt_ledger_class_find(names[i]) != NULL, "%s is not in model/ledger.def",
		          names[i]);
}

static void expect_known(const char *name)
{
	cr_expect(gt_ledger_class_find(name) != NULL, "%s is not in model/ledger.def", name);
}

/* Its lines read: gt_trace_add_ledger(trace, process, "launches", ...); */
Test(ledger, knows_every_class_that_the_collector_adds)
{
	static const char before[] = "gt_trace_add_ledger(trace, process, \"";
	FILE *file = fopen(GT_TEST_DATA "/../collector/stages/ledger.c", "r");
	char line[512];
	size_t found = 0;

	cr_assert(file != NULL);
	while (fgets(line, sizeof(line), file)) {
		char *name = strstr(line, before);

		if (!name)
			continue;
		name += strlen(before);
		name[strcspn(name, "\"")] = '\0';
		expect_known(name);
		found++;
	}
	fclose(file);
	cr_expect(found > 8, "the lines look different now");
}

Test(ledger, calls_the_time_that_something_took_no_loss)
{
	for (size_t i = 0; i < gt_ledger_class_count; i++) {
		const struct gt_ledger_class *class = &gt_ledger_classes[i];
		const size_t length = strlen(class->name);
		const bool is_time = length > 3 && strcmp(class->name + length - 3, "_ns") == 0;

		cr_expect(is_time == (class->trait == GT_CLASS_time), "%s", class->name);
		cr_expect(gt_ledger_class_is_loss(class) || !*class->one, "%s", class->name);
		cr_expect(strlen(class->help) > 0);
	}
}

Test(ledger, is_clean_as_long_as_nothing_is_missing)
{
	struct gt_trace trace;
	struct gt_ledger_state state;
	gt_id process;

	trace_init(&trace, 100);
	process = trace_process(&trace, "app", 1);
	state = gt_ledger_state(&trace);
	cr_expect(not(gt_ledger_is_clean(&state)), "nobody counted");

	trace_ledger(&trace, process, "launches", 5);
	trace_ledger(&trace, process, "launches_timed", 4);
	trace_ledger(&trace, process, "launches_captured", 1);
	trace.processes.rows[process].ended = GT_END_DIED;
	state = gt_ledger_state(&trace);
	cr_expect(gt_ledger_is_clean(&state), "all of it was salvaged");

	trace.processes.rows[process].ended = GT_END_RUNNING;
	state = gt_ledger_state(&trace);
	cr_expect(eq(u64, state.running, 1));
	cr_expect(not(gt_ledger_is_clean(&state)));

	trace.processes.rows[process].ended = GT_END_CLEAN;
	trace.ledgers.rows[1].value = 3;
	state = gt_ledger_state(&trace);
	cr_expect(eq(u64, state.not_balanced, 1));
	cr_expect(not(gt_ledger_is_clean(&state)));
	gt_trace_release(&trace);
}

Test(ledger, counts_what_two_classes_count_once_for_each_process)
{
	struct gt_trace trace;
	struct gt_ledger_state state;
	gt_id first;
	gt_id second;

	trace_init(&trace, 100);
	first = trace_process(&trace, "app", 1);
	second = trace_process(&trace, "app", 2);
	trace_ledger(&trace, first, "launches_missing", 7);
	trace_ledger(&trace, first, "dropped_by_cupti", 5);
	trace_ledger(&trace, second, "dropped_by_cupti", 3);
	trace_ledger(&trace, second, "kernels_unfinished", 2);
	trace_ledger(&trace, second, "launches_unfinished", 1);
	trace_ledger(&trace, second, "api_lost", 10);
	trace_ledger(&trace, second, "sources_failed", 1);
	trace_ledger(&trace, second, "kernels", 1000);
	state = gt_ledger_state(&trace);
	cr_expect(eq(u64, state.lost, 7 + 3 + 2 + 10));
	cr_expect(eq(u64, state.sources_failed, 1));
	gt_trace_release(&trace);
}

/* Counts of hostile captures: a sum that wraps would be a small number, or one below zero. */
Test(ledger, adds_up_to_the_most_and_not_beyond)
{
	struct gt_trace trace;
	struct gt_ledger_state state;
	uint64_t sum = 0;
	uint64_t *sums;

	trace_init(&trace, 100);
	trace_ledger(&trace, trace_process(&trace, "app", 1), "api_lost", UINT64_MAX - 5);
	trace_ledger(&trace, trace_process(&trace, "app", 2), "api_lost", UINT64_MAX - 5);
	trace_ledger(&trace, 0, "nvtx_lost", 9);
	state = gt_ledger_state(&trace);
	cr_expect(eq(u64, state.lost, INT64_MAX));
	cr_expect(eq(int, gt_trace_ledger(&trace, "api_lost", &sum), 0));
	cr_expect(eq(u64, sum, INT64_MAX));
	sums = gt_ledger_sums(&trace);
	cr_expect(eq(u64, sums[trace.ledgers.rows[0].name], INT64_MAX));
	gt_array_free(sums);
	gt_trace_release(&trace);
}

/* Those that another process counted, and those of which the recording has a row itself. */
Test(ledger, counts_a_process_that_was_not_recorded_once)
{
	struct gt_ledger_state state;
	struct gt_trace trace;
	gt_id parent;

	trace_init(&trace, 100);
	parent = trace_process(&trace, "app", 1);
	trace_ledger(&trace, parent, "processes_unrecorded", 3);
	state = gt_ledger_state(&trace);
	cr_expect(eq(u64, state.unrecorded, 3));
	cr_expect(eq(u64, state.processes, 4), "nobody knows more of them than their number");

	trace.processes.rows[trace_process(&trace, "child", 2)].ended = GT_END_UNRECORDED;
	trace.processes.rows[trace_process(&trace, "child", 3)].ended = GT_END_UNRECORDED;
	state = gt_ledger_state(&trace);
	cr_expect(eq(u64, state.processes, 4), "two of the three are rows");
	cr_expect(not(gt_ledger_is_clean(&state)));

	trace.ledgers.rows[0].value = 1;
	state = gt_ledger_state(&trace);
	cr_expect(eq(u64, state.processes, 3), "there are more rows than were counted");
	gt_trace_release(&trace);
}

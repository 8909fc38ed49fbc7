/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ledger.h"

#include <string.h>

#include "base/array.h"
#include "base/strings.h"
#include "base/sums.h"

#define LEDGER_CLASS(name, trait, one, many, help) {#name, GT_CLASS_##trait, one, many, help},
const struct gt_ledger_class gt_ledger_classes[] = {
#include "model/ledger.def"
};
const size_t gt_ledger_class_count = sizeof(gt_ledger_classes) / sizeof(gt_ledger_classes[0]);

const struct gt_ledger_class *gt_ledger_class_find(const char *name)
{
	for (size_t i = 0; i < gt_ledger_class_count; i++)
		if (strcmp(gt_ledger_classes[i].name, name) == 0)
			return &gt_ledger_classes[i];
	return NULL;
}

enum { TRAITS = GT_CLASS_unrecorded + 1 };

/* The ledger of one process, summed by what the classes mean. */
struct sums {
	uint64_t of[TRAITS];
};

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t lost_of(const struct sums *sums)
{
	uint64_t lost = sums->of[GT_CLASS_lost];

	gt_count_add(&lost, larger(sums->of[GT_CLASS_without_times],
	                           sums->of[GT_CLASS_kernels_without_times]));
	gt_count_add(&lost, larger(sums->of[GT_CLASS_missing], sums->of[GT_CLASS_not_fetched]));
	return lost;
}

/* Rows about a process that could not be recorded are no ledger that the process kept. */
static bool is_of_unrecorded(const struct gt_trace *trace, const struct gt_ledger *row,
                             const struct gt_ledger_class *class)
{
	return (class && class->trait == GT_CLASS_unrecorded) ||
	       (row->process < trace->processes.count &&
	        trace->processes.rows[row->process].ended == GT_END_UNRECORDED);
}

/* Rows whose process is not known are added up as those of one more. */
static void sum_classes(const struct gt_trace *trace, struct gt_ledger_state *state)
{
	const size_t known = trace->processes.count;
	struct sums *sums = gt_allocate_zeroed(known + 1, sizeof(*sums));

	gt_array_each(const struct gt_ledger, row, &trace->ledgers) {
		const struct gt_ledger_class *class =
			gt_ledger_class_find(gt_trace_text(trace, row->name));

		state->kept = state->kept || !is_of_unrecorded(trace, row, class);
		if (class)
			gt_count_add(
				&sums[row->process < known ? row->process : known].of[class->trait],
				row->value);
	}
	for (size_t i = 0; i <= known; i++) {
		gt_count_add(&state->lost, lost_of(&sums[i]));
		gt_count_add(&state->sources_failed, sums[i].of[GT_CLASS_failed]);
		gt_count_add(&state->unrecorded, sums[i].of[GT_CLASS_unrecorded]);
	}
	gt_array_free(sums);
}

uint64_t *gt_ledger_sums(const struct gt_trace *trace)
{
	const size_t count = gt_strings_count(trace->strings);
	uint64_t *sums = gt_allocate_zeroed(count, sizeof(*sums));

	gt_array_each(const struct gt_ledger, row, &trace->ledgers)
		if (row->name < count)
			gt_count_add(&sums[row->name], row->value);
	return sums;
}

static uint64_t sum_of(const struct gt_trace *trace, const char *name)
{
	uint64_t value = 0;

	(void)gt_trace_ledger(trace, name, &value);
	return value;
}

/* All of these are 0 in a trace in which launches were not counted. */
static uint64_t difference(const struct gt_trace *trace)
{
	const uint64_t launches = sum_of(trace, "launches");
	uint64_t sum = 0;

	gt_count_add(&sum, sum_of(trace, "launches_timed"));
	gt_count_add(&sum, sum_of(trace, "launches_unfinished"));
	gt_count_add(&sum, sum_of(trace, "launches_captured"));
	gt_count_add(&sum, sum_of(trace, "launches_missing"));

	return launches > sum ? launches - sum : sum - launches;
}

struct gt_ledger_state gt_ledger_state(const struct gt_trace *trace)
{
	struct gt_ledger_state state = {
		.processes = trace->processes.count,
		.not_balanced = difference(trace),
	};

	uint64_t known = 0;

	sum_classes(trace, &state);
	gt_array_each(const struct gt_process, process, &trace->processes) {
		state.cut_short += process->ended == GT_END_TORN;
		state.unread += process->ended == GT_END_UNREAD;
		state.running += process->ended == GT_END_RUNNING;
		state.imported += process->ended == GT_END_IMPORTED;
		known += process->ended == GT_END_UNRECORDED;
	}
	state.processes += state.unrecorded > known ? state.unrecorded - known : 0;
	return state;
}

bool gt_ledger_is_clean(const struct gt_ledger_state *state)
{
	return state->kept && state->lost == 0 && state->sources_failed == 0 &&
	       state->cut_short == 0 && state->unread == 0 && state->running == 0 &&
	       state->imported == 0 && state->not_balanced == 0 && state->unrecorded == 0;
}

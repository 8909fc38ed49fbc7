/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recording/ledger.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/strings.h"
#include "model/ledger.h"
#include "model/trace.h"
#include "support/check.h"

struct entry {
	const char *name;
	uint64_t value;
};

/* Expects this sentence for these classes; the list ends with a name of NULL. */
static void expect_sentence(const struct entry *entries, bool clean, const char *expected)
{
	struct gt_trace trace;
	char text[512];

	gt_trace_init(&trace);
	for (; entries->name; entries++)
		*gt_array_push(&trace.ledgers) =
			(struct gt_ledger){.name = gt_strings_add(trace.strings, entries->name),
		                           .value = entries->value};
	cr_expect(eq(int, gt_ledger_sentence(&trace, text, sizeof(text)), clean));
	expect_text(text, expected);
	gt_trace_release(&trace);
}

Test(ledger, is_clean_when_every_launch_has_its_kernel)
{
	expect_sentence((struct entry[]){{"launches", 1000},
	                                 {"launches_timed", 1000},
	                                 {"launches_unfinished", 0},
	                                 {"dropped_by_cupti", 0},
	                                 {0}},
	                true, "ledger: 1,000 launches = 1,000 kernels, clean: nothing is missing");
}

Test(ledger, names_every_class_of_launches)
{
	expect_sentence((struct entry[]){{"launches", 1000},
	                                 {"launches_timed", 995},
	                                 {"launches_unfinished", 2},
	                                 {"launches_missing", 3},
	                                 {0}},
	                false, "ledger: 1,000 launches = 995 kernels + 2 unfinished + 3 missing");
}

Test(ledger, is_clean_when_launches_went_into_graphs)
{
	expect_sentence(
		(struct entry[]){
			{"launches", 10}, {"launches_timed", 7}, {"launches_captured", 3}, {0}},
		true,
		"ledger: 10 launches = 7 kernels + 3 captured into graphs, clean: nothing is missing");
}

Test(ledger, adds_up_the_processes)
{
	expect_sentence((struct entry[]){{"launches", 600},
	                                 {"launches", 401},
	                                 {"launches_timed", 600},
	                                 {"launches_timed", 400},
	                                 {"launches_unfinished", 1},
	                                 {0}},
	                false, "ledger: 1,001 launches = 1,000 kernels + 1 unfinished");
}

Test(ledger, never_hides_a_sum_that_is_wrong)
{
	expect_sentence((struct entry[]){{"launches", 10}, {"launches_timed", 9}, {0}}, false,
	                "ledger: 10 launches = 9 kernels + 1 not accounted for");
	expect_sentence(
		(struct entry[]){
			{"launches", 1}, {"launches_timed", 1}, {"launches_missing", 1}, {0}},
		false, "ledger: 1 launch = 1 kernel + 1 missing - 1 counted twice");
}

Test(ledger, says_what_was_lost)
{
	expect_sentence(
		(struct entry[]){{"launches", 2},
	                         {"launches_timed", 2},
	                         {"dropped_by_cupti", 1200},
	                         {"api_lost", 1},
	                         {"sources_failed", 1},
	                         {0}},
		false,
		"ledger: 2 launches = 2 kernels; 1,200 records dropped by CUPTI; 1 API call "
		"lost; 1 source could not start");
}

Test(ledger, says_when_launches_were_not_counted)
{
	expect_sentence(
		(struct entry[]){{"kernels", 1500}, {0}}, true,
		"ledger: launches not counted (--api none), 1,500 kernels, clean: nothing is missing");
}

Test(ledger, says_so_of_each_class_that_calls_may_be_lost_in)
{
	expect_sentence((struct entry[]){{"launches", 5},
	                                 {"launches_timed", 5},
	                                 {"kernels", 5},
	                                 {"chunks_damaged", 1},
	                                 {0}},
	                false, "ledger: at least 5 launches = 5 kernels; 1 damaged chunk");
	expect_sentence(
		(struct entry[]){{"launches", 5},
	                         {"launches_timed", 5},
	                         {"kernels", 5},
	                         {"chunks_left_out", 1},
	                         {0}},
		false,
		"ledger: at least 5 launches = 5 kernels; 1 chunk left out when it was read");
}

Test(ledger, says_that_launches_are_at_least_so_many_where_calls_may_be_lost)
{
	expect_sentence(
		(struct entry[]){{"launches", 500},
	                         {"launches_timed", 500},
	                         {"kernels", 622},
	                         {"kernels_without_call", 122},
	                         {"bytes_damaged", 4239},
	                         {0}},
		false,
		"ledger: at least 500 launches = 500 kernels; 122 kernels whose launch is not "
		"there; 4,239 bytes of damage");
}

Test(ledger, has_no_kernels_beside_0_launches_that_would_be_theirs)
{
	expect_sentence((struct entry[]){{"launches", 0}, {"kernels", 2}, {0}}, true,
	                "ledger: 0 launches of single kernels, 2 kernels of other calls, clean: "
	                "nothing is missing");
	expect_sentence(
		(struct entry[]){{"launches", 0}, {"graph_launches", 3}, {"kernels", 30}, {0}},
		true,
		"ledger: 0 launches of single kernels; 3 graph launches, 30 kernels in "
		"all, clean: nothing is missing");
}

Test(ledger, tells_graph_launches_and_failed_ones_apart)
{
	expect_sentence(
		(struct entry[]){{"launches", 1},
	                         {"launches_timed", 1},
	                         {"launches_refused", 2},
	                         {"graph_launches", 3},
	                         {"kernels", 31},
	                         {0}},
		true,
		"ledger: 1 launch = 1 kernel; 3 graph launches, 31 kernels in all; 2 launches "
		"failed, clean: nothing is missing");
}

/*
 * Sentences of five launches with their kernels where a class that has no words of its own, or more
 * than these, has 1, and 3.
 */
static const struct {
	const char *name;
	bool clean;
	const char *sentences[2];
} of_classes[] = {
	{"launches",
         false,
         {"6 launches = 5 kernels + 1 not accounted for",
          "8 launches = 5 kernels + 3 not accounted for"}},
	{"launches_timed",
         false,
         {"5 launches = 6 kernels - 1 counted twice", "5 launches = 8 kernels - 3 counted twice"}},
	{"launches_unfinished",
         false,
         {"5 launches = 5 kernels + 1 unfinished - 1 counted twice",
          "5 launches = 5 kernels + 3 unfinished - 3 counted twice"}},
	{"launches_captured",
         false,
         {"5 launches = 5 kernels + 1 captured into graphs - 1 counted twice",
          "5 launches = 5 kernels + 3 captured into graphs - 3 counted twice"}},
	{"launches_missing",
         false,
         {"5 launches = 5 kernels + 1 missing - 1 counted twice",
          "5 launches = 5 kernels + 3 missing - 3 counted twice"}},
	{"launches_refused",
         true,
         {"5 launches = 5 kernels; 1 launch failed", "5 launches = 5 kernels; 3 launches failed"}},
	{"graph_launches",
         true,
         {"5 launches = 5 kernels; 1 graph launch, 5 kernels in all",
          "5 launches = 5 kernels; 3 graph launches, 5 kernels in all"}},
	{"kernels_unfinished",
         false,
         {"5 launches = 5 kernels; 1 kernel unfinished",
          "5 launches = 5 kernels; 3 kernels unfinished"}},
	{"processes_unrecorded",
         false,
         {"5 launches = 5 kernels; of 1 process 1 is missing",
          "5 launches = 5 kernels; of 3 processes 3 are missing"}},
	{"bytes_damaged",
         false,
         {"at least 5 launches = 5 kernels; 1 byte of damage",
          "at least 5 launches = 5 kernels; 3 bytes of damage"}},
	{"chunks_damaged",
         false,
         {"at least 5 launches = 5 kernels; 1 damaged chunk",
          "at least 5 launches = 5 kernels; 3 damaged chunks"}},
	{"chunks_left_out",
         false,
         {"at least 5 launches = 5 kernels; 1 chunk left out when it was read",
          "at least 5 launches = 5 kernels; 3 chunks left out when they were read"}},
};

/* Whether the class stands in the list, with its sentence for 1, or for 3. */
static bool find_sentence(const char *name, bool many, bool *clean, char *text, size_t size)
{
	for (size_t i = 0; i < GT_COUNT_OF(of_classes); i++) {
		if (strcmp(of_classes[i].name, name) != 0)
			continue;
		*clean = of_classes[i].clean;
		snprintf(text, size, "ledger: %s", of_classes[i].sentences[many]);
		return true;
	}
	return false;
}

/* Losses have words, and nothing else makes a recording less than whole. */
Test(ledger, says_of_each_class_alone_what_it_means)
{
	for (size_t i = 0; i < 2 * gt_ledger_class_count; i++) {
		const struct gt_ledger_class *class = &gt_ledger_classes[i / 2];
		const bool many = i % 2;
		const struct entry entries[] = {{"launches", 5},
		                                {"launches_timed", 5},
		                                {"kernels", 5},
		                                {class->name, many ? 3 : 1},
		                                {0}};
		bool clean = !*class->one;
		char text[512];

		if (!find_sentence(class->name, many, &clean, text, sizeof(text)))
			snprintf(text, sizeof(text), "ledger: 5 launches = 5 kernels%s%s",
			         clean  ? ""
			         : many ? "; 3 "
			                : "; 1 ",
			         many ? class->many : class->one);
		if (clean)
			strcat(text, ", clean: nothing is missing");
		expect_sentence(entries, clean, text);
	}
}

/* The sentence of one launch with its kernel, recorded by processes that ended so. */
static void expect_ends(const enum gt_end *ends, size_t count, bool clean, const char *expected)
{
	struct gt_trace trace;
	char text[512];

	gt_trace_init(&trace);
	for (size_t i = 0; i < count; i++)
		*gt_array_push(&trace.processes) = (struct gt_process){.ended = ends[i]};
	*gt_array_push(&trace.ledgers) =
		(struct gt_ledger){.name = gt_strings_add(trace.strings, "launches"), .value = 1};
	*gt_array_push(&trace.ledgers) = (struct gt_ledger){
		.name = gt_strings_add(trace.strings, "launches_timed"), .value = 1};
	cr_expect(eq(int, gt_ledger_sentence(&trace, text, sizeof(text)), clean));
	expect_text(text, expected);
	gt_trace_release(&trace);
}

Test(ledger, is_not_clean_when_a_process_is_cut_short_or_still_runs)
{
	static const enum gt_end ends[] = {GT_END_CLEAN,   GT_END_DIED, GT_END_TORN,
	                                   GT_END_RUNNING, GT_END_TORN, GT_END_RUNNING};
	static const enum gt_end unread[] = {GT_END_UNREAD, GT_END_CLEAN, GT_END_UNREAD};

	expect_ends(ends, 2, true, "ledger: 1 launch = 1 kernel, clean: nothing is missing");
	expect_ends(ends + 2, 1, false,
	            "ledger: 1 launch = 1 kernel; 1 of 1 processes cut short: what it did last is "
	            "not known");
	expect_ends(ends + 3, 1, false, "ledger: 1 launch = 1 kernel; 1 process still runs");
	expect_ends(ends, 6, false,
	            "ledger: 1 launch = 1 kernel; 2 of 6 processes cut short: what they did last "
	            "is not known; 2 processes still run");
	expect_ends(unread, 2, false,
	            "ledger: 1 launch = 1 kernel; 1 of 2 processes could not be read: what it did "
	            "is not known");
	expect_ends(
		unread, 3, false,
		"ledger: 1 launch = 1 kernel; 2 of 3 processes could not be read: what they did "
		"is not known");
}

Test(ledger, does_not_blame_the_options_for_launches_it_does_not_know)
{
	expect_sentence((struct entry[]){{"launches_unknown", 1}, {"kernels", 0}, {0}}, false,
	                "ledger: launches not known, 0 kernels; 1 process whose launches are not "
	                "known");
}

Test(ledger, is_not_clean_when_there_is_none)
{
	expect_sentence((struct entry[]){{0}}, false, "ledger: none, no process kept one");
}

Test(ledger, fits_any_buffer)
{
	struct gt_trace trace;
	char text[12];

	gt_trace_init(&trace);
	(void)gt_ledger_sentence(&trace, text, sizeof(text));
	expect_text(text, "ledger: non");
	gt_trace_release(&trace);
}

Test(ledger, says_how_each_process_ended_when_one_could_not_be_recorded)
{
	struct gt_trace trace;
	char text[GT_LEDGER_BYTES];

	gt_trace_init(&trace);
	*gt_array_push(&trace.processes) = (struct gt_process){.ended = GT_END_CLEAN};
	*gt_array_push(&trace.processes) = (struct gt_process){.ended = GT_END_DIED};
	*gt_array_push(&trace.processes) = (struct gt_process){.ended = GT_END_UNRECORDED};
	*gt_array_push(&trace.ledgers) = (struct gt_ledger){
		.process = 0, .name = gt_strings_add(trace.strings, "launches"), .value = 2};
	*gt_array_push(&trace.ledgers) = (struct gt_ledger){
		.process = 0, .name = gt_strings_add(trace.strings, "launches_timed"), .value = 2};
	*gt_array_push(&trace.ledgers) =
		(struct gt_ledger){.process = 2,
	                           .name = gt_strings_add(trace.strings, "processes_unrecorded"),
	                           .value = 1};
	*gt_array_push(&trace.notes) =
		(struct gt_note){.process = 0, .text = gt_strings_add(trace.strings, "other")};
	*gt_array_push(&trace.notes) =
		(struct gt_note){.process = 2, .text = gt_strings_add(trace.strings, "app: why")};
	cr_expect(not(gt_ledger_sentence(&trace, text, sizeof(text))));
	expect_text(text,
	            "ledger: 2 launches = 2 kernels; of 3 processes 1 ended well, 1 died and was "
	            "salvaged, 1 is missing: app: why");
	trace.ledgers.rows[2].value = 4; /* three had no entry of their own */
	(void)gt_ledger_sentence(&trace, text, sizeof(text));
	expect_text(text,
	            "ledger: 2 launches = 2 kernels; of 6 processes 1 ended well, 1 died and was "
	            "salvaged, 4 are missing: app: why, and 3 more");
	gt_trace_release(&trace);
}

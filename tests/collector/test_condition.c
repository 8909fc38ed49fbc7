/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/condition.h"

#include "support/check.h"

static void expect_text_of(const struct gt_condition *condition, const char *expected)
{
	char text[GT_CONDITION_BYTES];

	cr_expect(eq(int, gt_condition_text(condition, text, sizeof(text)), *expected != '\0'));
	expect_text(text, expected);
}

static const struct gt_condition whole = {
	.name = "a.capture", .size = 100, .good_bytes = 100, .has_end = true};

Test(condition, of_a_file_that_is_whole_needs_no_words)
{
	expect_text_of(&whole, "");
}

Test(condition, says_what_cannot_be_read)
{
	struct gt_condition condition = whole;

	condition.skipped = 20;
	condition.damage_at = 16;
	expect_text_of(&condition,
	               "a.capture is damaged: 20 bytes from byte 16 on could not be read");
	condition.torn = true;
	condition.good_bytes = 90;
	expect_text_of(&condition,
	               "a.capture is damaged: 20 bytes from byte 16 on could not be read, and it "
	               "ends inside a chunk: its last 10 bytes could not be read");
	condition.skipped = 0;
	expect_text_of(&condition,
	               "a.capture ends inside a chunk: its last 10 bytes could not be read");
}

/* Cut between two chunks: all that is there can be read. */
Test(condition, misses_the_end_of_the_process)
{
	struct gt_condition condition = whole;

	condition.has_end = false;
	expect_text_of(&condition, "a.capture has no end: what its process did last is not known");
	condition.running = true;
	expect_text_of(&condition, "");
}

Test(condition, of_a_recording_names_the_first_file_and_counts_the_others)
{
	struct gt_recording_condition recording = {0};
	char text[GT_RECORDING_CONDITION_BYTES];
	struct gt_condition condition = whole;

	gt_recording_condition_add(&recording, &condition);
	cr_expect(not(gt_recording_condition_text(&recording, text, sizeof(text))));
	expect_text(text, "");
	condition.problem = "cannot open it: Permission denied";
	gt_recording_condition_add(&recording, &condition);
	condition.name = "b.capture";
	gt_recording_condition_add(&recording, &condition);
	cr_expect(gt_recording_condition_text(&recording, text, sizeof(text)));
	expect_text(text, "is not complete: a.capture was left out: cannot open it: Permission "
	                  "denied; 1 more file is not complete either; figures are of what could "
	                  "be read");
}

Test(condition, of_a_recording_counts_the_processes_that_still_write)
{
	struct gt_recording_condition recording = {0};
	char text[GT_RECORDING_CONDITION_BYTES];
	struct gt_condition condition = whole;

	condition.has_end = false;
	condition.running = true;
	gt_recording_condition_add(&recording, &condition);
	cr_expect(gt_recording_condition_text(&recording, text, sizeof(text)));
	expect_text(text, "is still being written by 1 process: what that has not written yet is "
	                  "not in it");
}

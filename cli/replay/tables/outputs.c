/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/replay/tables/parts.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

static const struct gt_heading buffer_headings[] = {
	{"variant", GT_UNIT_TEXT, "Change to the launches", GT_WORTH_KEY},
	{"memory", GT_UNIT_COUNT, "Number of the buffer in the bundle", GT_WORTH_KEY},
	{"bytes", GT_UNIT_BYTES, "Its size"},
	{"element", GT_UNIT_TEXT, "Type of its elements"},
	{"type_from", GT_UNIT_TEXT,
         "Who says so: given, the format of the array, or guessed from its contents", GT_WORTH_KEY,
         .label = "type"},
	{"elements", GT_UNIT_COUNT, "That were compared", GT_WORTH_LITTLE},
	{"mismatches", GT_UNIT_COUNT, "Elements outside of the tolerance", .alarming = true},
	{"differing", GT_UNIT_COUNT, "Elements whose bits differ", GT_WORTH_LEAST},
	{"worst_relative", GT_UNIT_REAL, "Largest difference, of the recorded value",
         GT_WORTH_LITTLE},
	{"nans", GT_UNIT_COUNT, "Elements that are no number", .alarming = true},
	{"infinities", GT_UNIT_COUNT, "Infinite elements", .alarming = true},
	{"recorded_nans", GT_UNIT_COUNT, "The same in the recorded contents", GT_WORTH_LITTLE},
	{"recorded_infinities", GT_UNIT_COUNT, "The same in the recorded contents", GT_WORTH_LEAST},
	{"known_by", GT_UNIT_TEXT,
         "Evidence that it is written: contents, which change; or poison: runs over other contents, "
         "as it holds the same afterwards",
         GT_WORTH_LITTLE},
	{"written_bytes", GT_UNIT_COUNT, "Bytes written of one that holds the same afterwards",
         GT_WORTH_LEAST},
	{"unwritten_bytes", GT_UNIT_COUNT, "Written in the program, and not here",
         .alarming = true},
	{"untouched_bytes", GT_UNIT_COUNT,
         "Beside written ones, and written neither in the program nor here", GT_WORTH_LITTLE,
         .alarming = true},
	{"zone_bytes", GT_UNIT_COUNT, "Red zones around it that were watched", GT_WORTH_LEAST},
	{"outside_bytes", GT_UNIT_COUNT, "Bytes of the red zones around it that were written",
         .alarming = true},
	{"varies", GT_UNIT_COUNT, "Elements in which two runs differed", .alarming = true},
	{"least", GT_UNIT_REAL, "Smallest finite element", GT_WORTH_LITTLE},
	{"most", GT_UNIT_REAL, "Largest finite element", GT_WORTH_LITTLE},
	{"mean", GT_UNIT_REAL, "Mean of the finite elements", GT_WORTH_LITTLE},
	{"recorded_mean", GT_UNIT_REAL, "The same in the recorded contents", GT_WORTH_LEAST},
	{"address", GT_UNIT_TEXT, "In the program", GT_WORTH_LEAST},
	{"name", GT_UNIT_TEXT, "Name of a variable; size of an array; else who asked for it",
         GT_WORTH_LEAST},
	{"verdict", GT_UNIT_TEXT, "The outcome in words", GT_WORTH_PROSE},
};

static const struct gt_heading mismatch_headings[] = {
	{"variant", GT_UNIT_TEXT, "Change to the launches", GT_WORTH_KEY},
	{"memory", GT_UNIT_COUNT, "Number of the buffer in the bundle", GT_WORTH_KEY},
	{"offset_bytes", GT_UNIT_COUNT, "In the buffer", .label = "offset"},
	{"wanted", GT_UNIT_REAL, "Recorded value; unknown: it is no number"},
	{"got", GT_UNIT_REAL, "Value here"},
};

/* With the type: a column that is the same in all rows is left out of narrow pages. */
static void add_buffer_verdict(struct gt_result *result, const struct gt_outcome *outcome,
                               const struct gt_outcome_buffer *buffer)
{
	const struct gt_replay_buffer *found = &buffer->found;
	const char *right = outcome->step_plus_one ? "as in the sequence" : "as recorded";
	char text[256] = "";
	size_t used = 0;

#define SAY(condition, ...)                                                                        \
	if ((condition) && used < sizeof(text))                                                    \
	used += (size_t)snprintf(text + used, sizeof(text) - used, __VA_ARGS__)

	SAY(found->outside, "written outside, first at byte %lld of it",
	    (long long)found->first_outside);
	SAY(found->unwritten, "%snot written from byte %llu on", used ? "; " : "",
	    (unsigned long long)found->first_unwritten);
	SAY(found->untouched, "%snever written from byte %llu on", used ? "; " : "",
	    (unsigned long long)found->first_untouched);
	SAY(found->varies, "%sdiffers from run to run", used ? "; " : "");
	SAY(found->wanted_known && found->comparison.mismatches && !found->unwritten &&
	            !found->varies,
	    "%sdiffers", used ? "; " : "");
	SAY(!found->wanted_known, "%snothing recorded to compare with", used ? "; " : "");
	SAY(found->held && used, "; it held that before");
	SAY(found->held && !used && found->written > 0, "written, and %s", right);
	SAY(found->held && !used, "held that before: whether it was written is not known");
#undef SAY
	gt_result_add_format(result, "%s; %s%s", used ? text : right, buffer->element,
	                     found->source == GT_ELEMENT_GUESSED ? ", guessed" : "");
}

static void add_buffer(struct gt_result *result, const struct gt_outcome *outcome,
                       const struct gt_outcome_buffer *buffer)
{
	const struct gt_replay_buffer *found = &buffer->found;
	const struct gt_comparison *comparison = &found->comparison;
	const bool known = found->wanted_known;
	static const char *const sources[] = {
		[GT_ELEMENT_GIVEN] = "given",
		[GT_ELEMENT_GUESSED] = "guessed",
		[GT_ELEMENT_OF_ARRAY] = "format",
	};

	gt_replay_add_label(result, outcome);
	gt_result_add_count(result, found->memory);
	gt_result_add_count(result, (int64_t)buffer->bytes);
	gt_result_add_text(result, buffer->element);
	gt_result_add_text(result, sources[found->source]);
	gt_result_add_count(result, (int64_t)comparison->elements);
	gt_result_add_count_if(result, known, (int64_t)comparison->mismatches);
	gt_result_add_count_if(result, known, (int64_t)comparison->differing);
	gt_result_add_real(result, known ? comparison->worst_relative : NAN);
	gt_result_add_count(result, (int64_t)comparison->got_values.nans);
	gt_result_add_count(result, (int64_t)comparison->got_values.infinities);
	gt_result_add_count_if(result, known, (int64_t)comparison->wanted_values.nans);
	gt_result_add_count_if(result, known, (int64_t)comparison->wanted_values.infinities);
	gt_result_add_text(result, found->role == GT_ROLE_unknown ? "contents" : "poison");
	gt_result_add_count_if(result, found->written > 0, (int64_t)found->written);
	gt_result_add_count_if(result, found->written_known, (int64_t)found->unwritten);
	gt_result_add_count_if(result, found->written_known, (int64_t)found->untouched);
	gt_result_add_count_if(result, !found->array, (int64_t)found->zone_bytes);
	gt_result_add_count_if(result, found->zone_bytes > 0, (int64_t)found->outside);
	gt_result_add_count(result,
	                    (int64_t)(found->varies && !found->varying ? 1 : found->varying));
	gt_result_add_real(result, comparison->got_values.least);
	gt_result_add_real(result, comparison->got_values.most);
	gt_result_add_real(result, comparison->got_values.mean);
	gt_result_add_real(result, known ? comparison->wanted_values.mean : NAN);
	if (found->array)
		gt_result_add_text(result, "-");
	else
		gt_result_add_format(result, "0x%llx", (unsigned long long)buffer->address);
	gt_result_add_copy(result, buffer->name);
	add_buffer_verdict(result, outcome, buffer);
}

static void add_mismatches(struct gt_result *result, const struct gt_outcome *outcome,
                           const struct gt_outcome_buffer *buffer)
{
	const struct gt_comparison *comparison = &buffer->found.comparison;

	for (size_t i = 0; i < comparison->first_count && i < GT_FIRST_MISMATCHES; i++) {
		const struct gt_mismatch *mismatch = &comparison->first[i];

		gt_replay_add_label(result, outcome);
		gt_result_add_count(result, buffer->found.memory);
		gt_result_add_count(result, (int64_t)mismatch->offset);
		gt_result_add_real(result, mismatch->wanted);
		gt_result_add_real(result, mismatch->got);
	}
}

void gt_replay_add_buffers(struct gt_result *result, const struct gt_outcomes *outcomes)
{
	gt_result_begin(result, "buffers", buffer_headings, GT_COUNT_OF(buffer_headings));
	gt_array_each(const struct gt_outcome, outcome, &outcomes->list)
		gt_array_each(const struct gt_outcome_buffer, buffer, &outcome->buffers)
			add_buffer(result, outcome, buffer);
	gt_result_begin(result, "mismatches", mismatch_headings, GT_COUNT_OF(mismatch_headings));
	gt_array_each(const struct gt_outcome, outcome, &outcomes->list)
		gt_array_each(const struct gt_outcome_buffer, buffer, &outcome->buffers)
			add_mismatches(result, outcome, buffer);
}

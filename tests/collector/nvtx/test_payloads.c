/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "collector/nvtx/payloads.h"
#include "collector/recorded.h"
#include "format/ranges.h"

enum { TID = 100, STRUCT = 1000 };

static uint32_t next_string;

static void prepare(void)
{
	make();
	next_string = STRING_NEXT;
}

TestSuite(payloads, .init = prepare, .fini = drop);

static uint32_t text(const char *words)
{
	recording_add_string(&recording, next_string, words);
	return next_string++;
}

static void add_schema(uint64_t id, uint32_t type, uint64_t bytes)
{
	recording_add(&recording, payload_schema, .id = id, .type = type, .bytes = bytes);
}

static void add_member(uint64_t schema, uint32_t place, uint64_t type, uint64_t offset,
                       const char *name)
{
	recording_add(&recording, payload_entry, .schema = schema, .place = place, .type = type,
	              .offset = offset, .name = text(name));
}

static void add_data(uint32_t which, uint64_t schema, uint32_t place, const char *content)
{
	recording_add(&recording, range_data, .time_ns = 2000, .order = 1, .thread = TID,
	              .schema = schema, .bytes = strlen(content) / 2, .which = which,
	              .place = place, .content = text(content));
}

/* The data of a mark with the payloads that were added. */
static const char *shown_all(void)
{
	recording_add(&recording, range_begin, .time_ns = 2000, .order = 1, .thread = TID,
	              .kind = GT_RANGE_STEP_MARK, .level = GT_LEVEL_UNKNOWN);
	finish();
	cr_assert(eq(sz, trace.marks.count, 1));
	return gt_trace_text(&trace, trace.marks.rows[0].data);
}

/* The same of a mark with this payload. */
static const char *shown(uint64_t schema, const char *digits)
{
	add_data(0, schema, GT_PLACE_PAYLOAD, digits);
	return shown_all();
}

Test(payloads, are_numbers_by_their_type)
{
	add_schema(STRUCT, 1, 24);
	add_member(STRUCT, 0, 13, 0, "int16");
	add_member(STRUCT, 1, 18, 8, "uint64");
	add_member(STRUCT, 2, 20, 16, "double");
	expect_text(shown(STRUCT, "feff000000000000ffffffffffffffff000000000000f83f"),
	            "[{\"int16\":-2,\"uint64\":18446744073709551615,\"double\":1.5}]");
}

Test(payloads, of_no_schema_are_shown_as_they_are)
{
	expect_text(shown(STRUCT, "00ff10"), "[\"0x00ff10\"]");
}

Test(payloads, that_end_early_say_so)
{
	add_schema(STRUCT, 1, 16);
	add_member(STRUCT, 0, 16, 0, "there");
	add_member(STRUCT, 1, 18, 8, "gone");
	add_member(STRUCT, 2, 18, 2, "half");
	expect_text(shown(STRUCT, "0500000009"),
	            "[{\"there\":5,\"gone\":null,\"half\":\"0x000009\"}]");
}

/* Records that describe others may come twice. */
Test(payloads, have_each_entry_once)
{
	for (int i = 0; i < 2; i++) {
		add_schema(STRUCT, 1, 4);
		add_member(STRUCT, 0, 16, 0, "value");
	}
	expect_text(shown(STRUCT, "07000000"), "[{\"value\":7}]");
}

/* All payloads point to a text at the same place; two of the pointers led to one. */
Test(payloads, show_their_own_texts)
{
	add_schema(STRUCT, 1, 16);
	add_member(STRUCT, 0, 17, 0, "size");
	add_member(STRUCT, 1, 75, 8, "label");
	for (uint32_t which = 0; which < 4; which++)
		add_data(which, STRUCT, GT_PLACE_PAYLOAD, "05000000000000000010000000000000");
	add_data(1, 0, 8, "one");
	add_data(3, 0, 8, "three");
	add_data(3, 0, 0, "of no pointer");
	expect_text(shown_all(), "[{\"size\":5,\"label\":null},{\"size\":5,\"label\":\"one\"},"
	                         "{\"size\":5,\"label\":null},{\"size\":5,\"label\":\"three\"}]");
}

Test(payloads, name_the_values_of_enums)
{
	add_schema(STRUCT, GT_SCHEMA_ENUM, 4);
	add_member(STRUCT, 0, 3, 0, "three");
	expect_text(shown(STRUCT, "03000000"), "[\"three\"]");
}

/* A number at 0 selects a member of the union at 8: a whole number or a real one. */
static void add_union(uint32_t selector)
{
	add_schema(STRUCT + 1, 3, 8);
	add_member(STRUCT + 1, 0, 17, 0, "whole");
	add_member(STRUCT + 1, 1, 20, 0, "real");
	add_schema(STRUCT, 1, 16);
	add_member(STRUCT, 0, 16, 0, "which");
	recording_add(&recording, payload_entry, .schema = STRUCT, .place = 1, .type = STRUCT + 1,
	              .detail = selector, .offset = 8, .name = text("value"));
}

Test(payloads, show_the_member_of_a_union_that_is_selected_beside_it)
{
	add_union(0);
	expect_text(shown(STRUCT, "0100000000000000000000000000f83f"),
	            "[{\"which\":1,\"value\":{\"real\":1.5}}]");
}

Test(payloads, show_all_members_of_a_union_where_none_is_selected)
{
	add_union(7);
	expect_text(shown(STRUCT, "01000000000000000000000000000840"),
	            "[{\"which\":1,\"value\":{\"whole\":4613937818241073152,\"real\":3}}]");
}

Test(payloads, show_all_members_of_a_union_where_there_is_no_such_member)
{
	add_union(0);
	expect_text(shown(STRUCT, "02000000000000000000000000000840"),
	            "[{\"which\":2,\"value\":{\"whole\":4613937818241073152,\"real\":3}}]");
}

Test(payloads, show_the_member_of_a_union_that_is_selected_in_it)
{
	add_schema(STRUCT, 4, 16);
	add_member(STRUCT, 0, 100, 0, "which");
	add_member(STRUCT, 1, 17, 8, "whole");
	add_member(STRUCT, 2, 20, 8, "real");
	expect_text(shown(STRUCT, "0200000000000000000000000000f83f"), "[{\"real\":1.5}]");
}

Test(payloads, without_a_message_name_what_they_are_of)
{
	recording_add(&recording, payload_schema, .id = STRUCT, .type = 1, .bytes = 4,
	              .name = text("shape"));
	add_member(STRUCT, 0, 16, 0, "rows");
	expect_text(shown(STRUCT, "07000000"), "[{\"rows\":7}]");
	expect_text(gt_trace_text(&trace, trace.marks.rows[0].text), "shape");
}

Test(payloads, may_lie_about_the_length_of_arrays)
{
	add_schema(STRUCT, 1, 8);
	add_member(STRUCT, 0, 16, 0, "count");
	recording_add(&recording, payload_entry, .schema = STRUCT, .place = 1, .type = 16,
	              .flags = 3 << 4, .detail = 0, .offset = 4, .name = text("all"));
	recording_add(&recording, payload_entry, .schema = STRUCT, .place = 2, .type = STRUCT,
	              .flags = 1 << 4, .detail = UINT64_MAX, .offset = 8, .name = text("none"));
	expect_text(shown(STRUCT, "ffffffff01000000"),
	            "[{\"count\":4294967295,\"all\":[1],\"none\":\"0x\"}]");
}

/* A schema that contains itself comes to an end. */
Test(payloads, of_schemas_that_are_damaged_are_bounded, .timeout = 60)
{
	add_schema(STRUCT, 1, 0);
	add_schema(STRUCT + 1, 1, UINT64_MAX);
	for (uint32_t i = 0; i < 500; i++)
		add_member(STRUCT, i, i % 2 ? STRUCT : STRUCT + 1, 0, "again");
	add_member(STRUCT + 1, 0, STRUCT, 0, "there");
	cr_expect(lt(sz, strlen(shown(STRUCT, "00000000")), GT_PAYLOAD_TEXT_MAX));
}

/* Each of many marks would have a text as long as one may be. */
Test(payloads, of_schemas_inside_of_themselves_have_room_for_all_together)
{
	enum { MARKS = 4000 };
	size_t bytes = 0;
	bool told = false;

	add_schema(STRUCT, 1, 4);
	for (uint32_t i = 0; i < 500; i++)
		add_member(STRUCT, i, STRUCT, 0, "again");
	for (uint32_t i = 0; i < MARKS; i++) {
		char digits[16];

		snprintf(digits, sizeof(digits), "%08x", i);
		recording_add(&recording, range_begin, .time_ns = 2000 + i, .order = i + 1,
		              .thread = TID, .kind = GT_RANGE_STEP_MARK, .level = GT_LEVEL_UNKNOWN);
		recording_add(&recording, range_data, .time_ns = 2000 + i, .order = i + 1,
		              .thread = TID, .schema = STRUCT, .bytes = 4,
		              .place = GT_PLACE_PAYLOAD, .content = text(digits));
	}
	finish();
	cr_assert(eq(sz, trace.marks.count, MARKS));
	gt_array_each(const struct gt_mark, mark, &trace.marks)
		bytes += strlen(gt_trace_text(&trace, mark->data));
	cr_expect(gt(sz, bytes, GT_PAYLOADS_ROOM));
	cr_expect(lt(sz, bytes,
	             GT_PAYLOADS_ROOM + MARKS * GT_PAYLOADS_ROOM_ONE + GT_PAYLOAD_TEXT_MAX));
	gt_array_each(const struct gt_note, note, &trace.notes)
		told |= strstr(gt_trace_text(&trace, note->text),
		               "ranges and marks are not shown") != NULL;
	cr_expect(told);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include "support/check.h"

Test(utf8, knows_how_long_a_character_is)
{
	cr_expect(eq(sz, gt_utf8_size("a\xff"), 1));
	cr_expect(eq(sz, gt_utf8_size("\xc2\x80"), 2));
	cr_expect(eq(sz, gt_utf8_size("\xe0\xa0\x80"), 3));
	cr_expect(eq(sz, gt_utf8_size(GT_UTF8_REPLACEMENT), 3));
	cr_expect(eq(sz, gt_utf8_size("\xf4\x8f\xbf\xbf"), 4));
}

Test(utf8, takes_nothing_else_for_a_character)
{
	static const char *const wrong[] = {
		"",
		"\x80",             /* a continuation alone */
		"\xc0\x80",         /* longer than it must be */
		"\xe0\x9f\xbf",     /* likewise */
		"\xf0\x8f\xbf\xbf", /* likewise */
		"\xed\xa0\x80",     /* half of a UTF-16 pair */
		"\xf4\x90\x80\x80", /* beyond the last */
		"\xf5\x80\x80\x80", /* likewise */
		"\xc3",             /* cut */
		"\xe2\x82",         /* likewise */
		"\xf0\x9f\x98",     /* likewise */
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		cr_expect(eq(sz, gt_utf8_size(wrong[i]), 0), "number %zu", i);
}

Test(utf8, copies_whole_characters_alone)
{
	char text[5];

	gt_utf8_copy(text, sizeof(text), "abc");
	expect_text(text, "abc");
	gt_utf8_copy(text, sizeof(text), "abcdef");
	expect_text(text, "abcd");
	gt_utf8_copy(text, sizeof(text), "abc\xc3\xa9");
	expect_text(text, "abc");
	gt_utf8_copy(text, sizeof(text),
	             "a\xff"
	             "b");
	expect_text(text, "a");
	gt_utf8_copy(text, 1, "a");
	expect_text(text, "");
}

Test(utf8, knows_what_misleads)
{
	static const char *const misleading[] = {
		"\033",         "\n",           "\x7f",         "\xc2\x80",
		"\xc2\x9f",     "\xd8\x9c",     "\xe2\x80\x8e", "\xe2\x80\xa8",
		"\xe2\x80\xaa", "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x81\xa9",
	};
	static const char *const others[] = {
		"",
		"a",
		" ",
		"\xc2\xa0",
		"\xc3\x9f",
		"\xe2\x82\xac",
		"\xe2\x80\x93",
		"\xe2\x81\xaa",
		"\xe2",
		"\xe2\x80",
		"\xc2",
		"\x9b",
	};

	for (size_t i = 0; i < sizeof(misleading) / sizeof(misleading[0]); i++)
		cr_expect(gt_utf8_misleads(misleading[i]), "%zu", i);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		cr_expect(not(gt_utf8_misleads(others[i])), "%zu", i);
}

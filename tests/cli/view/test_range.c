/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/view/range.h"

#include "support/check.h"

static void expect_range(const char *text, uint64_t begin, uint64_t end)
{
	struct gt_range range = {0};

	cr_expect(eq(int, gt_range_read(text, 1000, &range), GT_RANGE_PART), "%s", text);
	cr_expect(eq(u64, range.begin, begin), "%s", text);
	cr_expect(eq(u64, range.end, end), "%s", text);
}

static void expect_answer(const char *text, uint64_t size, enum gt_range_answer answer)
{
	struct gt_range range = {7, 9};

	cr_expect(eq(int, gt_range_read(text, size, &range), answer), "%s",
	          text ? text : "no range");
	cr_expect(range.begin == 7 && range.end == 9, "a range that is none was written");
}

Test(range, reads_first_and_last_byte)
{
	expect_range("bytes=0-0", 0, 1);
	expect_range("bytes=10-19", 10, 20);
	expect_range("bytes=0-999", 0, 1000);
}

Test(range, ends_with_the_file)
{
	expect_range("bytes=990-", 990, 1000);
	expect_range("bytes=990-5000", 990, 1000);
	expect_range("bytes=990-18446744073709551615", 990, 1000);
	expect_range("bytes=990-99999999999999999999999999", 990, 1000);
}

Test(range, counts_from_the_end)
{
	expect_range("bytes=-1", 999, 1000);
	expect_range("bytes=-1000", 0, 1000);
	expect_range("bytes=-5000", 0, 1000);
}

Test(range, outside_of_the_file_is_no_range_of_it)
{
	expect_answer("bytes=1000-", 1000, GT_RANGE_OUTSIDE);
	expect_answer("bytes=99999999999999999999999-", 1000, GT_RANGE_OUTSIDE);
	expect_answer("bytes=-0", 1000, GT_RANGE_OUTSIDE);
	expect_answer("bytes=0-", 0, GT_RANGE_OUTSIDE);
	expect_answer("bytes=-5", 0, GT_RANGE_OUTSIDE);
}

Test(range, that_is_not_understood_is_the_whole_file)
{
	static const char *const texts[] = {
		"",           "bytes",         "bytes=",    "bytes=-",   "bytes=5",
		"bytes=9-5",  "bytes=a-b",     "bytes=1-b", "bytes=1- ", "bytes= 1-2",
		"bytes=+1-2", "bytes=1-2,5-6", "bytes=--1", "lines=1-2", "Bytes=1-2",
	};

	expect_answer(NULL, 1000, GT_RANGE_WHOLE);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		expect_answer(texts[i], 1000, GT_RANGE_WHOLE);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/parse.h"

#include <errno.h>
#include <stddef.h>

#include "support/check.h"

struct good {
	const char *text;
	uint64_t value;
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

Test(parse, reads_a_count)
{
	static const struct good cases[] = {
		{"0", 0}, {"7", 7}, {"007", 7}, {"18446744073709551615", UINT64_MAX}};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		uint64_t value = 1;

		cr_expect(eq(int, gt_parse_count(cases[i].text, &value), 0), "%s", cases[i].text);
		cr_expect(eq(u64, value, cases[i].value), "%s", cases[i].text);
	}
}

Test(parse, refuses_what_is_not_a_count)
{
	static const char *const texts[] = {"", "-1", "+1", " 1", "1 ", "1K", "0x10", "1.5", "ten"};

	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		uint64_t value = 42;

		cr_expect(eq(int, gt_parse_count(texts[i], &value), -EINVAL), "'%s'", texts[i]);
		cr_expect(eq(u64, value, 42));
	}
}

Test(parse, tells_too_large_from_nonsense)
{
	uint64_t value = 42;

	cr_expect(eq(int, gt_parse_count("18446744073709551616", &value), -ERANGE));
	cr_expect(eq(int, gt_parse_count("99999999999999999999999", &value), -ERANGE));
	cr_expect(eq(int, gt_parse_size("17179869184G", &value), -ERANGE));
	cr_expect(eq(int, gt_parse_duration("18446744074s", &value), -ERANGE));
	cr_expect(eq(u64, value, 42));
}

Test(parse, reads_a_size)
{
	static const struct good cases[] = {
		{"0", 0},
		{"100", 100},
		{"64K", 65536},
		{"64k", 65536},
		{"2M", 2097152},
		{"3G", 3221225472},
		{"17179869183G", 18446744072635809792U},
		{"1KB", 1024},
		{"1KiB", 1024},
		{"1kb", 1024},
		{"16 MB", 16777216},
		{"2T", 2199023255552},
		{"7B", 7},
		{"1.5M", 1572864},
		{"1.500000M", 1572864}, /* so many digits and no more */
		{"1.25G", 1342177280},
		{"0.1K", 102},
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		uint64_t value = 1;

		cr_expect(eq(int, gt_parse_size(cases[i].text, &value), 0), "%s", cases[i].text);
		cr_expect(eq(u64, value, cases[i].value), "%s", cases[i].text);
	}
}

Test(parse, refuses_what_is_not_a_size)
{
	static const char *const texts[] = {"",   "K",   "1  K",       "1KK", "1P", "-1K",
	                                    "1.", "1.5", "1.1234567G", "1Ki", "1 "};

	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		uint64_t value = 42;

		cr_expect(eq(int, gt_parse_size(texts[i], &value), -EINVAL), "'%s'", texts[i]);
		cr_expect(eq(u64, value, 42));
	}
}

Test(parse, reads_a_duration)
{
	static const struct good cases[] = {
		{"5ns", 5},
		{"5us", 5000},
		{"100ms", 100000000},
		{"2s", 2000000000},
		{"1min", 60000000000},
		{"1h", 3600000000000},
		{"0s", 0},
		{"3.5s", 3500000000},
		{"0.25us", 250},
		{"1.500ms", 1500000},
		{"0.1min", 6000000000},
		{"5 s", 5000000000},
		{"5S", 5000000000},
		{"5sec", 5000000000},
		{"100usec", 100000},
		{"100\xc2\xb5s", 100000},
		{"100\xce\xbcs", 100000},
		{"10 minutes", 600000000000},
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		uint64_t value = 1;

		cr_expect(eq(int, gt_parse_duration(cases[i].text, &value), 0), "%s",
		          cases[i].text);
		cr_expect(eq(u64, value, cases[i].value), "%s", cases[i].text);
	}
}

Test(parse, refuses_a_duration_without_a_unit)
{
	static const char *const texts[] = {"",    "5",     "s",        "5m",    "5  s",
	                                    "-5s", "5 ",    "5secs",    "1.s",   ".5s",
	                                    "1.5", "0.5ns", "1.0001us", "1.5.5s"};

	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		uint64_t value = 42;

		cr_expect(eq(int, gt_parse_duration(texts[i], &value), -EINVAL), "'%s'", texts[i]);
		cr_expect(eq(u64, value, 42));
	}
}

/* 2^64 ns and more, by the fraction alone. */
Test(parse, tells_what_is_too_large_by_its_fraction)
{
	uint64_t value = 42;

	cr_expect(eq(int, gt_parse_duration("18446744073.709551616s", &value), -ERANGE));
	cr_expect(eq(u64, value, 42));
	cr_expect(eq(int, gt_parse_duration("18446744073.709551615s", &value), 0));
	cr_expect(eq(u64, value, UINT64_MAX));
}

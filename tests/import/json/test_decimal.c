/* SPDX-License-Identifier: Apache-2.0 */
#include "import/json/decimal.h"

#include <stdint.h>

#include "support/check.h"

static int64_t value_of(const char *text, int scale)
{
	int64_t value = -12345;

	return gt_decimal(text, scale, &value) ? value : -12345;
}

Test(decimal, keeps_every_digit_of_a_time)
{
	cr_expect(eq(i64, value_of("5060078432748.851", 3), 5060078432748851));
	cr_expect(eq(i64, value_of("1712195495519689.123", 3), 1712195495519689123));
	cr_expect(eq(i64, value_of("1712195495519689.0", 3), 1712195495519689000));
	cr_expect(eq(i64, value_of("1712195495519689", 3), 1712195495519689000));
	cr_expect(eq(i64, value_of("-0.001", 3), -1));
}

Test(decimal, rounds_what_is_finer)
{
	cr_expect(eq(i64, value_of("1.0005", 3), 1001));
	cr_expect(eq(i64, value_of("1.00049999", 3), 1000));
	cr_expect(eq(i64, value_of("0.0004", 3), 0));
	cr_expect(eq(i64, value_of("-2.5", 0), -3));
	cr_expect(eq(i64, value_of("1712195495519689.12345678", 3), 1712195495519689123));
}

Test(decimal, reads_exponents)
{
	cr_expect(eq(i64, value_of("1.7e3", 0), 1700));
	cr_expect(eq(i64, value_of("17E-1", 3), 1700));
	cr_expect(eq(i64, value_of("1.712195495519689e+15", 3), 1712195495519689000));
	cr_expect(eq(i64, value_of("1e-400", 3), 0));
}

Test(decimal, refuses_what_is_no_number_or_too_large)
{
	static const char *const texts[] = {"",    "-",      ".5",    "x",
	                                    "1x",  "1e",     "1e+",   "NaN",
	                                    "inf", "1e1000", "1..2e", "9223372036854775808"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		cr_expect(eq(i64, value_of(texts[i], 0), -12345), "%s", texts[i]);
	cr_expect(eq(i64, value_of("9223372036854775807", 0), INT64_MAX));
	cr_expect(eq(i64, value_of("9223372036854775807", 1), -12345));
}

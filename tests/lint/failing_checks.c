/* SPDX-License-Identifier: Apache-2.0 */
/* Every test here has to fail: what support/check.h compares, it does compare. */
#include <math.h>
#include <stdlib.h>

#include "support/check.h"

Test(failing, eq_int)
{
	cr_expect(eq(int, -1, 1));
}

Test(failing, eq_u64)
{
	cr_expect(eq(u64, UINT64_MAX, INT64_MAX), "the %s", "largest");
}

Test(failing, ne)
{
	cr_expect(ne(u32, 7, 7));
}

Test(failing, lt)
{
	cr_expect(lt(sz, 7, 7));
}

Test(failing, le)
{
	cr_expect(le(i64, 8, -7));
}

Test(failing, gt)
{
	cr_expect(gt(u8, 7, 7));
}

Test(failing, ge)
{
	cr_expect(ge(dbl, 6.5, 7));
}

Test(failing, zero)
{
	cr_expect(zero(sz, 1));
}

Test(failing, epsilon)
{
	cr_expect(epsilon_eq(dbl, 1, 1.2, 0.1));
}

Test(failing, ulps)
{
	cr_expect(ieee_ulp_eq(dbl, 0.3, 0.30000000000000004, 0));
}

Test(failing, not_a_number)
{
	cr_expect(eq(dbl, (double)NAN, (double)NAN));
}

Test(failing, pointer)
{
	cr_expect(eq(ptr, "", NULL));
}

Test(failing, text)
{
	expect_text("one", "two");
}

Test(failing, no_text)
{
	expect_text("", NULL);
}

Test(failing, negated)
{
	cr_expect(not(eq(int, 3, 3)));
}

Test(failing, any_expression)
{
	cr_expect(1 + 1 == 3, "a comma, %d, and a \"quote\"", 2);
}

Test(failing, assertion)
{
	static volatile int after;

	cr_assert(eq(int, after, 1));
	_Exit(0); /* would pass for a test that went on */
}

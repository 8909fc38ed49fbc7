/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_SUPPORT_CHECK_H
#define GT_TESTS_SUPPORT_CHECK_H

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Criterion's assertions with its words, cr_expect(eq(u32, actual, expected), "format", ...), but
 * as calls: Criterion's own macros take 10 ms of a compiler's time each, and there are 8,000. Both
 * check a condition, cr_assert ends the test where it does not hold. A condition is any expression,
 * and eq, ne, lt, le, gt, ge (tag, actual, expected), epsilon_eq (dbl, actual, expected, epsilon),
 * zero (tag, actual) and not (condition).
 */
#undef cr_assert
#undef cr_expect
#define cr_assert(...) GT_CHECK(gt_check_end(), #__VA_ARGS__, __VA_ARGS__)
#define cr_expect(...) GT_CHECK((void)0, #__VA_ARGS__, __VA_ARGS__)

/* With a message, or without one; ends: is called where the condition does not hold. */
#define GT_CHECK(ends, text, ...)                                                                  \
	GT_CHECK_PICK(__VA_ARGS__, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE,     \
	              MORE, MORE, ONE, )                                                           \
	(ends, text, __VA_ARGS__)
#define GT_CHECK_PICK(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, pick, ...)           \
	GT_CHECK_##pick
#define GT_CHECK_ONE(ends, text, condition) GT_CHECK_MORE(ends, text, condition, "%s", "")
#define GT_CHECK_MORE(ends, text, condition, ...)                                                  \
	do {                                                                                       \
		gt_check_begin();                                                                  \
		if (!(condition)) {                                                                \
			gt_check_failed(__FILE__, __LINE__, text, __VA_ARGS__);                    \
			ends;                                                                      \
		}                                                                                  \
	} while (0)

/* The actual value is there before the expected one is worked out, which may change it. */
#define eq(tag, actual, expected)               GT_COMPARE(eq, tag, actual, expected)
#define ne(tag, actual, expected)               (!GT_COMPARE(eq, tag, actual, expected))
#define lt(tag, actual, expected)               GT_COMPARE(lt, tag, actual, expected)
#define le(tag, actual, expected)               GT_COMPARE(le, tag, actual, expected)
#define gt(tag, actual, expected)               GT_COMPARE(gt, tag, actual, expected)
#define ge(tag, actual, expected)               GT_COMPARE(ge, tag, actual, expected)
#define zero(tag, actual)                       GT_COMPARE(eq, tag, actual, 0)
#define GT_COMPARE(word, tag, actual, expected) (gt_hold_##tag(actual), gt_##word##_##tag(expected))
#define epsilon_eq(tag, actual, expected, epsilon)                                                 \
	(gt_hold_##tag(actual), gt_near_##tag(expected, epsilon))
#define ieee_ulp_eq(tag, actual, expected, ulps)                                                   \
	(gt_hold_##tag(actual), gt_ulps_##tag(expected, ulps))
#define not(condition) (!(condition))

/* Ends the test, which has failed. */
_Noreturn void gt_check_end(void);

/* Forgets the values of the check before. */
void gt_check_begin(void);

/*
 * Tells Criterion of a condition that did not hold, with the values that were compared last. text:
 * of the macro's arguments, of which the first is the condition.
 */
__attribute__((format(printf, 4, 5))) void
gt_check_failed(const char *file, size_t line, const char *text, const char *format, ...);

/* Remember two values that are compared. All return false. */
bool gt_check_saw_signed(int64_t first, int64_t second);
bool gt_check_saw_unsigned(uint64_t first, uint64_t second);
bool gt_check_saw_real(double first, double second);
bool gt_check_saw_pointer(const volatile void *first, const volatile void *second);
bool gt_check_saw_text(const char *first, const char *second);

#define GT_CHECK_HELD(tag, type)                                                                   \
	static _Thread_local type gt_held_##tag;                                                   \
	static inline void gt_hold_##tag(type actual)                                              \
	{                                                                                          \
		gt_held_##tag = actual;                                                            \
	}
#define GT_CHECK_WORD(tag, type, sort, word, operator)                                             \
	static inline bool gt_##word##_##tag(type expected)                                        \
	{                                                                                          \
		return gt_held_##tag operator expected ||                                          \
			gt_check_saw_##sort(gt_held_##tag, expected);                              \
	}
#define GT_CHECK_TYPE(tag, type, sort)                                                             \
	GT_CHECK_HELD(tag, type)                                                                   \
	GT_CHECK_WORD(tag, type, sort, eq, ==)                                                     \
	GT_CHECK_WORD(tag, type, sort, lt, <)                                                      \
	GT_CHECK_WORD(tag, type, sort, le, <=)                                                     \
	GT_CHECK_WORD(tag, type, sort, gt, >)                                                      \
	GT_CHECK_WORD(tag, type, sort, ge, >=)

GT_CHECK_TYPE(i8, int8_t, signed)
GT_CHECK_TYPE(i16, int16_t, signed)
GT_CHECK_TYPE(i32, int32_t, signed)
GT_CHECK_TYPE(i64, int64_t, signed)
GT_CHECK_TYPE(int, int, signed)
GT_CHECK_TYPE(long, long, signed)
GT_CHECK_TYPE(chr, char, signed)
GT_CHECK_TYPE(u8, uint8_t, unsigned)
GT_CHECK_TYPE(u16, uint16_t, unsigned)
GT_CHECK_TYPE(u32, uint32_t, unsigned)
GT_CHECK_TYPE(u64, uint64_t, unsigned)
GT_CHECK_TYPE(uint, unsigned, unsigned)
GT_CHECK_TYPE(ulong, unsigned long, unsigned)
GT_CHECK_TYPE(sz, size_t, unsigned)
GT_CHECK_TYPE(flt, float, real)
GT_CHECK_TYPE(dbl, double, real)
GT_CHECK_TYPE(ptr, const volatile void *, pointer)

GT_CHECK_HELD(str, const char *)

/* NULL is no text. */
static inline bool gt_eq_str(const char *expected)
{
	const char *held = gt_held_str;

	return held == expected || (held && expected && strcmp(held, expected) == 0) ||
	       gt_check_saw_text(held, expected);
}

static inline bool gt_near_dbl(double expected, double epsilon)
{
	const double held = gt_held_dbl;

	return (held >= expected - epsilon && held <= expected + epsilon) ||
	       gt_check_saw_real(held, expected);
}

/* Whether two values are so many representable ones apart at most. */
bool gt_check_is_close(double first, double second, int64_t ulps);

static inline bool gt_ulps_dbl(double expected, int64_t ulps)
{
	return gt_check_is_close(gt_held_dbl, expected, ulps) ||
	       gt_check_saw_real(gt_held_dbl, expected);
}

#define expect_text(actual, expected) cr_expect(eq(str, actual, expected))

#endif

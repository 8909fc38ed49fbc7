/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_SUPPORT_CHECK_H
#define GT_TESTS_SUPPORT_CHECK_H

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>

/* In C Criterion 2.4.1 takes gt() for "not less", so that what is equal passes. */
#undef CRI_BINOP_T_GT
#define CRI_BINOP_T_GT(Tag, Actual, Ref) (CRI_BINOP_LT_TAG(Tag, , Ref, Actual))

/* Criterion compares char *, not const char *; this keeps the cast in one place. */
#define expect_text(actual, expected) cr_expect(eq(str, (char *)(actual), (char *)(expected)))

#endif

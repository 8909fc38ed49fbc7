/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_SUPPORT_CHECK_H
#define GT_TESTS_SUPPORT_CHECK_H

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>

/* Criterion compares char *, not const char *; this keeps the cast in one place. */
#define expect_text(actual, expected) cr_expect(eq(str, (char *)(actual), (char *)(expected)))

#endif

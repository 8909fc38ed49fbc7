/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "support/check.h"

Test(error, says_what_and_why)
{
	struct gt_error err = {0};

	cr_expect(eq(int, gt_fail(&err, EBADMSG, "chunk %d of %s", 7, "x"), -EBADMSG));
	cr_expect(eq(int, err.code, EBADMSG));
	expect_text(err.text, "chunk 7 of x");
}

Test(error, can_be_passed_nothing)
{
	cr_expect(eq(int, gt_fail(NULL, ENOENT, "%s", "unread"), -ENOENT));
}

Test(error, cuts_a_sentence_that_is_too_long)
{
	struct gt_error err = {0};
	char text[2 * sizeof(err.text)];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	gt_fail(&err, EINVAL, "%s", text);
	cr_expect(eq(sz, strlen(err.text), sizeof(err.text) - 1));
}

Test(error, has_a_text_for_every_number)
{
	expect_text(gt_errno_text(ENOENT), "No such file or directory");
	expect_text(gt_errno_text(INT_MAX), "unknown error");
	expect_text(gt_errno_text(-1), "unknown error");
}

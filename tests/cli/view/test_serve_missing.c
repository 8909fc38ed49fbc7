/* SPDX-License-Identifier: Apache-2.0 */
/* The file that is built in place of cli/view/serve.c where there is no libmicrohttpd. */
#include "cli/view/serve_missing.c"

#include <string.h>

#include "support/check.h"

Test(serve_missing, says_what_is_missing_and_what_to_do)
{
	struct gt_error err = {0};

	cr_expect(eq(int, gt_serve_check(&err), -ENOTSUP));
	cr_expect(strstr(err.text, "built without libmicrohttpd") != NULL);
	cr_expect(strstr(err.text, "install libmicrohttpd-dev") != NULL);
	cr_expect(strstr(err.text, "gputrace export") != NULL);
	cr_expect(strchr(err.text, '\n') == NULL);
}

Test(serve_missing, serves_nothing)
{
	const struct gt_serving serving = {.ui = -1};
	struct gt_error err = {0};

	cr_expect(eq(int, gt_serve(-1, &serving, &err), -ENOTSUP));
	cr_expect(eq(int, err.code, ENOTSUP));
}

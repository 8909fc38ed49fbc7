/* SPDX-License-Identifier: Apache-2.0 */
/* In place of serve.c where libmicrohttpd was missing when gputrace was built. */
#include <errno.h>

#include "base/error.h"
#include "cli/view/serve.h"

int gt_serve_check(struct gt_error *err)
{
	return gt_fail(err, ENOTSUP,
	               "this gputrace was built without libmicrohttpd, which view needs: install "
	               "libmicrohttpd-dev and build it again, or drop a file of gputrace export "
	               "into https://ui.perfetto.dev");
}

int gt_serve(int socket, const struct gt_serving *serving, struct gt_error *err)
{
	(void)socket;
	(void)serving;
	return gt_serve_check(err);
}

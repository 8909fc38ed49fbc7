/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "base/error.h"
#include "cli/replay/request.h"

/* Of a build without the CUDA toolkit. */
int gt_replay_session(const struct gt_replay_request *request, const struct gt_bundle *bundle,
                      struct gt_outcomes *outcomes, struct gt_error *err)
{
	(void)request;
	(void)bundle;
	(void)outcomes;
	return gt_fail(err, ENOTSUP,
	               "this build of gputrace cannot run launches again: there was no CUDA "
	               "toolkit when it was made");
}

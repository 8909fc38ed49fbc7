/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "base/error.h"
#include "cli/replay/request.h"

/* For a build without the CUDA toolkit. */
int gt_replay_request_read(struct gt_replay_request *request, const struct gt_replay_args *args,
                           struct gt_error *err)
{
	(void)request;
	(void)args;
	return gt_fail(err, ENOTSUP,
	               "this build of gputrace cannot run launches again: there was no CUDA "
	               "toolkit when it was made");
}

void gt_replay_request_release(struct gt_replay_request *request)
{
	(void)request;
}

int gt_replay_session(const struct gt_replay_request *request, const struct gt_bundle *bundle,
                      struct gt_excerpt *excerpt, struct gt_outcomes *outcomes,
                      struct gt_error *err)
{
	(void)bundle;
	(void)excerpt;
	(void)outcomes;
	return gt_replay_request_read(NULL, request->args, err);
}

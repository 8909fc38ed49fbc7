/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/types/result.h"

#include "model/bundle/bundle.h"

void gt_replay_result_release(struct gt_replay_result *result)
{
	gt_array_release(&result->times.ns);
	gt_array_release(&result->buffers);
	*result = (struct gt_replay_result){.first_bad_step = GT_BUNDLE_NONE};
}

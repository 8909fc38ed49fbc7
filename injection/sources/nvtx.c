/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/nvtx/nvtx.h"

#include "injection/session/services.h"
#include "injection/session/source.h"

/*
 * Ranges, marks and names that the program gives through NVTX: its functions call injection/nvtx
 * themselves, whether CUDA is there or not.
 */

/* NOLINTNEXTLINE(readability-non-const-parameter): as gt_source has it */
static int start(struct gt_session *session, void *state, struct gt_error *err)
{
	const struct gt_settings *settings = gt_settings_of(session);
	const char *watched = gt_captured_work(session) == GT_CAPTURED_SEQUENCES
	                              ? settings->capture_sequence
	                              : settings->launches_range;

	(void)state;
	(void)err;
	gt_nvtx_start(session, watched);
	return 0;
}

const struct gt_source gt_source_nvtx = {
	.name = "nvtx",
	.alone = true,
	.start = start,
	.forget = gt_nvtx_forget,
};

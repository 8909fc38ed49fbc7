/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/nvtx/nvtx.h"

#include "injection/session/services.h"
#include "injection/session/source.h"

/*
 * Ranges, marks and names that the program gives through NVTX: its functions call injection/nvtx
 * themselves, whether CUDA is there or not.
 */

/* ---- recording while a range is open ---- */

static bool is_chosen(const struct gt_settings *settings, uint32_t occurrence)
{
	return occurrence >= settings->record_range_first &&
	       (settings->record_range_count == 0 ||
	        occurrence - settings->record_range_first < settings->record_range_count);
}

static void begin_occurrence(void *context, uint32_t occurrence)
{
	struct gt_session *session = context;

	if (is_chosen(gt_settings_of(session), occurrence))
		gt_ask_recording(session, true, GT_CAUSE_RANGE);
}

static void end_occurrence(void *context, uint32_t occurrence)
{
	struct gt_session *session = context;

	if (is_chosen(gt_settings_of(session), occurrence))
		gt_ask_recording(session, false, GT_CAUSE_RANGE);
}

/* ---- the source ---- */

static const char *watched_range(const struct gt_session *session)
{
	const struct gt_settings *settings = gt_settings_of(session);

	if (*settings->record_range)
		return settings->record_range;
	return gt_captured_work(session) == GT_CAPTURED_SEQUENCES ? settings->capture_sequence
	                                                          : settings->launches_range;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as gt_source has it */
static int start(struct gt_session *session, void *state, struct gt_error *err)
{
	(void)state;
	(void)err;
	gt_nvtx_start(session, watched_range(session));
	if (*gt_settings_of(session)->record_range && gt_nvtx_is_watched(session))
		gt_nvtx_watch_tell(&gt_nvtx.watch, begin_occurrence, end_occurrence, session);
	return 0;
}

const struct gt_source gt_source_nvtx = {
	.name = "nvtx",
	.goes_on = true,
	.alone = true,
	.start = start,
	.forget = gt_nvtx_forget,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/recorder.h"
#include "injection/session/source.h"

/* What CUPTI gets for its records when no slot of the arena is free. */

extern const struct gt_source gt_source_activity;

static struct recorder recorder;
static CUpti_BuffersCallbackRequestFunc requested;
static CUpti_BuffersCallbackCompleteFunc completed;

static CUptiResult keep_callbacks(CUpti_BuffersCallbackRequestFunc request,
                                  CUpti_BuffersCallbackCompleteFunc complete)
{
	requested = request;
	completed = complete;
	return CUPTI_SUCCESS;
}

static CUptiResult no_attribute(CUpti_ActivityAttribute attribute, size_t *size, void *value)
{
	(void)attribute;
	(void)size;
	(void)value;
	return CUPTI_ERROR_INVALID_PARAMETER;
}

static CUptiResult none_dropped(CUcontext context, uint32_t stream, size_t *dropped)
{
	(void)context;
	(void)stream;
	*dropped = 0;
	return CUPTI_SUCCESS;
}

static const struct gt_source *const sources[] = {&gt_source_activity};

static void make(void)
{
	struct gt_session *session;

	recorder_init(&recorder);
	session = recorder.session;
	session->settings.kinds = "";
	session->cupti.version = GT_CUPTI_12_8;
	session->cupti.cuptiActivityRegisterCallbacks = keep_callbacks;
	session->cupti.cuptiActivitySetAttribute = no_attribute;
	session->cupti.cuptiActivityGetNumDroppedRecords = none_dropped;
	recorder_add_sources(&recorder, sources, 1);
	cr_assert(eq(int,
	             gt_source_activity.start(session,
	                                      gt_source_state(session, &gt_source_activity), NULL),
	             0));
	/* Every slot is with CUPTI. */
	while (gt_buffer_lend(session).bytes)
		;
}

TestSuite(activity, .init = make);

static uint8_t *request(size_t *size)
{
	uint8_t *bytes = NULL;
	size_t most = 1;

	requested(&bytes, size, &most);
	cr_expect(eq(sz, most, 0));
	return bytes;
}

static size_t count_used(const uint8_t *bytes, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < size; i++)
		used += bytes[i] != 0;
	return used;
}

Test(activity, lends_the_last_resort_once_aligned_and_zeroed)
{
	size_t size;
	size_t none;
	uint8_t *bytes = request(&size);

	cr_assert(ne(ptr, bytes, NULL));
	cr_expect(eq(sz, (uintptr_t)bytes % 8, 0)); /* ACTIVITY_RECORD_ALIGNMENT */
	cr_expect(eq(sz, size, GT_DISCARD_BYTES));
	cr_expect(eq(ptr, request(&none), NULL));
	cr_expect(eq(sz, none, 0));
	memset(bytes, 0xff, size);
	completed(NULL, 0, bytes, size, 4096);
	cr_expect(eq(ptr, request(&size), bytes));
	cr_expect(eq(sz, count_used(bytes, size), 0));
	cr_expect(eq(u64, recorder_count(&recorder, GT_LEDGER_discarded_uncounted), 3));
}

Test(activity, lends_none_to_a_cupti_that_bears_it)
{
	size_t size;

	recorder.session->cupti.version = GT_CUPTI_12_9;
	cr_expect(eq(ptr, request(&size), NULL));
	cr_expect(eq(sz, size, 0));
	cr_expect(eq(u64, recorder_count(&recorder, GT_LEDGER_discarded_uncounted), 0));
}

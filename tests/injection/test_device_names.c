/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "include/gputrace/device_events.h"
#include "include/gputrace/gputrace.h"
#include "injection/device_names.h"
#include "injection/recorder.h"

static struct recorder recorder;

static void start(void)
{
	recorder_init(&recorder);
	gt_device_names_start(recorder.session);
	atomic_store(&recorder.session->phase, GT_SESSION_RECORDING);
}

TestSuite(device_names, .init = start);

static size_t told(void)
{
	size_t count;

	recorder_drain(&recorder);
	free(recorder_records(&recorder, GT_RECORD_device_name, &count));
	return count;
}

static uint64_t refused(void)
{
	return recorder_count(&recorder, GT_LEDGER_device_names_refused);
}

Test(device_names, have_the_same_id_wherever_it_is_worked_out)
{
	static const char *const texts[] = {"", "load", "compute", "ä", "a longer name of a range"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		cr_expect(eq(u32, gputrace_device_name_id(texts[i]), gputrace_device_id(texts[i])));
		cr_expect(eq(u32, gt_device_names_add(recorder.session, texts[i]),
		             gputrace_device_id(texts[i])));
		cr_expect(lt(u32, gputrace_device_id(texts[i]), 1u << 28));
	}
	cr_expect(eq(u32, gputrace_device_name_id(NULL), 0));
}

Test(device_names, are_recorded_once)
{
	gt_device_names_add(recorder.session, "load");
	gt_device_names_add(recorder.session, "compute");
	gt_device_names_add(recorder.session, "load");
	cr_expect(eq(sz, told(), 2));
	cr_expect(eq(u64, refused(), 0));
}

Test(device_names, are_refused_when_they_are_empty_or_too_long)
{
	char text[GPUTRACE_DEVICE_NAME_BYTES + 2];

	memset(text, 'x', sizeof(text));
	text[GPUTRACE_DEVICE_NAME_BYTES + 1] = '\0';
	gt_device_names_add(recorder.session, "");
	gt_device_names_add(recorder.session, text);
	cr_expect(eq(u64, refused(), 2));
	text[GPUTRACE_DEVICE_NAME_BYTES] = '\0';
	gt_device_names_add(recorder.session, text);
	cr_expect(eq(u64, refused(), 2));
	cr_expect(eq(sz, told(), 1));
}

Test(device_names, are_refused_when_another_one_has_the_id)
{
	static const char first[] = "name79166";
	static const char second[] = "name91013";

	cr_assert(eq(u32, gputrace_device_id(first), gputrace_device_id(second)));
	gt_device_names_add(recorder.session, first);
	gt_device_names_add(recorder.session, second);
	gt_device_names_add(recorder.session, first);
	cr_expect(eq(u64, refused(), 1));
	cr_expect(eq(sz, told(), 1));
}

Test(device_names, are_told_again_in_the_session_of_a_child)
{
	gt_device_names_add(recorder.session, "load");
	gt_device_names_add(recorder.session, "compute");
	gt_device_names_forget(&recorder.session->device_names);
	gt_device_names_start(recorder.session);
	cr_expect(eq(sz, told(), 4));
	gt_device_names_add(recorder.session, "load");
	cr_expect(eq(u64, refused(), 0));
}

Test(device_names, are_no_records_where_device_events_are_not_recorded)
{
	recorder.session->device_names.ready = false;
	cr_expect(
		eq(u32, gt_device_names_add(recorder.session, "load"), gputrace_device_id("load")));
	cr_expect(eq(sz, told(), 0));
}

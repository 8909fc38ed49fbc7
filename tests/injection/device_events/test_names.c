/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "include/gputrace/device_layout.h"
#include "include/gputrace/gputrace.h"
#include "injection/device_events/names.h"
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

/* FNV-1a, worked out elsewhere. */
Test(device_names, have_ids_that_follow_from_the_text)
{
	static const struct {
		const char *text;
		uint32_t id;
	} known[] = {{"", 18652621u},
	             {"load", 101145063u},
	             {"compute", 73658238u},
	             {"\xc3\xa4", 161341667u}};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		cr_expect(eq(u32, gputrace_device_name_id(known[i].text), known[i].id));
		cr_expect(
			eq(u32, gt_device_names_add(recorder.session, known[i].text), known[i].id));
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

	cr_assert(eq(u32, gputrace_device_name_id(first), gputrace_device_name_id(second)));
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
	gt_device_names_forget();
	gt_device_names_start(recorder.session);
	cr_expect(eq(sz, told(), 4));
	gt_device_names_add(recorder.session, "load");
	cr_expect(eq(u64, refused(), 0));
}

static void start_without(void)
{
	recorder_init(&recorder);
}

TestSuite(device_names_alone, .init = start_without);

Test(device_names_alone, are_no_records_where_device_events_are_not_recorded)
{
	cr_expect(eq(u32, gt_device_names_add(recorder.session, "load"),
	             gputrace_device_name_id("load")));
	cr_expect(eq(sz, told(), 0));
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "model/naming/labels.h"

#include <string.h>

#include "base/strings.h"
#include "support/check.h"
#include "support/trace.h"

Test(labels, have_the_names_that_programs_gave)
{
	struct gt_trace trace;
	char text[GT_LABEL_BYTES];
	gt_id stream;

	trace_init(&trace, 1000);
	stream = trace_stream(&trace, trace_process(&trace, "app", 100), trace_device(&trace));
	gt_stream_label(&trace, stream, text, sizeof(text));
	expect_text(text, "7");
	gt_context_label(&trace, 0, text, sizeof(text));
	expect_text(text, "1");
	gt_device_label(&trace, 0, text, sizeof(text));
	expect_text(text, "NVIDIA H200");

	trace.streams.rows[stream].name = gt_strings_add(trace.strings, "copies");
	trace.contexts.rows[0].name = gt_strings_add(trace.strings, "decoder");
	trace.devices.rows[0].label = gt_strings_add(trace.strings, "trainer");
	gt_stream_label(&trace, stream, text, sizeof(text));
	expect_text(text, "7: copies");
	gt_context_label(&trace, 0, text, sizeof(text));
	expect_text(text, "1: decoder");
	gt_device_label(&trace, 0, text, sizeof(text));
	expect_text(text, "NVIDIA H200 (trainer)");
	gt_trace_release(&trace);
}

Test(labels, fit_whatever_programs_give)
{
	struct gt_trace trace;
	char name[4096];
	char text[GT_LABEL_BYTES];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	trace_init(&trace, 1000);
	(void)trace_stream(&trace, trace_process(&trace, "app", 100), trace_device(&trace));
	trace.streams.rows[0].name = gt_strings_add(trace.strings, name);
	gt_stream_label(&trace, 0, text, sizeof(text));
	cr_expect(eq(sz, strlen(text), 3 + 128));
	gt_trace_release(&trace);
}

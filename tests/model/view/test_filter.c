/* SPDX-License-Identifier: Apache-2.0 */
#include "model/view/filter.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/strings.h"
#include "support/check.h"
#include "support/trace.h"

static void expect_refused(enum gt_filter_part part, const char *value, const char *expected)
{
	struct gt_error err = {0};
	struct gt_filter filter;

	gt_filter_init(&filter);
	cr_expect(eq(int, gt_filter_add(&filter, part, value, &err), -EINVAL), "'%s'", value);
	expect_text(err.text, expected);
	cr_expect(filter.text == NULL);
	gt_filter_release(&filter);
}

static void add(struct gt_filter *filter, enum gt_filter_part part, const char *value)
{
	struct gt_error err = {0};

	cr_expect(eq(int, gt_filter_add(filter, part, value, &err), 0), "%s", err.text);
}

Test(filter, refuses_what_is_no_time_number_or_expression)
{
	expect_refused(GT_FILTER_FROM, "5",
	               "--from needs a time such as 2s, 3.5ms or, before the end, -500ms, not '5'");
	expect_refused(
		GT_FILTER_TO, "--5s",
		"--to needs a time such as 2s, 3.5ms or, before the end, -500ms, not '--5s'");
	expect_refused(GT_FILTER_STREAM, "7,x", "--stream needs numbers of streams, not 'x'");
	expect_refused(GT_FILTER_STREAM, "4294967296",
	               "--stream needs numbers of streams, not '4294967296'");
	expect_refused(GT_FILTER_DEVICE, "0,", "--device names nothing");
	expect_refused(GT_FILTER_PROCESS, "", "--process names nothing");
	expect_refused(GT_FILTER_KERNEL, "a(",
	               "--kernel 'a(' is no regular expression: Unmatched ( or \\(");
}

Test(filter, says_what_it_is_as_options)
{
	struct gt_filter filter;

	gt_filter_init(&filter);
	cr_expect(filter.text == NULL);
	add(&filter, GT_FILTER_FROM, "2s");
	add(&filter, GT_FILTER_TO, "-500ms");
	add(&filter, GT_FILTER_STREAM, "7,13");
	add(&filter, GT_FILTER_KERNEL, "void .*<int, 4>");
	expect_text(filter.text, "--from 2s --to -500ms --stream 7,13 --kernel 'void .*<int, 4>'");
	gt_filter_release(&filter);
}

static gt_time moment(const char *value, const struct gt_trace *trace)
{
	struct gt_filter filter;
	gt_time time_ns;

	gt_filter_init(&filter);
	add(&filter, GT_FILTER_FROM, value);
	time_ns = gt_filter_moment(&filter.from, trace);
	gt_filter_release(&filter);
	return time_ns - trace->start_ns;
}

Test(filter, counts_moments_from_the_start_or_the_end)
{
	struct gt_trace trace;

	trace_init(&trace, 10000);
	cr_expect(eq(i64, moment("0", &trace), 0));
	cr_expect(eq(i64, moment("2.5us", &trace), 2500));
	cr_expect(eq(i64, moment("-1us", &trace), 9000));
	cr_expect(eq(i64, moment("-0", &trace), 10000));
	cr_expect(moment("18446744073709551615ns", &trace) > 10000);
	cr_expect(moment("-18446744073709551615ns", &trace) < 0);
	gt_trace_release(&trace);
}

Test(filter, knows_devices_by_number_uuid_and_name)
{
	static const char *const words[] = {"1", "GPU-abc", "gpu-ABCD", "h200"};
	struct gt_trace trace;

	trace_init(&trace, 100);
	trace_device(&trace);
	trace_device(&trace);
	trace.devices.rows[1].uuid = gt_strings_add(trace.strings, "GPU-abcd-1");
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct gt_filter filter;

		gt_filter_init(&filter);
		add(&filter, GT_FILTER_DEVICE, words[i]);
		cr_expect(gt_filter_device(&filter, &trace, &trace.devices.rows[1]), "%s",
		          words[i]);
		gt_filter_release(&filter);
	}
	gt_trace_release(&trace);
}

Test(filter, fits_the_short_the_full_and_the_mangled_name)
{
	struct gt_launch_shape shape;
	struct gt_filter filter;
	struct gt_trace trace;

	trace_init(&trace, 100);
	shape = (struct gt_launch_shape){
		.name = gt_strings_add(trace.strings, "_Z3addILi4EEvv"),
		.demangled = gt_strings_add(trace.strings, "void add<4>()"),
		.short_name = gt_strings_add(trace.strings, "plus"),
	};
	gt_filter_init(&filter);
	cr_expect(gt_filter_shape(&filter, &trace, &shape), "nothing is chosen");
	add(&filter, GT_FILTER_KERNEL, "^sub");
	cr_expect(not(gt_filter_shape(&filter, &trace, &shape)));
	add(&filter, GT_FILTER_KERNEL, "^_Z[0-9]add");
	cr_expect(gt_filter_shape(&filter, &trace, &shape));
	gt_filter_release(&filter);
	gt_filter_init(&filter);
	add(&filter, GT_FILTER_KERNEL, "add<(3|4)>");
	cr_expect(gt_filter_shape(&filter, &trace, &shape));
	gt_filter_release(&filter);
	gt_filter_init(&filter);
	add(&filter, GT_FILTER_KERNEL, "^plus$");
	cr_expect(gt_filter_shape(&filter, &trace, &shape));
	gt_filter_release(&filter);
	gt_trace_release(&trace);
}

static void expect_missing(const struct gt_trace *trace, enum gt_filter_part part,
                           const char *value, const char *expected)
{
	struct gt_error err = {0};
	struct gt_filter filter;

	gt_filter_init(&filter);
	add(&filter, part, value);
	cr_expect(eq(int, gt_filter_check(&filter, trace, &err), expected ? -ENODATA : 0));
	expect_text(err.text, expected ? expected : "");
	gt_filter_release(&filter);
}

Test(filter, says_what_there_is_when_something_is_not)
{
	struct gt_trace trace;
	gt_id process;
	gt_id device;
	gt_id streams[3];

	trace_init(&trace, 100);
	expect_missing(&trace, GT_FILTER_STREAM, "7",
	               "no stream 7 in the recording: it has none at all");
	process = trace_process(&trace, "train", 4711);
	device = trace_device(&trace);
	for (size_t i = 0; i < 3; i++)
		streams[i] = trace_stream(&trace, process, device);
	trace.streams.rows[streams[0]].number = 7;
	trace.streams.rows[streams[1]].number = 13;
	trace.streams.rows[streams[2]].number = 7;
	trace_shape(&trace, "saxpy", 1, 32);
	trace_shape(&trace, "saxpy", 2, 32);
	expect_missing(&trace, GT_FILTER_STREAM, "7,13", NULL);
	expect_missing(&trace, GT_FILTER_STREAM, "7,14",
	               "no stream 14 in the recording; there is 7, 13");
	expect_missing(&trace, GT_FILTER_PROCESS, "train,4711", NULL);
	expect_missing(&trace, GT_FILTER_PROCESS, "trai",
	               "no process trai in the recording; there is train (4711)");
	expect_missing(&trace, GT_FILTER_DEVICE, "1",
	               "no device 1 in the recording; there is 0 (NVIDIA H200)");
	expect_missing(&trace, GT_FILTER_KERNEL, "axpy$", NULL);
	expect_missing(&trace, GT_FILTER_KERNEL, "gemm",
	               "no kernel that matches gemm in the recording; there is saxpy");
	gt_trace_release(&trace);
}

Test(filter, names_no_more_than_fits)
{
	struct gt_error err = {0};
	struct gt_filter filter;
	struct gt_trace trace;

	trace_init(&trace, 100);
	for (gt_count i = 0; i < 300; i++) {
		char name[200];

		snprintf(name, sizeof(name), "%0*u", i % 2 ? 150 : 1, i);
		trace_shape(&trace, name, 1, 32);
	}
	gt_filter_init(&filter);
	add(&filter, GT_FILTER_KERNEL, "none");
	cr_expect(eq(int, gt_filter_check(&filter, &trace, &err), -ENODATA));
	cr_expect(strstr(err.text, " more") != NULL);
	cr_expect(strlen(err.text) < 450);
	gt_filter_release(&filter);
	gt_trace_release(&trace);
}

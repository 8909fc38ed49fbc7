/* SPDX-License-Identifier: Apache-2.0 */
#include "golden/choices.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "model/names.h"
#include "model/trace.h"
#include "model/view/filter.h"

enum { VALUE_BYTES = 1024 };

__attribute__((format(printf, 3, 4))) static bool
add(struct gt_filter *filter, enum gt_filter_part part, const char *format, ...)
{
	char value[VALUE_BYTES];
	struct gt_error err = {0};
	va_list list;

	va_start(list, format);
	vsnprintf(value, sizeof(value), format, list);
	va_end(list);
	return gt_filter_add(filter, part, value, &err) == 0;
}

static bool all(struct gt_filter *filter, const struct gt_trace *trace)
{
	(void)filter;
	(void)trace;
	return true;
}

static bool middle_half(struct gt_filter *filter, const struct gt_trace *trace)
{
	const int64_t quarter_ns = (trace->end_ns - trace->start_ns) / 4;

	return quarter_ns > 0 && add(filter, GT_FILTER_FROM, "%" PRId64 "ns", quarter_ns) &&
	       add(filter, GT_FILTER_TO, "%" PRId64 "ns", 3 * quarter_ns);
}

static bool last_process(struct gt_filter *filter, const struct gt_trace *trace)
{
	const size_t count = trace->processes.count;

	return count > 1 &&
	       add(filter, GT_FILTER_PROCESS, "%" PRIu32, trace->processes.rows[count - 1].pid);
}

static bool last_device(struct gt_filter *filter, const struct gt_trace *trace)
{
	const size_t count = trace->devices.count;

	return count > 1 && add(filter, GT_FILTER_DEVICE, "%" PRId64,
	                        gt_device_number(&trace->devices.rows[count - 1]));
}

static bool last_stream(struct gt_filter *filter, const struct gt_trace *trace)
{
	const size_t count = trace->streams.count;

	return count > 0 &&
	       add(filter, GT_FILTER_STREAM, "%" PRIu32, trace->streams.rows[count - 1].number);
}

/* The kernel that ran in the middle of the recording. */
static bool one_kernel(struct gt_filter *filter, const struct gt_trace *trace)
{
	const char *name;
	char pattern[VALUE_BYTES];
	size_t at = 0;

	if (trace->kernels.count == 0)
		return false;
	name = gt_trace_text(
		trace,
		trace->launch_shapes.rows[trace->kernels.rows[trace->kernels.count / 2].shape].name);
	for (; *name && at + 2 < sizeof(pattern); name++) {
		if (strchr("\\^$.[]|()*+?{}", *name))
			pattern[at++] = '\\';
		pattern[at++] = *name;
	}
	pattern[at] = '\0';
	return add(filter, GT_FILTER_KERNEL, "%s", pattern);
}

/* The ranges that are called as the one in the middle. */
static bool one_range(struct gt_filter *filter, const struct gt_trace *trace)
{
	const size_t count = trace->ranges.count;

	return count > 0 && add(filter, GT_FILTER_RANGE, "%s",
	                        gt_trace_text(trace, trace->ranges.rows[count / 2].text));
}

/* The others of that name, and without what was done for them elsewhere. */
static bool later_ranges(struct gt_filter *filter, const struct gt_trace *trace)
{
	if (!one_range(filter, trace) || !add(filter, GT_FILTER_SKIP, "1"))
		return false;
	gt_filter_own_threads(filter);
	return true;
}

/* Choices of several kinds at once. */
static bool several(struct gt_filter *filter, const struct gt_trace *trace)
{
	return last_process(filter, trace) && last_stream(filter, trace) &&
	       add(filter, GT_FILTER_FROM, "1us");
}

/* Words for one part of a filter, of which some are in any recording of the gallery, and some in
 * none. */
static const struct {
	enum gt_filter_part part;
	const char *value;
} words[] = {
	{GT_FILTER_FROM, "-1ms"},       {GT_FILTER_FROM, "2ms"},
	{GT_FILTER_FROM, "1h"},         {GT_FILTER_TO, "-2ms"},
	{GT_FILTER_TO, "0ns"},          {GT_FILTER_DEVICE, "GPU-0a"},
	{GT_FILTER_DEVICE, "h200"},     {GT_FILTER_DEVICE, "0,7"},
	{GT_FILTER_PROCESS, "100"},     {GT_FILTER_PROCESS, "clean,pools200"},
	{GT_FILTER_STREAM, "7,13"},     {GT_FILTER_STREAM, "4711"},
	{GT_FILTER_KERNEL, "gem"},      {GT_FILTER_KERNEL, "^axpy$"},
	{GT_FILTER_KERNEL, "gemn"},     {GT_FILTER_KERNEL, "("},
	{GT_FILTER_RANGE, "step"},      {GT_FILTER_RANGE, "step/forward"},
	{GT_FILTER_RANGE, "*/forward"}, {GT_FILTER_RANGE, "stepp"},
	{GT_FILTER_SKIP, "1"},          {GT_FILTER_TAKE, "1"},
	{GT_FILTER_INSTANCE, "2"},
};

enum { WORDS = sizeof(words) / sizeof(words[0]) };

static bool (*const choices[])(struct gt_filter *filter, const struct gt_trace *trace) = {
	all,        middle_half, last_process, last_device, last_stream,
	one_kernel, one_range,   later_ranges, several,
};

const size_t choice_count = sizeof(choices) / sizeof(choices[0]);

const size_t all_choice_count = sizeof(choices) / sizeof(choices[0]) + WORDS;

bool choose(size_t choice, struct gt_filter *filter, const struct gt_trace *trace)
{
	if (choice >= choice_count)
		return add(filter, words[choice - choice_count].part, "%s",
		           words[choice - choice_count].value);
	return choices[choice](filter, trace);
}

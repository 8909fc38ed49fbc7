/* SPDX-License-Identifier: Apache-2.0 */
#include "model/view/filter.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/parse.h"
#include "model/naming/shape_names.h"
#include "model/naming/short_name.h"
#include "model/view/range_words.h"

static bool is_number(const char *word, int64_t number)
{
	uint64_t value;

	return gt_parse_count(word, &value) == 0 && number >= 0 && value == (uint64_t)number;
}

static bool is_process(const struct gt_trace *trace, const struct gt_process *process,
                       const char *word)
{
	return is_number(word, process->pid) ||
	       strcmp(gt_trace_text(trace, process->name), word) == 0;
}

/* The number is the one that reports show. */
static bool is_device(const struct gt_trace *trace, const struct gt_device *device,
                      const char *word)
{
	const char *uuid = gt_trace_text(trace, device->uuid);
	uint64_t number;

	if (gt_parse_count(word, &number) == 0)
		return is_number(word, gt_device_number(device));
	return strncasecmp(uuid, word, strlen(word)) == 0 ||
	       strcasestr(gt_trace_text(trace, device->name), word);
}

static bool is_kernel(const struct gt_trace *trace, const struct gt_launch_shape *shape,
                      const struct gt_pattern *pattern)
{
	const gt_string texts[] = {shape->short_name, shape->demangled, shape->name};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i] &&
		    regexec(&pattern->regex, gt_trace_text(trace, texts[i]), 0, NULL, 0) == 0)
			return true;
	return false;
}

bool gt_filter_process(const struct gt_filter *filter, const struct gt_trace *trace,
                       const struct gt_process *process)
{
	gt_array_each(char *const, word, &filter->processes)
		if (is_process(trace, process, *word))
			return true;
	return filter->processes.count == 0;
}

bool gt_filter_device(const struct gt_filter *filter, const struct gt_trace *trace,
                      const struct gt_device *device)
{
	gt_array_each(char *const, word, &filter->devices)
		if (is_device(trace, device, *word))
			return true;
	return filter->devices.count == 0;
}

bool gt_filter_stream(const struct gt_filter *filter, const struct gt_stream *stream)
{
	gt_array_each(const gt_count, number, &filter->streams)
		if (stream->number == *number)
			return true;
	return filter->streams.count == 0;
}

bool gt_filter_shape(const struct gt_filter *filter, const struct gt_trace *trace,
                     const struct gt_launch_shape *shape)
{
	gt_array_each(struct gt_pattern *const, pattern, &filter->kernels)
		if (is_kernel(trace, shape, *pattern))
			return true;
	return filter->kernels.count == 0;
}

/* Things to choose from, for a sentence: "7, 13 and 4 more". */
struct choice {
	char text[320];
	const char *nearest; /* what was meant, most likely; NULL: there is no telling */
	const char *all;     /* where all are to be seen; NULL: how many are left out is said */
	size_t length;
	size_t left_out;
};

enum { MOST_NAMED = 12, MOST_KERNELS = 3, MOST_BYTES = 60, MOST_COMPARED = 10000 };

static bool is_named(const struct choice *choice, const char *name, size_t length)
{
	for (const char *at = choice->text; (at = strstr(at, name)) != NULL; at++)
		if ((at == choice->text || at[-1] == ' ') &&
		    (at[length] == '\0' || at[length] == ','))
			return true;
	return false;
}

static void offer(struct choice *choice, size_t *named, size_t most, const char *name)
{
	char shown[MOST_BYTES + sizeof("...")];
	const int length = snprintf(shown, sizeof(shown), "%.*s%s", MOST_BYTES, name,
	                            strlen(name) > MOST_BYTES ? "..." : "");
	const size_t needed = (size_t)length + sizeof(", ");

	if (length == 0 || is_named(choice, shown, (size_t)length))
		return;
	if (*named == most || choice->length + needed > sizeof(choice->text)) {
		choice->left_out++;
		return;
	}
	choice->length += (size_t)snprintf(choice->text + choice->length,
	                                   sizeof(choice->text) - choice->length, "%s%s",
	                                   *named ? ", " : "", shown);
	++*named;
}

static struct choice processes_of(const struct gt_trace *trace)
{
	struct choice choice = {.text = ""};
	size_t named = 0;
	char text[128];

	gt_array_each(const struct gt_process, process, &trace->processes) {
		snprintf(text, sizeof(text), "%s (%u)", gt_trace_text(trace, process->name),
		         process->pid);
		offer(&choice, &named, MOST_NAMED, text);
	}
	return choice;
}

static struct choice devices_of(const struct gt_trace *trace)
{
	struct choice choice = {.text = ""};
	size_t named = 0;
	char text[128];

	gt_array_each(const struct gt_device, device, &trace->devices) {
		snprintf(text, sizeof(text), "%lld (%s)", (long long)gt_device_number(device),
		         gt_trace_text(trace, device->name));
		offer(&choice, &named, MOST_NAMED, text);
	}
	return choice;
}

static struct choice streams_of(const struct gt_trace *trace)
{
	struct choice choice = {.text = ""};
	size_t named = 0;
	char text[16];

	gt_array_each(const struct gt_stream, stream, &trace->streams) {
		snprintf(text, sizeof(text), "%u", stream->number);
		offer(&choice, &named, MOST_NAMED, text);
	}
	return choice;
}

/* Name of a kernel without its template arguments. */
struct base {
	char text[MOST_BYTES + 1];
};

/* The kernel that a word was meant to be, by its name without template arguments; "" if none. */
static struct base nearest_kernel(const struct gt_trace *trace, const char *word)
{
	struct base nearest = {""};

	for (size_t i = 0; i < trace->launch_shapes.count && i < MOST_COMPARED; i++) {
		const struct gt_launch_shape *shape = &trace->launch_shapes.rows[i];
		struct base base = {""};
		const char *const words[] = {base.text, nearest.text, NULL};
		const char *found;

		gt_short_base(gt_shape_text(trace, shape, GT_NAMES_SHORT), base.text,
		              sizeof(base.text));
		found = gt_nearest(word, words);
		if (found == base.text)
			nearest = base;
	}
	return nearest;
}

static struct choice kernels_of(const struct gt_trace *trace)
{
	struct choice choice = {.text = ""};
	size_t named = 0;

	gt_array_each(const struct gt_launch_shape, shape, &trace->launch_shapes)
		offer(&choice, &named, MOST_KERNELS, gt_shape_text(trace, shape, GT_NAMES_SHORT));
	return choice;
}

static struct choice ranges_of(const struct gt_ranges *ranges)
{
	struct choice choice = {.text = ""};
	size_t named = 0;
	char text[GT_RANGE_PATH_BYTES];

	for (gt_id i = 0; i < ranges->paths.count; i++) {
		gt_range_path_text(ranges, i, text);
		offer(&choice, &named, MOST_NAMED, text);
	}
	return choice;
}

static int nothing_is(const char *what, const char *word, const struct choice *choice,
                      struct gt_error *err)
{
	char more[64] = "";

	if (!choice->length)
		return gt_fail(err, ENODATA, "no %s %s in the recording: it has none at all", what,
		               word);
	if (choice->nearest)
		return gt_fail(err, ENODATA, "no %s %.80s in the recording; did you mean %s?", what,
		               word, choice->nearest);
	if (choice->left_out && choice->all)
		snprintf(more, sizeof(more), " and more: %s", choice->all);
	else if (choice->left_out)
		snprintf(more, sizeof(more), " and %zu more", choice->left_out);
	return gt_fail(err, ENODATA, "no %s %.80s in the recording; there is %s%s", what, word,
	               choice->text, more);
}

static bool some_process(const struct gt_trace *trace, const char *word)
{
	gt_array_each(const struct gt_process, process, &trace->processes)
		if (is_process(trace, process, word))
			return true;
	return false;
}

static bool some_device(const struct gt_trace *trace, const char *word)
{
	gt_array_each(const struct gt_device, device, &trace->devices)
		if (is_device(trace, device, word))
			return true;
	return false;
}

static bool some_stream(const struct gt_trace *trace, gt_count number)
{
	gt_array_each(const struct gt_stream, stream, &trace->streams)
		if (stream->number == number)
			return true;
	return false;
}

static bool some_kernel(const struct gt_trace *trace, const struct gt_pattern *pattern)
{
	gt_array_each(const struct gt_launch_shape, shape, &trace->launch_shapes)
		if (is_kernel(trace, shape, pattern))
			return true;
	return false;
}

static int check_streams(const struct gt_filter *filter, const struct gt_trace *trace,
                         struct gt_error *err)
{
	gt_array_each(const gt_count, number, &filter->streams) {
		const struct choice choice = streams_of(trace);
		char word[16];

		if (some_stream(trace, *number))
			continue;
		snprintf(word, sizeof(word), "%u", *number);
		return nothing_is("stream", word, &choice, err);
	}
	return 0;
}

/* Processes and devices. */
static int check_words(const struct gt_filter *filter, const struct gt_trace *trace,
                       struct gt_error *err)
{
	gt_array_each(char *const, word, &filter->processes) {
		if (!some_process(trace, *word)) {
			const struct choice choice = processes_of(trace);

			return nothing_is("process", *word, &choice, err);
		}
	}
	gt_array_each(char *const, word, &filter->devices) {
		if (!some_device(trace, *word)) {
			const struct choice choice = devices_of(trace);

			return nothing_is("device", *word, &choice, err);
		}
	}
	return 0;
}

static int check_ranges(const struct gt_filter *filter, const struct gt_trace *trace,
                        struct gt_error *err)
{
	struct gt_ranges ranges;
	bool *paths;
	int result = 0;

	if (filter->ranges.count == 0)
		return 0;
	gt_ranges_init(&ranges, trace);
	paths = gt_allocate((ranges.paths.count + 1) * sizeof(*paths));
	gt_array_each(struct gt_range_word *const, word, &filter->ranges)
		if (result == 0 && !gt_range_word_match(*word, &ranges, paths)) {
			const struct choice choice = ranges_of(&ranges);

			result = nothing_is("NVTX range", (*word)->text, &choice, err);
		}
	gt_array_free(paths);
	gt_ranges_release(&ranges);
	return result;
}

int gt_filter_check(const struct gt_filter *filter, const struct gt_trace *trace,
                    struct gt_error *err)
{
	int result = check_words(filter, trace, err);

	if (result < 0)
		return result;
	gt_array_each(struct gt_pattern *const, pattern, &filter->kernels) {
		if (!some_kernel(trace, *pattern)) {
			const struct base nearest = nearest_kernel(trace, (*pattern)->text);
			struct choice choice = kernels_of(trace);

			choice.all = "gputrace report kernels";
			choice.nearest = *nearest.text ? nearest.text : NULL;
			return nothing_is("kernel that matches", (*pattern)->text, &choice, err);
		}
	}
	result = check_streams(filter, trace, err);
	return result < 0 ? result : check_ranges(filter, trace, err);
}

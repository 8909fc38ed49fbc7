/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_VIEW_FILTER_H
#define GT_MODEL_VIEW_FILTER_H

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "model/trace.h"

struct gt_error;
struct gt_range_word;

/*
 * Which part of a recording someone asks for, as they wrote it: a window, and processes, devices,
 * streams, kernels and NVTX ranges. Nothing of a kind chosen means all of it. model/view/view.h
 * applies it.
 */

/* Parts are named as the options of the command line are. */
enum gt_filter_part {
	GT_FILTER_FROM,
	GT_FILTER_TO,
	GT_FILTER_PROCESS,
	GT_FILTER_DEVICE,
	GT_FILTER_STREAM,
	GT_FILTER_KERNEL,
	GT_FILTER_RANGE,
	GT_FILTER_SKIP,
	GT_FILTER_TAKE,
	GT_FILTER_INSTANCE,
	GT_FILTER_PARTS
};

/* A moment of the recording: so long after its start, or before its end. */
struct gt_filter_time {
	bool given;
	bool before_end;
	uint64_t ns;
};

struct gt_pattern {
	regex_t regex;
	char *text;
};

struct gt_filter {
	struct gt_filter_time from;
	struct gt_filter_time to;
	gt_array(char *) processes; /* process ids or names of programs */
	gt_array(char *) devices;   /* numbers, beginnings of UUIDs, or parts of product names */
	gt_array(gt_count) streams; /* CUPTI's numbers */
	gt_array(struct gt_pattern *) kernels;
	gt_array(struct gt_range_word *) ranges;
	uint64_t skip;     /* leaves out so many of the ranges of each path and thread */
	uint64_t take;     /* leaves so many behind these; 0: all */
	uint64_t instance; /* leaves this one alone, from 1; 0: no choice */
	bool own_threads;  /* what was done for ranges of other threads is in none of them */
	char *text; /* all of it as options, "--from 2s --stream 7"; NULL: nothing is chosen */
};

void gt_filter_init(struct gt_filter *filter);
void gt_filter_release(struct gt_filter *filter);

/*
 * Adds what was written for one part. A time is a duration such as 2s or 3.5ms, from the start of
 * the recording, or with a minus sign from its end; processes, devices and streams are one or
 * several with commas between them; a kernel is one POSIX extended regular expression, a range one
 * word of model/view/range_words.h; how many of them are skipped, how many are taken, and which one
 * alone are numbers. Any of the several things chosen of one part will do. Fails with -EINVAL for
 * what is none of that.
 */
int gt_filter_add(struct gt_filter *filter, enum gt_filter_part part, const char *value,
                  struct gt_error *err);

/* Sets own_threads once all else was added; the text says so where there is one. */
void gt_filter_own_threads(struct gt_filter *filter);

/* The moment on the timeline of the trace. Far outside of it stays outside, without overflow. */
gt_time gt_filter_moment(const struct gt_filter_time *time, const struct gt_trace *trace);

/* Whether a row is one of those chosen; any is when none are. */
bool gt_filter_process(const struct gt_filter *filter, const struct gt_trace *trace,
                       const struct gt_process *process);
bool gt_filter_device(const struct gt_filter *filter, const struct gt_trace *trace,
                      const struct gt_device *device);
bool gt_filter_stream(const struct gt_filter *filter, const struct gt_stream *stream);

/* By its short, its full or its mangled name. */
bool gt_filter_shape(const struct gt_filter *filter, const struct gt_trace *trace,
                     const struct gt_launch_shape *shape);

/*
 * Whether what was chosen goes together: -EINVAL when ranges are counted of which none are chosen,
 * or in two ways at once.
 */
int gt_filter_sound(const struct gt_filter *filter, struct gt_error *err);

/*
 * Whether everything that was chosen by name or number is in the trace. Fails with -ENODATA and
 * a sentence that says what is.
 */
int gt_filter_check(const struct gt_filter *filter, const struct gt_trace *trace,
                    struct gt_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "collector/decode/rows.h"
#include "collector/stage.h"
#include "format/ranges.h"

/*
 * Names that the program gave its threads, streams, contexts and events through NVTX; of two for
 * one thing the later holds. A thing that is never used gets no row for having a name.
 */

static int by_time(const void *a, const void *b)
{
	const struct gt_record_given_name *left = a;
	const struct gt_record_given_name *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return (left->number > right->number) - (left->number < right->number);
}

/* The default stream's handle is the same in all contexts: it is clear where there is one. */
static gt_id only_context(const struct gt_trace *trace, gt_id process)
{
	gt_id found = GT_NONE;

	for (size_t i = 0; i < trace->contexts.count; i++) {
		if (trace->contexts.rows[i].process != process)
			continue;
		if (found != GT_NONE)
			return GT_NONE;
		found = (gt_id)i;
	}
	return found;
}

static void name_stream(struct gt_trace *trace, struct gt_capture *capture,
                        const struct gt_record_given_name *name, gt_id context)
{
	const struct gt_handle_call call = {
		.handle = name->number,
		.time_ns = (gt_time)name->time_ns,
		.context = context,
	};
	const gt_id stream = gt_row_of_stream_handle(trace, capture, &call);

	if (stream != GT_NONE)
		trace->streams.rows[stream].name = gt_capture_string(capture, name->text);
}

static void give(struct gt_trace *trace, struct gt_capture *capture,
                 const struct gt_record_given_name *name, gt_id context)
{
	const gt_string text = gt_capture_string(capture, name->text);
	gt_id row;

	switch (name->kind) {
	case GT_NAMED_THREAD:
		row = gt_known_find(&capture->threads, name->number);
		if (row != GT_NONE)
			trace->threads.rows[row].name = text;
		break;
	case GT_NAMED_CONTEXT:
		row = gt_known_find(&capture->contexts, name->number);
		if (row != GT_NONE)
			trace->contexts.rows[row].name = text;
		break;
	case GT_NAMED_EVENT:
		row = gt_known_find(&capture->events, name->number);
		if (row != GT_NONE)
			trace->events.rows[row].name = text;
		break;
	case GT_NAMED_STREAM:
		name_stream(trace, capture, name, context);
		break;
	default: /* any number may stand in a file */
		break;
	}
}

/* Threads are known by their numbers: those that only NVTX was called on come here first. */
static void add_threads(struct gt_trace *trace, struct gt_capture *capture)
{
	gt_array_each(const struct gt_record_range_begin, begin, &capture->raw_range_begins)
		(void)gt_row_of_thread(trace, capture, begin->thread);
	gt_array_each(const struct gt_record_range_end, end, &capture->raw_range_ends)
		(void)gt_row_of_thread(trace, capture, end->thread);
}

static int run(struct gt_collection *collection, struct gt_error *err)
{
	struct gt_trace *trace = collection->trace;

	(void)err;
	gt_array_each(struct gt_capture, capture, &collection->captures) {
		const gt_id context = only_context(trace, capture->process);

		add_threads(trace, capture);
		if (capture->raw_given_names.count > 1)
			qsort(capture->raw_given_names.rows, capture->raw_given_names.count,
			      sizeof(struct gt_record_given_name), by_time);
		gt_array_each(const struct gt_record_given_name, name, &capture->raw_given_names)
			give(trace, capture, name, context);
	}
	return 0;
}

const struct gt_stage gt_stage_labels = {.name = "labels", .run = run};

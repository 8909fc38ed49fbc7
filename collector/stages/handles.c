/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "collector/decode/rows.h"
#include "collector/kinds.h"
#include "collector/stage.h"

/*
 * Streams that calls name by their handles. A handle is an address that another stream may get
 * once its stream is gone: which one it is depends on the time, and what CUPTI called it stands in
 * the record that its making left.
 */

/* CUstream: this and 0 are the default stream, and no addresses (cuda.h). */
enum { LEGACY_STREAM = 1 };

static int by_handle_and_time(const void *a, const void *b)
{
	const struct gt_record_handle *left = a;
	const struct gt_record_handle *right = b;

	if (left->handle != right->handle)
		return left->handle < right->handle ? -1 : 1;
	return (left->time_ns > right->time_ns) - (left->time_ns < right->time_ns);
}

static void sort(struct gt_capture *capture)
{
	if (capture->raw_handles.count > 1)
		qsort(capture->raw_handles.rows, capture->raw_handles.count,
		      sizeof(*capture->raw_handles.rows), by_handle_and_time);
}

/*
 * The last stream that got the handle before the call; the first there is when none did, since a
 * stream may be used before its making has returned. NULL: nobody said.
 */
static const struct gt_record_handle *find(const struct gt_capture *capture, uint64_t handle,
                                           gt_time time_ns)
{
	const struct gt_record_handle wanted = {.handle = handle, .time_ns = (uint64_t)time_ns};
	const struct gt_record_handle *rows = capture->raw_handles.rows;
	const size_t made = gt_count_up_to(&capture->raw_handles, &wanted, by_handle_and_time);

	if (made > 0 && rows[made - 1].handle == handle)
		return &rows[made - 1];
	return made < capture->raw_handles.count && rows[made].handle == handle ? &rows[made]
	                                                                        : NULL;
}

gt_id gt_row_of_stream_handle(struct gt_trace *trace, struct gt_capture *capture,
                              const struct gt_handle_call *call)
{
	const struct gt_record_handle *made = find(capture, call->handle, call->time_ns);

	if (made)
		return gt_row_of_stream(trace, capture, made->context, made->stream,
		                        GT_UNKNOWN_ORDINAL);
	if (call->handle > LEGACY_STREAM || call->context >= trace->contexts.count)
		return GT_NONE;

	const struct gt_context *context = &trace->contexts.rows[call->context];

	/* A context whose record is not there has no number for its default stream. */
	return context->null_stream ? gt_row_of_stream(trace, capture, context->number,
	                                               context->null_stream, GT_UNKNOWN_ORDINAL)
	                            : GT_NONE;
}

/* Columns of a kind whose stream is a handle. */
struct columns {
	const struct gt_column *start;
	const struct gt_column *context;
	const struct gt_column *stream;
};

/* False for a kind that has none. */
static bool find_columns(const struct gt_kind *kind, struct columns *columns)
{
	*columns = (struct columns){0};
	for (size_t i = 0; i < kind->binding_count; i++) {
		const struct gt_binding *binding = &kind->bindings[i];

		if (binding->field->role == GT_ROLE_stream_handle)
			columns->stream = binding->column;
		else if (binding->field->role == GT_ROLE_context)
			columns->context = binding->column;
		else if (i == 0)
			columns->start = binding->column;
	}
	return columns->start && columns->context && columns->stream;
}

static void resolve_row(struct gt_trace *trace, struct gt_capture *capture,
                        const struct columns *columns, uint8_t *row)
{
	struct gt_handle_call call;
	gt_id stream;

	memcpy(&stream, row + columns->stream->offset, sizeof(stream));
	if (stream == GT_NONE)
		return;
	call.handle = capture->handles.rows[stream];
	memcpy(&call.time_ns, row + columns->start->offset, sizeof(call.time_ns));
	memcpy(&call.context, row + columns->context->offset, sizeof(call.context));
	stream = gt_row_of_stream_handle(trace, capture, &call);
	memcpy(row + columns->stream->offset, &stream, sizeof(stream));
}

static void resolve_segment(struct gt_collection *collection, struct gt_capture *capture,
                            const struct gt_segment *segment)
{
	const struct gt_kind *kind = gt_kind_find(collection->kinds, segment->kind);
	const struct gt_rows rows = gt_trace_rows(collection->trace, kind->table);
	struct columns columns;

	if (!find_columns(kind, &columns))
		return;
	for (size_t i = segment->first; i < segment->first + segment->count; i++)
		resolve_row(collection->trace, capture, &columns, rows.rows + i * rows.row_size);
}

static int run(struct gt_collection *collection, struct gt_error *err)
{
	(void)err;
	gt_array_each(struct gt_capture, capture, &collection->captures) {
		sort(capture);
		gt_array_each(const struct gt_segment, segment, &capture->segments)
			resolve_segment(collection, capture, segment);
	}
	return 0;
}

const struct gt_stage gt_stage_handles = {.name = "handles", .run = run};

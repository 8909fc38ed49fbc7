/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/array.h"
#include "exporters/chrome/events.h"
#include "exporters/timeline/said.h"
#include "model/naming/operations.h"
#include "model/ranges/nesting.h"
#include "model/ranges/payload.h"
#include "model/ranges/projection.h"

/*
 * NVTX as PyTorch's profiler writes what programs name: user_annotation on the thread and
 * gpu_user_annotation on the stream; operations of PyTorch are cpu_op on the thread alone. Ranges
 * that are not nested there are asynchronous events, which viewers give rows of their own.
 */

/* A range by the words of PyTorch's profiler. */
struct called {
	bool is_op;
	const char *name;
	struct gt_operation operation;
	char stripped[GT_RANGE_NAME_BYTES]; /* of what PyTorch writes numbers behind */
};

/* An optimizer's step is what a program names, in PyTorch's words; it has no direction. */
static void call(struct called *called, const struct gt_trace *trace, const struct gt_range *range)
{
	const gt_string domain =
		range->domain < trace->domains.count ? trace->domains.rows[range->domain].name : 0;

	called->name = gt_trace_text(trace, range->text);
	called->operation = gt_operation_of(gt_trace_text(trace, domain), called->name);
	called->is_op = called->operation.kind == GT_OPERATION_OP &&
	                called->operation.direction != GT_DIRECTION_NONE;
	if (called->operation.kind != GT_OPERATION_OP)
		return;
	snprintf(called->stripped, sizeof(called->stripped), "%s", called->name);
	gt_operations_strip(called->stripped);
	called->name = called->stripped;
}

static const char *category_of(const struct called *called)
{
	return called->is_op ? "cpu_op" : "user_annotation";
}

static void add_known_text(struct gt_chrome *chrome, const char *key, gt_string text)
{
	if (*gt_trace_text(chrome->trace, text))
		gt_chrome_add_text(&chrome->out.chars, key, gt_trace_text(chrome->trace, text));
}

static void add_payload(struct gt_chrome *chrome, const struct gt_said *said)
{
	const struct gt_payload payload = gt_payload_of(said->payload, said->payload_type);

	if (payload.type == GT_PAYLOAD_NONE)
		return;
	if (payload.type == GT_PAYLOAD_REAL) {
		gt_chars_add(&chrome->out.chars, ",\"payload\":");
		gt_chars_add_real(&chrome->out.chars, payload.real);
		return;
	}
	gt_chrome_add_number(&chrome->out.chars, "payload", payload.number);
}

/* Members behind the first one. */
static void add_said(struct gt_chrome *chrome, const struct gt_said *said)
{
	if (said->domain < chrome->trace->domains.count)
		add_known_text(chrome, "domain", chrome->trace->domains.rows[said->domain].name);
	add_known_text(chrome, "category", said->category);
	add_payload(chrome, said);
	if (said->color) {
		char color[16];

		snprintf(color, sizeof(color), "#%06x", said->color & 0xffffff);
		gt_chrome_add_text(&chrome->out.chars, "color", color);
	}
	add_known_text(chrome, "data", said->data);
}

static bool is_shown(const struct gt_chrome *chrome, gt_id thread, gt_time start_ns)
{
	return gt_ids_has_thread(&chrome->ids, thread) && gt_ids_time_is_sound(start_ns);
}

static void add_range_args(struct gt_chrome *chrome, const struct gt_range *range, gt_id row,
                           const struct gt_operation *operation)
{
	const struct gt_said said = gt_said_of_range(range);

	gt_chars_add(&chrome->out.chars, ",\"args\":{\"kind\":\"nvtx\"");
	if (operation->numbered)
		gt_chrome_add_number(&chrome->out.chars, "Sequence number",
		                     (int64_t)operation->sequence);
	gt_chrome_add_path(chrome, "path", row);
	add_said(chrome, &said);
	gt_chars_add(&chrome->out.chars, "}}");
}

/* Begin and end are two events, and the end may be missing. */
static void put_async(struct gt_chrome *chrome, const struct gt_range *range, gt_id row)
{
	const struct gt_place place = gt_places_of_thread(&chrome->places, range->thread);
	const gt_time end_ns = gt_range_end(range);
	struct called called;

	call(&called, chrome->trace, range);
	gt_chrome_begin(chrome, "b", category_of(&called), called.name, (uint64_t)row + 1);
	gt_chrome_add_place(chrome, place, range->start_ns, INT64_MAX);
	add_range_args(chrome, range, row, &called.operation);
	if (end_ns == INT64_MAX)
		return;
	gt_chrome_begin(chrome, "e", category_of(&called), called.name, (uint64_t)row + 1);
	gt_chrome_add_place(chrome, place, end_ns > range->start_ns ? end_ns : range->start_ns,
	                    INT64_MAX);
	gt_chars_add(&chrome->out.chars, "}");
}

static void put_range(struct gt_chrome *chrome, const struct gt_range *range, gt_id row)
{
	const gt_time end_ns = gt_range_end(range);
	struct called called;

	call(&called, chrome->trace, range);
	gt_chrome_begin(chrome, end_ns == INT64_MAX ? "B" : "X", category_of(&called), called.name,
	                0);
	gt_chrome_add_place(chrome, gt_places_of_thread(&chrome->places, range->thread),
	                    range->start_ns,
	                    end_ns > range->start_ns ? end_ns : range->start_ns + 1);
	add_range_args(chrome, range, row, &called.operation);
}

static void put_ranges(struct gt_chrome *chrome)
{
	bool *nest = gt_ranges_nest(chrome->trace);

	for (gt_id i = 0; i < chrome->trace->ranges.count; i++) {
		const struct gt_range *range = &chrome->trace->ranges.rows[i];

		if (!is_shown(chrome, range->thread, range->start_ns)) {
			chrome->counts.skipped++;
			continue;
		}
		if (nest[i])
			put_range(chrome, range, i);
		else
			put_async(chrome, range, i);
		chrome->counts.range_slices++;
		gt_chrome_pass(&chrome->out);
	}
	gt_array_free(nest);
}

static void put_mark(struct gt_chrome *chrome, const struct gt_mark *mark)
{
	const struct gt_said said = gt_said_of_mark(mark);

	gt_chrome_begin(chrome, "i", "user_annotation", gt_trace_text(chrome->trace, mark->text),
	                0);
	gt_chrome_add_place(chrome, gt_places_of_thread(&chrome->places, mark->thread),
	                    mark->start_ns, INT64_MAX);
	gt_chars_add(&chrome->out.chars, ",\"s\":\"t\",\"args\":{\"kind\":\"nvtx\"");
	add_said(chrome, &said);
	gt_chars_add(&chrome->out.chars, "}}");
	gt_chrome_pass(&chrome->out);
	chrome->counts.range_slices++;
}

static void put_projected(struct gt_chrome *chrome, const struct gt_projected *row,
                          const char *name, struct gt_place place, bool nests)
{
	const struct gt_trace *trace = chrome->trace;
	const uint64_t id = trace->ranges.count + row->group + 1;

	gt_chrome_begin(chrome, nests ? "X" : "b", "gpu_user_annotation", name, nests ? 0 : id);
	gt_chrome_add_place(chrome, place, row->span.start_ns,
	                    nests ? row->span.end_ns : INT64_MAX);
	/* Without its stream, by which tools tell work of the GPU. */
	gt_chars_add(&chrome->out.chars, ",\"args\":{\"kind\":\"nvtx\"");
	gt_chrome_add_path(chrome, "path", row->group);
	gt_chars_add(&chrome->out.chars, "}}");
	if (!nests) {
		gt_chrome_begin(chrome, "e", "gpu_user_annotation", name, id);
		gt_chrome_add_place(chrome, place, row->span.end_ns, INT64_MAX);
		gt_chars_add(&chrome->out.chars, "}");
	}
	chrome->counts.range_slices++;
	gt_chrome_pass(&chrome->out);
}

/* Ends of what is open on a stream, the outer first. */
struct open_spans {
	gt_array(gt_time) ends_ns;
	gt_id stream;
};

static bool nests(struct open_spans *open, const struct gt_projected *row)
{
	if (row->place != open->stream)
		open->ends_ns.count = 0;
	open->stream = row->place;
	while (open->ends_ns.count > 0 &&
	       open->ends_ns.rows[open->ends_ns.count - 1] <= row->span.start_ns)
		open->ends_ns.count--;
	if (open->ends_ns.count > 0 &&
	    open->ends_ns.rows[open->ends_ns.count - 1] < row->span.end_ns)
		return false;
	*gt_array_push(&open->ends_ns) = row->span.end_ns;
	return true;
}

static void put_on_stream(struct gt_chrome *chrome, struct open_spans *open,
                          const struct gt_projected *row)
{
	const struct gt_trace *trace = chrome->trace;
	const gt_id context = trace->streams.rows[row->place].context;
	const gt_id device =
		context < trace->contexts.count ? trace->contexts.rows[context].device : GT_NONE;
	struct called called;

	call(&called, trace, &trace->ranges.rows[row->group]);
	if (called.is_op)
		return;
	if (device >= trace->devices.count || !gt_ids_time_is_sound(row->span.start_ns)) {
		chrome->counts.skipped++;
		return;
	}
	put_projected(chrome, row, called.name,
	              gt_places_of_stream(&chrome->places, row->place, device), nests(open, row));
}

static void put_on_streams(struct gt_chrome *chrome)
{
	struct open_spans open = {.stream = GT_NONE};
	struct gt_projection projection;
	size_t count;
	gt_id *order;

	gt_projection_init(&projection, &chrome->ranges, GT_PROJECT_STREAMS, NULL, 0);
	order = gt_projection_order(&projection, &chrome->ranges, &count);
	for (size_t i = 0; i < count; i++)
		put_on_stream(chrome, &open, &projection.rows.rows[order[i]]);
	gt_array_release(&open.ends_ns);
	gt_array_free(order);
	gt_projection_release(&projection);
}

void gt_chrome_write_ranges(struct gt_chrome *chrome)
{
	if (chrome->trace->ranges.count > 0) {
		put_ranges(chrome);
		put_on_streams(chrome);
	}
	gt_array_each(const struct gt_mark, mark, &chrome->trace->marks)
		if (is_shown(chrome, mark->thread, mark->start_ns))
			put_mark(chrome, mark);
		else
			chrome->counts.skipped++;
}

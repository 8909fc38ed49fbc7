/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "exporters/perfetto/tracks.h"
#include "exporters/perfetto/writer.h"
#include "model/names.h"
#include "model/naming/shape_names.h"
#include "model/path/path.h"
#include "model/path/spans.h"

/*
 * The path that set the time, of each process on a track of its own below it, or of the chosen
 * ranges. A thread's own time, in short calls and between them, is one slice; long calls have
 * slices of their own, which are called by their functions. A path has at most so many slices for
 * its length: what is shorter is drawn together with what comes next to it, under the name of the
 * longest of them.
 */
enum { MOST_SLICES = 50000, MOST_CALLS = 1000 };

static const char category[] = "path";

struct drawn {
	struct gt_path_member member; /* the longest of them, with the times of all */
	gt_time longest_ns;
	uint64_t stretches;
	gt_id process;
	bool is_call; /* a long one, by itself */
};

struct drawing {
	struct gt_perfetto *perfetto;
	struct gt_path path;
	gt_array(struct drawn) list;
	size_t first;     /* of the span at hand */
	gt_time least_ns; /* what is shorter is drawn together */
	gt_time call_ns;  /* a call of the host that lasts so long is drawn by itself */
	gt_id process;
};

static bool is_of_host(const struct gt_path_member *member)
{
	return member->kind == GT_PATH_OF_CALL || member->kind == GT_PATH_OF_HOST;
}

static bool is_long_call(const struct drawing *drawing, const struct gt_path_member *member)
{
	return member->kind == GT_PATH_OF_CALL &&
	       member->end_ns - member->start_ns >= drawing->call_ns;
}

static bool go_together(const struct drawing *drawing, const struct drawn *later,
                        const struct gt_path_member *earlier)
{
	const struct gt_api_call *calls = drawing->perfetto->trace->api_calls.rows;

	if (is_of_host(&later->member) && is_of_host(earlier))
		return calls[later->member.item].thread == calls[earlier->item].thread &&
		       !later->is_call && !is_long_call(drawing, earlier);
	return later->member.end_ns - later->member.start_ns < drawing->least_ns;
}

/* The last comes first. */
static void see(void *context, const struct gt_path_member *member)
{
	struct drawing *drawing = context;
	const gt_time lasts_ns = member->end_ns - member->start_ns;
	struct drawn *later = drawing->list.count > drawing->first
	                              ? &drawing->list.rows[drawing->list.count - 1]
	                              : NULL;

	if (!later || !go_together(drawing, later, member)) {
		*gt_array_push(&drawing->list) = (struct drawn){
			*member, lasts_ns, 1, drawing->process, is_long_call(drawing, member)};
		return;
	}
	if (lasts_ns > later->longest_ns) {
		const gt_time end_ns = later->member.end_ns;

		later->member = *member;
		later->member.end_ns = end_ns;
		later->longest_ns = lasts_ns;
	}
	later->member.start_ns = member->start_ns;
	later->stretches++;
}

static const char *name_of(const struct drawing *drawing, const struct drawn *drawn, char *text,
                           size_t size)
{
	const struct gt_trace *trace = drawing->perfetto->trace;
	const struct gt_path_member *member = &drawn->member;
	const struct gt_step step = gt_path_step(&drawing->path, member->item);

	if (drawn->is_call)
		return gt_trace_text(trace, trace->api_calls.rows[member->item].function);
	if (is_of_host(member))
		return "host";
	if (member->kind == GT_PATH_OF_RETURN || member->kind == GT_PATH_OF_WAIT)
		return gt_trace_text(trace, trace->api_calls.rows[step.row].function);
	if (member->kind != GT_PATH_OF_KERNEL && member->kind != GT_PATH_OF_COPY)
		return gt_path_kind_name(member->kind);
	if (step.table == GT_TABLE_kernels)
		return gt_shape_name(trace, trace->kernels.rows[step.row].shape);
	if (step.table == GT_TABLE_fills)
		return "fill";
	snprintf(text, size, "copy %s", gt_copy_kind_name(trace->copies.rows[step.row].kind));
	return text;
}

/* The call that a stretch of the host or a wait is about. */
static const char *call_of(const struct drawing *drawing, const struct gt_path_member *member)
{
	const struct gt_trace *trace = drawing->perfetto->trace;

	return member->item < trace->api_calls.count && member->kind == GT_PATH_OF_CALL
	               ? gt_trace_text(trace, trace->api_calls.rows[member->item].function)
	               : NULL;
}

/* The process of a stretch where the path has gone over to another one; GT_NONE: it has not. */
static gt_id other_process(const struct drawing *drawing, const struct drawn *drawn)
{
	const gt_id process = gt_path_process(&drawing->path, drawn->member.item);

	return process != drawn->process && process < drawing->perfetto->trace->processes.count
	               ? process
	               : GT_NONE;
}

static void put(struct drawing *drawing, struct gt_lanes *lanes, const struct drawn *drawn)
{
	struct gt_names *names = &drawing->perfetto->names;
	const char *call = drawn->is_call ? NULL : call_of(drawing, &drawn->member);
	const gt_id other = other_process(drawing, drawn);
	struct gt_annotation annotations[5];
	size_t count = 0;
	char text[64];
	const char *name = name_of(drawing, drawn, text, sizeof(text));

	if (strcmp(name, gt_path_kind_name(drawn->member.kind)) != 0)
		annotations[count++] = (struct gt_annotation){
			.type = GT_VALUE_TEXT,
			.name = gt_names_add(names, "kind"),
			.number = gt_names_add(names, gt_path_kind_name(drawn->member.kind)),
		};
	if (drawn->member.assumed)
		annotations[count++] = (struct gt_annotation){
			.type = GT_VALUE_TEXT,
			.name = gt_names_add(names, "basis"),
			.number = gt_names_add(names, "assumed"),
		};
	if (call)
		annotations[count++] = (struct gt_annotation){
			.type = GT_VALUE_TEXT,
			.name = gt_names_add(names, "call"),
			.number = gt_names_add(names, call),
		};
	if (other != GT_NONE)
		annotations[count++] = (struct gt_annotation){
			.type = GT_VALUE_NUMBER,
			.name = gt_names_add(names, "of_process"),
			.number = drawing->perfetto->trace->processes.rows[other].pid,
		};
	if (drawn->stretches > 1)
		annotations[count++] = (struct gt_annotation){
			.type = GT_VALUE_NUMBER,
			.name = gt_names_add(names, "stretches"),
			.number = (int64_t)drawn->stretches,
		};
	gt_lanes_put(lanes, &(struct gt_slice){
				    .start_ns = drawn->member.start_ns,
				    .end_ns = drawn->member.end_ns,
				    .name = gt_names_add(names, *name ? name : "kernel"),
				    .annotations = annotations,
				    .annotation_count = count,
			    });
}

static int by_begin(const void *a, const void *b)
{
	const struct drawn *left = a;
	const struct drawn *right = b;

	if (left->member.start_ns != right->member.start_ns)
		return left->member.start_ns < right->member.start_ns ? -1 : 1;
	return (left->member.end_ns > right->member.end_ns) -
	       (left->member.end_ns < right->member.end_ns);
}

static void find(struct drawing *drawing)
{
	struct gt_path_spans spans;

	gt_path_spans_init(&spans, &drawing->path, NULL);
	gt_array_each(const struct gt_path_span, span, &spans.list) {
		if (span->process >= drawing->perfetto->trace->processes.count)
			continue;
		drawing->first = drawing->list.count;
		drawing->process = span->process;
		drawing->least_ns = (span->window.end_ns - span->window.start_ns) / MOST_SLICES;
		drawing->call_ns = (span->window.end_ns - span->window.start_ns) / MOST_CALLS + 1;
		gt_path_walk(&drawing->path, span->end, gt_path_span_is_handed(span), span->window,
		             see, drawing);
	}
	gt_path_spans_release(&spans);
}

/* Where nothing ran on a GPU there is nothing to explain; files without calls are to be small. */
static bool has_work(const struct gt_trace *trace)
{
	return trace->kernels.count + trace->copies.count + trace->fills.count +
	               trace->graph_traces.count >
	       0;
}

void gt_perfetto_write_critical_path(struct gt_perfetto *perfetto)
{
	const struct gt_trace *trace = perfetto->trace;
	struct drawing drawing = {.perfetto = perfetto};
	struct gt_lanes *lanes;

	if (perfetto->ids.without_calls || !has_work(trace))
		return;
	lanes = gt_allocate(trace->processes.count * sizeof(*lanes));
	gt_path_init(&drawing.path, trace, true);
	find(&drawing);
	if (drawing.list.count > 1)
		qsort(drawing.list.rows, drawing.list.count, sizeof(*drawing.list.rows), by_begin);
	for (size_t i = 0; i < trace->processes.count; i++)
		gt_lanes_init(&lanes[i], perfetto, perfetto->ids.process_uuids[i], category,
		              "Critical path");
	gt_array_each(const struct drawn, drawn, &drawing.list)
		put(&drawing, &lanes[drawn->process], drawn);
	for (size_t i = 0; i < trace->processes.count; i++)
		gt_lanes_finish(&lanes[i]);
	gt_array_release(&drawing.list);
	gt_path_release(&drawing.path);
	gt_array_free(lanes);
}

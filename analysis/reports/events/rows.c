/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/events/rows.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "analysis/figures.h"
#include "analysis/result.h"
#include "base/array.h"
#include "model/names.h"
#include "model/naming/shape_names.h"
#include "model/ranges/owners.h"
#include "model/work/activity.h"
#include "model/work/timed.h"

/* Columns of every row, */
#define TIMES                                                                                      \
	{"start_time_ns", GT_UNIT_TIME, "When it began, since the recording began", GT_WORTH_KEY}, \
		{"duration_ns", GT_UNIT_NS,                                                        \
	         "How long it took; not known of what did not end and of profiled kernels",        \
	         GT_WORTH_KEY},                                                                    \
		{"what", GT_UNIT_TEXT,                                                             \
	         "kernel, copy, fill, graph (a launch of a CUDA graph that was recorded as a "     \
	         "whole), call or range",                                                          \
	         GT_WORTH_KEY},                                                                    \
	{                                                                                          \
		"name", GT_UNIT_TEXT,                                                              \
			"Kernel or function; direction of a copy; number of the executable "       \
			"graph; path of a range",                                                  \
			GT_WORTH_NAME                                                              \
	}

/* of work alone, */
#define WORK                                                                                       \
	{"device", GT_UNIT_TEXT, "GPU that it ran on", GT_WORTH_LITTLE},                           \
		{"stream", GT_UNIT_COUNT, "CUPTI's number of the stream that it ran on"},          \
		{"grid", GT_UNIT_TEXT, "Blocks of a kernel"},                                      \
		{"block", GT_UNIT_TEXT, "Threads of each block"},                                  \
		{"bytes", GT_UNIT_BYTES, "Size of a copy or fill"},                                \
	{                                                                                          \
		"host_memory", GT_UNIT_TEXT,                                                       \
			"Kind of the host's memory that a copy read or wrote; not known where "    \
			"there is none"                                                            \
	}

enum { CELLS_OF_WORK = 6 };

/* of calls alone, */
#define RESULT                                                                                     \
	{                                                                                          \
		"result", GT_UNIT_COUNT, "Result of a call: a cudaError_t or CUresult"             \
	}

/* of calls and ranges, */
#define THREAD                                                                                     \
	{                                                                                          \
		"thread", GT_UNIT_TEXT, "Thread that made the call or began the range"             \
	}

/* again of every row, */
#define ASKED                                                                                      \
	{"process", GT_UNIT_TEXT, "Process of that thread, or of the stream", GT_WORTH_LITTLE},    \
	{                                                                                          \
		"range", GT_UNIT_TEXT,                                                             \
			"Innermost NVTX range that the call was made in, or the work for",         \
			GT_WORTH_LESSER_NAME                                                       \
	}

/* and of work and calls. */
#define CORRELATION                                                                                \
	{                                                                                          \
		"correlation", GT_UNIT_COUNT,                                                      \
			"Number that a call and its work share in their process", GT_WORTH_LEAST   \
	}

static const struct gt_heading work_headings[] = {TIMES, WORK, ASKED, CORRELATION};
static const struct gt_heading call_headings[] = {TIMES, RESULT, THREAD, ASKED, CORRELATION};
static const struct gt_heading range_headings[] = {TIMES, THREAD, ASKED};
static const struct gt_heading all_headings[] = {TIMES, WORK, RESULT, THREAD, ASKED, CORRELATION};

/* By enum gt_events_of. */
static const struct table {
	const struct gt_heading *headings;
	size_t count;
} tables[] = {
	[GT_EVENTS_OF_GPUS] = {work_headings, GT_COUNT_OF(work_headings)},
	[GT_EVENTS_OF_CALLS] = {call_headings, GT_COUNT_OF(call_headings)},
	[GT_EVENTS_OF_RANGES] = {range_headings, GT_COUNT_OF(range_headings)},
	[GT_EVENTS_OF_GPUS | GT_EVENTS_OF_CALLS |
		GT_EVENTS_OF_RANGES] = {all_headings, GT_COUNT_OF(all_headings)},
};

static void texts_init(struct gt_event_texts *texts, size_t count)
{
	texts->count = count;
	texts->of_row = gt_allocate_zeroed(count, sizeof(*texts->of_row));
}

/* The text of the cell that was added last; NULL: that is not known. */
static const char *last_text(const struct gt_result *result)
{
	const struct gt_section *section = &result->sections.rows[result->sections.count - 1];
	const struct gt_cell *cell = &section->cells.rows[section->cells.count - 1];

	return cell->unknown ? NULL : cell->text;
}

typedef void adder(const struct gt_event_rows *rows, gt_id row);

static void add_once(const struct gt_event_rows *rows, struct gt_event_texts *texts, gt_id row,
                     adder *add)
{
	if (row < texts->count && texts->of_row[row]) {
		gt_result_add_text(rows->result, texts->of_row[row]);
		return;
	}
	add(rows, row);
	if (row < texts->count)
		texts->of_row[row] = last_text(rows->result);
}

static void add_device(const struct gt_event_rows *rows, gt_id row)
{
	gt_add_device(rows->result, rows->trace, row);
}

static void add_thread_name(const struct gt_event_rows *rows, gt_id row)
{
	gt_add_thread(rows->result, rows->trace, row);
}

static void add_process(const struct gt_event_rows *rows, gt_id row)
{
	gt_add_process(rows->result, rows->trace, row);
}

static void add_grid(const struct gt_event_rows *rows, gt_id row)
{
	const struct gt_launch_shape *shape = &rows->trace->launch_shapes.rows[row];

	gt_result_add_format(rows->result, "%ux%ux%u", shape->grid_x, shape->grid_y, shape->grid_z);
}

static void add_block(const struct gt_event_rows *rows, gt_id row)
{
	const struct gt_launch_shape *shape = &rows->trace->launch_shapes.rows[row];

	gt_result_add_format(rows->result, "%ux%ux%u", shape->block_x, shape->block_y,
	                     shape->block_z);
}

static void add_path(const struct gt_event_rows *rows, gt_id path)
{
	char text[GT_RANGE_PATH_BYTES];

	if (path == GT_NONE) {
		gt_result_add_unknown(rows->result);
		return;
	}
	gt_range_path_text(&rows->ranges, path, text);
	gt_result_add_copy(rows->result, text);
}

static void add_range(struct gt_event_rows *rows, gt_id range)
{
	add_once(rows, &rows->paths, gt_ranges_path(&rows->ranges, range), add_path);
}

static void add_stream(const struct gt_event_rows *rows, gt_id stream)
{
	const struct gt_trace *trace = rows->trace;
	const bool known = stream < trace->streams.count;

	gt_result_add_count_if(rows->result, known, known ? trace->streams.rows[stream].number : 0);
}

static void add_thread(struct gt_event_rows *rows, gt_id thread)
{
	add_once(rows, &rows->threads, thread, add_thread_name);
	add_once(rows, &rows->processes, gt_trace_thread_process(rows->trace, thread), add_process);
}

static void add_times(struct gt_event_rows *rows, gt_time start_ns, gt_time end_ns, gt_count flags)
{
	gt_add_moment(rows->result, rows->trace, start_ns);
	gt_result_add_count_if(rows->result, gt_timed(GT_TIMES_FIGURES, flags, start_ns, end_ns),
	                       end_ns - start_ns);
}

/* Cells of columns that only other sorts of rows fill, where the table has these columns. */
static void skip_cells(const struct gt_event_rows *rows, unsigned of, size_t cells)
{
	if (rows->of & of)
		gt_result_add_unknowns(rows->result, cells);
}

/* ---- work ---- */

/* Members that all sorts of work have, and those that some have. */
struct details {
	gt_count correlation;
	gt_count flags;
	gt_id shape;          /* of a kernel */
	gt_size size_bytes;   /* of a copy or fill */
	uint32_t host_memory; /* of a copy, enum gt_memory_kind; 0: none */
};

static struct details details_of(const struct gt_trace *trace, const struct gt_activity *activity)
{
	const gt_id row = activity->row;

	if (activity->type == GT_ACTIVITY_KERNEL) {
		const struct gt_kernel *kernel = &trace->kernels.rows[row];

		return (struct details){kernel->correlation, kernel->flags, kernel->shape, 0, 0};
	}
	if (activity->type == GT_ACTIVITY_COPY) {
		const struct gt_copy *copy = &trace->copies.rows[row];

		return (struct details){copy->correlation, copy->flags, GT_NONE, copy->size_bytes,
		                        gt_copy_host_memory(copy)};
	}
	if (activity->type == GT_ACTIVITY_FILL) {
		const struct gt_fill *fill = &trace->fills.rows[row];

		return (struct details){fill->correlation, fill->flags, GT_NONE, fill->size_bytes,
		                        0};
	}

	const struct gt_graph_trace *graph = &trace->graph_traces.rows[row];

	return (struct details){graph->correlation, graph->flags, GT_NONE, 0, 0};
}

static const char *word_of(enum gt_activity_type type)
{
	static const char *const words[GT_ACTIVITY_TYPES] = {
		[GT_ACTIVITY_KERNEL] = "kernel",
		[GT_ACTIVITY_COPY] = "copy",
		[GT_ACTIVITY_FILL] = "fill",
		[GT_ACTIVITY_GRAPH] = "graph",
	};

	return words[type];
}

static void add_name(const struct gt_event_rows *rows, const struct gt_activity *activity)
{
	const struct gt_trace *trace = rows->trace;
	struct gt_result *result = rows->result;

	switch (activity->type) {
	case GT_ACTIVITY_KERNEL:
		gt_result_add_text(result,
		                   gt_shape_name(trace, trace->kernels.rows[activity->row].shape));
		break;
	case GT_ACTIVITY_COPY:
		gt_result_add_text(result,
		                   gt_copy_kind_name(trace->copies.rows[activity->row].kind));
		break;
	case GT_ACTIVITY_FILL:
		gt_result_add_text(result, "fill");
		break;
	case GT_ACTIVITY_GRAPH:
		gt_result_add_format(result, "%u", trace->graph_traces.rows[activity->row].graph);
		break;
	}
}

static void add_shape(struct gt_event_rows *rows, gt_id shape)
{
	if (shape >= rows->trace->launch_shapes.count) {
		gt_result_add_unknowns(rows->result, 2);
		return;
	}
	add_once(rows, &rows->grids, shape, add_grid);
	add_once(rows, &rows->blocks, shape, add_block);
}

void gt_event_rows_add_work(struct gt_event_rows *rows, const struct gt_activity *activity)
{
	const struct gt_trace *trace = rows->trace;
	const struct details details = details_of(trace, activity);
	const bool has_bytes =
		activity->type == GT_ACTIVITY_COPY || activity->type == GT_ACTIVITY_FILL;
	const gt_id stream = gt_activity_stream(trace, activity);

	add_times(rows, activity->start_ns, activity->end_ns, details.flags);
	gt_result_add_text(rows->result, word_of(activity->type));
	add_name(rows, activity);
	add_once(rows, &rows->devices, activity->device, add_device);
	add_stream(rows, stream);
	add_shape(rows, details.shape);
	gt_add_bytes(rows->result, has_bytes ? (double)details.size_bytes : NAN);
	gt_add_host_memory(rows->result, details.host_memory);
	skip_cells(rows, GT_EVENTS_OF_CALLS, 2);
	add_once(rows, &rows->processes,
	         stream == GT_NONE ? gt_api_process(trace, activity->api_call)
	                           : gt_trace_stream_process(trace, stream),
	         add_process);
	add_range(rows, gt_owner_of(trace, activity->type, activity->row).range);
	gt_result_add_count(rows->result, details.correlation);
}

/* ---- calls and ranges ---- */

void gt_event_rows_add_call(struct gt_event_rows *rows, gt_id row)
{
	const struct gt_api_call *call = &rows->trace->api_calls.rows[row];
	const bool ended = !(call->flags & GT_UNFINISHED);

	add_times(rows, call->start_ns, call->end_ns, call->flags);
	gt_result_add_text(rows->result, "call");
	gt_add_string(rows->result, rows->trace, call->function);
	skip_cells(rows, GT_EVENTS_OF_GPUS, CELLS_OF_WORK);
	gt_result_add_count_if(rows->result, ended, call->result);
	add_thread(rows, call->thread);
	add_range(rows, gt_owner_of_call(rows->trace, row).range);
	gt_result_add_count(rows->result, call->correlation);
}

void gt_event_rows_add_range(struct gt_event_rows *rows, gt_id row)
{
	const struct gt_range *range = &rows->trace->ranges.rows[row];

	add_times(rows, range->start_ns, range->end_ns, range->flags);
	gt_result_add_text(rows->result, "range");
	add_range(rows, row);
	skip_cells(rows, GT_EVENTS_OF_GPUS, CELLS_OF_WORK);
	skip_cells(rows, GT_EVENTS_OF_CALLS, 1);
	add_thread(rows, range->thread);
	add_range(rows, rows->ranges.around[row]);
	skip_cells(rows, GT_EVENTS_OF_GPUS | GT_EVENTS_OF_CALLS, 1);
}

/* ---- the table ---- */

/* At most so many rows. */
static size_t count_rows(const struct gt_trace *trace, unsigned of)
{
	return (of & GT_EVENTS_OF_GPUS ? trace->kernels.count + trace->copies.count +
	                                         trace->fills.count + trace->graph_traces.count
	                               : 0) +
	       (of & GT_EVENTS_OF_CALLS ? trace->api_calls.count : 0) +
	       (of & GT_EVENTS_OF_RANGES ? trace->ranges.count : 0);
}

void gt_event_rows_init(struct gt_event_rows *rows, const struct gt_trace *trace, unsigned of,
                        struct gt_result *result)
{
	*rows = (struct gt_event_rows){.trace = trace, .of = of, .result = result};
	gt_result_begin(result, "events", tables[of].headings, tables[of].count);
	gt_result_order(result, "start_time_ns");
	gt_result_reserve(result, count_rows(trace, of));
	gt_ranges_init(&rows->ranges, trace);
	texts_init(&rows->devices, trace->devices.count);
	texts_init(&rows->grids, trace->launch_shapes.count);
	texts_init(&rows->blocks, trace->launch_shapes.count);
	texts_init(&rows->threads, trace->threads.count);
	texts_init(&rows->processes, trace->processes.count);
	texts_init(&rows->paths, rows->ranges.paths.count);
}

void gt_event_rows_release(struct gt_event_rows *rows)
{
	gt_array_free(rows->paths.of_row);
	gt_array_free(rows->processes.of_row);
	gt_array_free(rows->threads.of_row);
	gt_array_free(rows->blocks.of_row);
	gt_array_free(rows->grids.of_row);
	gt_array_free(rows->devices.of_row);
	gt_ranges_release(&rows->ranges);
}

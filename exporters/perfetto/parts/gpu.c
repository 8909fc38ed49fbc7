/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/perfetto/gpu.h"

#include <stdio.h>

#include "base/array.h"
#include "base/strings.h"
#include "exporters/perfetto/wire/wire.h"
#include "model/naming/functions.h"
#include "model/naming/operations.h"
#include "model/ranges/owners.h"

enum {
	CATEGORY_OTHER = 0,
	CATEGORY_COMPUTE = 2, /* only these are in the GPU Compute plugin */
	API_CUDA = 4,
	BATCH = 32, /* contexts or queues in one packet */
};

static void intern_stages(struct gt_gpu *gpu)
{
	static const struct {
		const char *name;
		uint32_t iid;
		uint32_t category;
	} stages[] = {
		{"Kernel", GT_STAGE_KERNEL, CATEGORY_COMPUTE},
		{"Copy", GT_STAGE_COPY, CATEGORY_OTHER},
		{"Fill", GT_STAGE_FILL, CATEGORY_OTHER},
		{"Graph", GT_STAGE_GRAPH, CATEGORY_OTHER},
		{"Range", GT_STAGE_RANGE, CATEGORY_OTHER},
	};
	enum { COUNT = sizeof(stages) / sizeof(stages[0]) };
	Perfetto__InternedGpuRenderStageSpecification rows[COUNT];
	Perfetto__InternedGpuRenderStageSpecification *list[COUNT];
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;

	for (size_t i = 0; i < COUNT; i++) {
		rows[i] = (Perfetto__InternedGpuRenderStageSpecification)
			PERFETTO__INTERNED_GPU_RENDER_STAGE_SPECIFICATION__INIT;
		rows[i].has_iid = rows[i].has_category = 1;
		rows[i].iid = stages[i].iid;
		rows[i].name = gt_borrow(stages[i].name);
		rows[i].category = stages[i].category;
		list[i] = &rows[i];
	}
	data.gpu_specifications = list;
	data.n_gpu_specifications = COUNT;
	gt_sequence_intern(&gpu->sequence, &data);
}

static void intern_contexts(struct gt_gpu *gpu)
{
	const struct gt_trace *trace = gpu->perfetto->trace;
	Perfetto__InternedGraphicsContext rows[BATCH];
	Perfetto__InternedGraphicsContext *list[BATCH];
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;

	data.graphics_contexts = list;
	for (size_t i = 0; i < trace->contexts.count; i++) {
		const gt_id process = trace->contexts.rows[i].process;
		const size_t at = data.n_graphics_contexts++;

		rows[at] = (Perfetto__InternedGraphicsContext)
			PERFETTO__INTERNED_GRAPHICS_CONTEXT__INIT;
		list[at] = &rows[at];
		rows[at].has_iid = rows[at].has_api = 1;
		rows[at].iid = gt_ids_context((gt_id)i);
		rows[at].api = API_CUDA;
		rows[at].has_pid = process < trace->processes.count;
		if (rows[at].has_pid)
			rows[at].pid = (int32_t)gpu->perfetto->ids.pids[process];
		if (data.n_graphics_contexts == BATCH || i + 1 == trace->contexts.count) {
			gt_sequence_intern(&gpu->sequence, &data);
			data.n_graphics_contexts = 0;
		}
	}
}

void gt_gpu_name_queue(const struct gt_perfetto *perfetto, gt_id row,
                       char name[GT_QUEUE_NAME_BYTES])
{
	const struct gt_trace *trace = perfetto->trace;
	const struct gt_stream *stream = &trace->streams.rows[row];
	char label[GT_LABEL_BYTES];
	char context_text[GT_LABEL_BYTES + 16] = "";
	char process_text[160] = "";

	if (stream->context < trace->contexts.count) {
		const struct gt_context *context = &trace->contexts.rows[stream->context];
		char context_label[GT_LABEL_BYTES];

		gt_context_label(trace, stream->context, context_label, sizeof(context_label));
		if (context->process < trace->processes.count &&
		    perfetto->ids.context_counts[context->process] > 1)
			snprintf(context_text, sizeof(context_text), "Context %s ", context_label);
		if (perfetto->ids.several_processes && context->process < trace->processes.count) {
			const struct gt_process *process = &trace->processes.rows[context->process];

			snprintf(process_text, sizeof(process_text), " (%.128s %u)",
			         gt_trace_text(trace, process->name), process->pid);
		}
	}
	gt_stream_label(trace, row, label, sizeof(label));
	snprintf(name, GT_QUEUE_NAME_BYTES, "%sStream %s%s", context_text, label, process_text);
}

static void intern_queues(struct gt_gpu *gpu)
{
	const struct gt_trace *trace = gpu->perfetto->trace;
	char texts[BATCH][GT_QUEUE_NAME_BYTES];
	Perfetto__InternedGpuRenderStageSpecification rows[BATCH];
	Perfetto__InternedGpuRenderStageSpecification *list[BATCH];
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;

	data.gpu_specifications = list;
	for (size_t i = 0; i < trace->streams.count; i++) {
		const size_t at = data.n_gpu_specifications++;

		rows[at] = (Perfetto__InternedGpuRenderStageSpecification)
			PERFETTO__INTERNED_GPU_RENDER_STAGE_SPECIFICATION__INIT;
		list[at] = &rows[at];
		gt_gpu_name_queue(gpu->perfetto, (gt_id)i, texts[at]);
		rows[at].has_iid = 1;
		rows[at].iid = GT_QUEUE_FIRST + i;
		rows[at].name = texts[at];
		if (data.n_gpu_specifications == BATCH || i + 1 == trace->streams.count) {
			gt_sequence_intern(&gpu->sequence, &data);
			data.n_gpu_specifications = 0;
		}
	}
}

uint64_t gt_gpu_title(struct gt_gpu *gpu, const char *title)
{
	const size_t known = gt_strings_count(gpu->titles);
	const uint32_t number = gt_strings_add(gpu->titles, title);
	Perfetto__InternedString text = gt_interned(gt_made_title_iid(number), title);
	Perfetto__InternedString *list[] = {&text};
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;

	data.event_names = list;
	data.n_event_names = 1;
	if (number >= known)
		gt_sequence_intern(&gpu->sequence, &data);
	return gt_made_title_iid(number);
}

void gt_gpu_describe(const struct gt_gpu *gpu, const struct gt_placed *placed,
                     Perfetto__GpuRenderStageEvent *event)
{
	const struct gt_stream *stream = &gpu->perfetto->trace->streams.rows[placed->stream];

	event->has_context = event->has_gpu_id = event->has_hw_queue_iid = 1;
	event->context = gt_ids_context(stream->context);
	event->gpu_id = (int32_t)gpu->perfetto->ids.gpus[placed->device];
	event->hw_queue_iid = GT_QUEUE_FIRST + placed->stream;
}

void gt_gpu_put(struct gt_gpu *gpu, const struct gt_placed *placed, size_t number,
                const uint8_t *message, size_t size)
{
	const struct gt_slices waits = gt_links_of(&gpu->waits, number);
	const size_t most = size + waits.count * 2 * (size_t)GT_VARINT_MAX;

	if (waits.count > 0) {
		uint8_t *at;

		if (gpu->message.capacity < most) {
			gpu->message.rows = gt_array_resize(gpu->message.rows, most, 1);
			gpu->message.capacity = most;
		}
		at = gt_put_bytes(gpu->message.rows, message, size);
		for (size_t i = 0; i < waits.count; i++)
			at = gt_put_varint(gt_put_varint(at, gpu->wait_tag),
			                   gt_ids_event(waits.numbers[i]));
		message = gpu->message.rows;
		size = (size_t)(at - message);
		gpu->perfetto->counts.arrows += waits.count;
	}
	gt_sequence_put(&gpu->sequence, placed->start_ns, gpu->event_tag, message, size);
	gpu->perfetto->counts.gpu_slices++;
}

static void intern_path(struct gt_gpu *gpu, gt_id path)
{
	char text[GT_RANGE_PATH_BYTES];
	Perfetto__InternedString string;
	Perfetto__InternedString *list[] = {&string};
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;

	if (gpu->known_paths[path])
		return;
	gpu->known_paths[path] = true;
	gt_range_path_text(&gpu->ranges, path, text);
	gt_operations_strip(text);
	string = gt_interned((uint64_t)path + 1, text);
	data.debug_annotation_string_values = list;
	data.n_debug_annotation_string_values = 1;
	gt_sequence_intern(&gpu->sequence, &data);
}

void gt_gpu_add_path(struct gt_gpu *gpu, struct gt_args *args, enum gt_arg name, gt_id range)
{
	const gt_id path = gt_ranges_path(&gpu->ranges, range);

	if (path == GT_NONE)
		return;
	intern_path(gpu, path);
	gt_args_add_known(args, name, (uint64_t)path + 1);
}

void gt_gpu_add_ranges(struct gt_gpu *gpu, enum gt_activity_type type, gt_id row,
                       struct gt_args *args)
{
	struct gt_owners owners;

	if (gpu->ranges.paths.count == 0)
		return;
	owners = gt_owners_of(gpu->perfetto->trace, type, row);
	gt_gpu_add_path(gpu, args, GT_ARG_RANGE, owners.launched.range);
	gt_gpu_add_path(gpu, args, GT_ARG_CAPTURED_IN, owners.captured.range);
}

static void put_slice(struct gt_gpu *gpu, struct gt_kernels *kernels, enum gt_placed_table table,
                      size_t row)
{
	const struct gt_trace *trace = gpu->perfetto->trace;
	const size_t number = gt_ids_slice(&gpu->perfetto->ids, table, row);
	const struct gt_placed placed = gt_ids_place(&gpu->perfetto->ids, number);

	if (!placed.placed) {
		gt_perfetto_skip(gpu->perfetto);
		return;
	}
	switch (table) {
	case GT_PLACED_kernels:
		gt_kernels_put(kernels, &placed, number, (gt_id)row);
		break;
	case GT_PLACED_copies:
		gt_gpu_put_copy(gpu, &placed, number, &trace->copies.rows[row]);
		break;
	case GT_PLACED_fills:
		gt_gpu_put_fill(gpu, &placed, number, &trace->fills.rows[row]);
		break;
	case GT_PLACED_graph_traces:
		gt_gpu_put_graph(gpu, &placed, number, &trace->graph_traces.rows[row]);
		break;
	case GT_PLACED_TABLES:
		break;
	}
}

static size_t rows_of(const struct gt_ids *ids, enum gt_placed_table table)
{
	return ids->first_slices[table + 1] - ids->first_slices[table];
}

static gt_time start_of(const struct gt_trace *trace, enum gt_placed_table table, size_t row)
{
	switch (table) {
#define PLACED(name, plural)                                                                       \
	case GT_PLACED_##plural:                                                                   \
		return trace->plural.rows[row].start_ns;
#include "exporters/timeline/placed.def"
	case GT_PLACED_TABLES:
		break;
	}
	return INT64_MAX;
}

/* All tables in one order of time. */
static void put_slices(struct gt_gpu *gpu, struct gt_kernels *kernels)
{
	const struct gt_ids *ids = &gpu->perfetto->ids;
	size_t next[GT_PLACED_TABLES] = {0};

	for (;;) {
		enum gt_placed_table first = GT_PLACED_TABLES;
		gt_time first_ns = INT64_MAX;

		for (enum gt_placed_table i = 0; i < GT_PLACED_TABLES; i++) {
			const bool left = next[i] < rows_of(ids, i);
			const gt_time start_ns =
				left ? start_of(ids->trace, i, next[i]) : INT64_MAX;

			if (left && (first == GT_PLACED_TABLES || start_ns < first_ns)) {
				first = i;
				first_ns = start_ns;
			}
		}
		if (first == GT_PLACED_TABLES)
			return;
		put_slice(gpu, kernels, first, next[first]++);
	}
}

static void find_first_launches(struct gt_gpu *gpu)
{
	struct gt_functions functions;

	gt_functions_init(&functions, gpu->perfetto->trace);
	gt_first_launches_init(&gpu->first, gpu->perfetto->trace, &functions);
	gt_functions_release(&functions);
}

void gt_perfetto_write_gpu(struct gt_perfetto *perfetto)
{
	struct gt_gpu gpu = {
		.perfetto = perfetto,
		.event_tag =
			gt_wire_tag(&perfetto__trace_packet__descriptor, "gpu_render_stage_event"),
		.wait_tag = gt_wire_tag(&perfetto__gpu_render_stage_event__descriptor,
	                                "event_wait_ids"),
	};
	struct gt_kernels *kernels;

	if (gt_ids_slice_count(&perfetto->ids) == 0)
		return;
	gpu.titles = gt_strings_new();
	find_first_launches(&gpu);
	gt_traffic_init(&gpu.traffic, perfetto->view);
	gt_ranges_init(&gpu.ranges, perfetto->trace);
	gpu.known_paths = gt_allocate_zeroed(gpu.ranges.paths.count + 1, sizeof(*gpu.known_paths));
	gt_links_stream_waits(&gpu.waits, &perfetto->ids);
	gt_perfetto_start(perfetto, &gpu.sequence, 0);
	gt_args_intern_names(&gpu.sequence);
	intern_stages(&gpu);
	intern_contexts(&gpu);
	intern_queues(&gpu);
	kernels = gt_kernels_new(&gpu);
	put_slices(&gpu, kernels);
	gt_kernels_free(kernels);
	if (perfetto->trace->ranges.count > 0)
		gt_gpu_put_stream_ranges(&gpu);
	gt_strings_free(gpu.titles);
	gt_first_launches_release(&gpu.first);
	gt_traffic_release(&gpu.traffic);
	gt_ranges_release(&gpu.ranges);
	gt_array_free(gpu.known_paths);
	gt_links_release(&gpu.waits);
	gt_array_release(&gpu.message);
}

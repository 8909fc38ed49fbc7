/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/perfetto/gpu.h"

#include <stdio.h>

#include "base/array.h"
#include "exporters/perfetto/args.h"
#include "exporters/perfetto/wire.h"
#include "model/names.h"

enum {
	CATEGORY_OTHER = 0,
	CATEGORY_COMPUTE = 2, /* only these are in the GPU Compute plugin */
	API_CUDA = 4,
	NAME_SIZE = 256,
	BATCH = 32, /* contexts or queues in one packet */
};

static void intern_stages(struct gt_gpu *gpu)
{
	static const struct {
		uint32_t iid;
		const char *name;
		uint32_t category;
	} stages[] = {
		{GT_STAGE_KERNEL, "Kernel", CATEGORY_COMPUTE},
		{GT_STAGE_COPY, "Copy", CATEGORY_OTHER},
		{GT_STAGE_FILL, "Fill", CATEGORY_OTHER},
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

static void intern_transfer_names(struct gt_gpu *gpu)
{
	char texts[GT_COPY_KINDS][32];
	Perfetto__InternedString rows[GT_COPY_KINDS + 1];
	Perfetto__InternedString *list[GT_COPY_KINDS + 1];
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;

	for (uint32_t i = 0; i < GT_COPY_KINDS; i++) {
		snprintf(texts[i], sizeof(texts[i]), "Memcpy %s", gt_copy_kind_name(i));
		rows[i] = gt_interned(GT_NAME_COPY + i, texts[i]);
		list[i] = &rows[i];
	}
	rows[GT_COPY_KINDS] = gt_interned(GT_NAME_FILL, "Memset");
	list[GT_COPY_KINDS] = &rows[GT_COPY_KINDS];
	data.event_names = list;
	data.n_event_names = GT_COPY_KINDS + 1;
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

static bool has_several_contexts(const struct gt_trace *trace, gt_id process)
{
	size_t count = 0;

	gt_array_each(const struct gt_context, context, &trace->contexts)
		count += context->process == process;
	return count > 1;
}

/* As short as it can be told apart: "Stream 7", "Context 2 Stream 7 (trainer 4242)". */
static void name_queue(const struct gt_perfetto *perfetto, const struct gt_stream *stream,
                       char *name, size_t size)
{
	const struct gt_trace *trace = perfetto->trace;
	char context_text[32] = "";
	char process_text[160] = "";

	if (stream->context < trace->contexts.count) {
		const struct gt_context *context = &trace->contexts.rows[stream->context];

		if (has_several_contexts(trace, context->process))
			snprintf(context_text, sizeof(context_text), "Context %u ",
			         context->number);
		if (perfetto->ids.several_processes && context->process < trace->processes.count) {
			const struct gt_process *process = &trace->processes.rows[context->process];

			snprintf(process_text, sizeof(process_text), " (%.128s %u)",
			         gt_trace_text(trace, process->name), process->pid);
		}
	}
	snprintf(name, size, "%sStream %u%s", context_text, stream->number, process_text);
}

static void intern_queues(struct gt_gpu *gpu)
{
	const struct gt_trace *trace = gpu->perfetto->trace;
	char texts[BATCH][NAME_SIZE];
	Perfetto__InternedGpuRenderStageSpecification rows[BATCH];
	Perfetto__InternedGpuRenderStageSpecification *list[BATCH];
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;

	data.gpu_specifications = list;
	for (size_t i = 0; i < trace->streams.count; i++) {
		const size_t at = data.n_gpu_specifications++;

		rows[at] = (Perfetto__InternedGpuRenderStageSpecification)
			PERFETTO__INTERNED_GPU_RENDER_STAGE_SPECIFICATION__INIT;
		list[at] = &rows[at];
		name_queue(gpu->perfetto, &trace->streams.rows[i], texts[at], NAME_SIZE);
		rows[at].has_iid = 1;
		rows[at].iid = GT_QUEUE_FIRST + i;
		rows[at].name = texts[at];
		if (data.n_gpu_specifications == BATCH || i + 1 == trace->streams.count) {
			gt_sequence_intern(&gpu->sequence, &data);
			data.n_gpu_specifications = 0;
		}
	}
}

void gt_gpu_describe(const struct gt_gpu *gpu, const struct gt_activity *activity,
                     Perfetto__GpuRenderStageEvent *event)
{
	const struct gt_stream *stream = &gpu->perfetto->trace->streams.rows[activity->stream];

	event->has_context = event->has_gpu_id = event->has_hw_queue_iid = 1;
	event->context = gt_ids_context(stream->context);
	event->gpu_id = (int32_t)gpu->perfetto->ids.gpus[activity->device];
	event->hw_queue_iid = GT_QUEUE_FIRST + activity->stream;
}

static void put_activity(struct gt_gpu *gpu, struct gt_kernels *kernels,
                         enum gt_activity_table table, size_t row)
{
	const struct gt_trace *trace = gpu->perfetto->trace;
	const struct gt_ids *ids = &gpu->perfetto->ids;
	const size_t number = gt_ids_activity(ids, table, row);
	const struct gt_activity activity = gt_ids_activity_at(ids, number);

	if (!activity.placed) {
		gt_perfetto_skip(gpu->perfetto);
		return;
	}
	switch (table) {
	case GT_KERNELS:
		gt_kernels_put(kernels, &activity, number, &trace->kernels.rows[row]);
		break;
	case GT_COPIES:
		gt_gpu_put_copy(gpu, &activity, number, &trace->copies.rows[row]);
		break;
	case GT_FILLS:
		gt_gpu_put_fill(gpu, &activity, number, &trace->fills.rows[row]);
		break;
	}
	gpu->perfetto->counts.gpu_slices++;
}

/* All three tables in one order of time. */
static void put_activities(struct gt_gpu *gpu, struct gt_kernels *kernels)
{
	const struct gt_trace *trace = gpu->perfetto->trace;
	size_t kernel = 0;
	size_t copy = 0;
	size_t fill = 0;

	for (;;) {
		const gt_time kernel_ns = kernel < trace->kernels.count
		                                  ? trace->kernels.rows[kernel].start_ns
		                                  : INT64_MAX;
		const gt_time copy_ns =
			copy < trace->copies.count ? trace->copies.rows[copy].start_ns : INT64_MAX;
		const gt_time fill_ns =
			fill < trace->fills.count ? trace->fills.rows[fill].start_ns : INT64_MAX;

		if (kernel < trace->kernels.count && kernel_ns <= copy_ns && kernel_ns <= fill_ns)
			put_activity(gpu, kernels, GT_KERNELS, kernel++);
		else if (copy < trace->copies.count && copy_ns <= fill_ns)
			put_activity(gpu, kernels, GT_COPIES, copy++);
		else if (fill < trace->fills.count)
			put_activity(gpu, kernels, GT_FILLS, fill++);
		else
			break;
	}
}

void gt_perfetto_write_gpu(struct gt_perfetto *perfetto)
{
	struct gt_gpu gpu = {.perfetto = perfetto};
	struct gt_kernels *kernels;

	if (gt_ids_activity_count(&perfetto->ids) == 0)
		return;
	gpu.event_tag = gt_wire_tag(&perfetto__trace_packet__descriptor, "gpu_render_stage_event");
	gt_perfetto_start(perfetto, &gpu.sequence, 0);
	gt_args_intern_names(&gpu.sequence);
	intern_stages(&gpu);
	intern_transfer_names(&gpu);
	intern_contexts(&gpu);
	intern_queues(&gpu);
	kernels = gt_kernels_new(&gpu);
	put_activities(&gpu, kernels);
	gt_kernels_free(kernels);
}

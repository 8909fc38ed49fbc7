/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>

#include "base/array.h"
#include "base/strings.h"
#include "exporters/perfetto/gpu.h"
#include "exporters/perfetto/nodes.h"
#include "exporters/perfetto/wire/args.h"
#include "model/names.h"
#include "model/naming/labels.h"

enum { PLACE_SIZE = 96, TITLE_SIZE = 96, SIZE_SIZE = 32, MESSAGE_MAX = 1024 };

double gt_three_digits(double value)
{
	const double scale = value > 0 ? pow(10, 2 - floor(log10(value))) : 1;

	return round(value * scale) / scale;
}

/* Bytes per nanosecond are GB/s. */
static double rate(uint64_t bytes, gt_time start_ns, gt_time end_ns)
{
	return end_ns > start_ns ? gt_three_digits((double)bytes / (double)(end_ns - start_ns))
	                         : NAN;
}

/* "512 B", "4.0 MiB", "97.7 KiB", as memory is counted. */
static void size_text(uint64_t bytes, char *text, size_t size)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double value = (double)bytes;
	size_t unit = 0;

	while (value >= 1023.95) {
		value /= 1024;
		unit++;
	}
	snprintf(text, size, "%.*f %s", unit > 0, value, units[unit]);
}

/*
 * "HtoD pinned 4.0 MiB". Viewers cut titles from the right: they begin with what tells them apart.
 * They also colour by the title without its figures: each direction has colours of its own.
 */
static void title_of(const struct gt_copy *copy, char *title, size_t size)
{
	const uint32_t memory = gt_copy_host_memory(copy);
	char bytes[SIZE_SIZE];

	size_text(copy->size_bytes, bytes, sizeof(bytes));
	snprintf(title, size, "%s %s%s%s", gt_copy_kind_name(gt_copy_kind_known(copy->kind)),
	         memory ? gt_memory_kind_name(memory) : "", memory ? " " : "", bytes);
}

/* "pinned", or "device #3" for a copy between GPUs. */
static const char *place_name(const struct gt_perfetto *perfetto, uint32_t kind, gt_id device,
                              char *text, size_t size)
{
	if (device >= perfetto->trace->devices.count)
		return gt_memory_kind_name(kind);
	snprintf(text, size, "%s #%u", gt_memory_kind_name(kind), perfetto->ids.gpus[device]);
	return text;
}

static void add_place_args(const struct gt_gpu *gpu, const struct gt_placed *placed,
                           struct gt_args *args)
{
	const struct gt_trace *trace = gpu->perfetto->trace;
	const struct gt_process *process = &trace->processes.rows[placed->process];

	gt_args_add_text(args, GT_ARG_PROCESS_NAME, gt_trace_text(trace, process->name));
	gt_args_add_int(args, GT_ARG_PROCESS_ID, process->pid);
	gt_args_add_int(args, GT_ARG_DEVICE, trace->devices.rows[placed->device].ordinal);
	gt_args_add_int(args, GT_ARG_STREAM, trace->streams.rows[placed->stream].number);
}

/* A slice of this name and stage. The arguments get those that say where it ran. */
static void put(struct gt_gpu *gpu, const struct gt_placed *placed, size_t number,
                uint64_t stage_iid, uint64_t name_iid, struct gt_args *args)
{
	Perfetto__ComputeKernelLaunch launch = PERFETTO__COMPUTE_KERNEL_LAUNCH__INIT;
	Perfetto__GpuRenderStageEvent event = PERFETTO__GPU_RENDER_STAGE_EVENT__INIT;
	uint8_t small[MESSAGE_MAX];
	uint8_t *message = small;
	size_t size;

	add_place_args(gpu, placed, args);
	launch.args = args->list;
	launch.n_args = args->count;
	gt_gpu_describe(gpu, placed, &event);
	event.has_event_id = event.has_duration = event.has_stage_iid = event.has_name_iid = 1;
	event.event_id = gt_ids_event(number);
	event.duration = (uint64_t)(placed->end_ns - placed->start_ns);
	event.stage_iid = stage_iid;
	event.name_iid = name_iid;
	event.launch = &launch;
	size = perfetto__gpu_render_stage_event__get_packed_size(&event);
	if (size > sizeof(small))
		message = gt_allocate(size);
	perfetto__gpu_render_stage_event__pack(&event, message);
	gt_gpu_put(gpu, placed, number, message, size);
	if (message != small)
		gt_array_free(message);
}

void gt_gpu_put_copy(struct gt_gpu *gpu, const struct gt_placed *placed, size_t number,
                     const struct gt_copy *copy)
{
	struct gt_args args;
	char title[TITLE_SIZE];
	char src[PLACE_SIZE];
	char dst[PLACE_SIZE];
	char made_by[GT_MADE_BY_SIZE];

	gt_args_init(&args);
	gt_args_add_int(&args, GT_ARG_BYTES, (int64_t)copy->size_bytes);
	gt_args_add_text(&args, GT_ARG_KIND, gt_copy_kind_name(copy->kind));
	gt_args_add_text(&args, GT_ARG_SRC,
	                 place_name(gpu->perfetto, copy->src_kind, copy->src_device, src,
	                            sizeof(src)));
	gt_args_add_text(&args, GT_ARG_DST,
	                 place_name(gpu->perfetto, copy->dst_kind, copy->dst_device, dst,
	                            sizeof(dst)));
	gt_args_add_real(&args, GT_ARG_RATE, rate(copy->size_bytes, copy->start_ns, copy->end_ns));
	gt_nodes_add_args(&args, gpu->perfetto->trace,
	                  (struct gt_node_of){copy->graph, copy->graph_node, copy->node}, made_by);
	gt_gpu_add_ranges(gpu, GT_ACTIVITY_COPY, (gt_id)(copy - gpu->perfetto->trace->copies.rows),
	                  &args);
	title_of(copy, title, sizeof(title));
	put(gpu, placed, number, GT_STAGE_COPY, gt_gpu_title(gpu, title), &args);
}

void gt_gpu_put_fill(struct gt_gpu *gpu, const struct gt_placed *placed, size_t number,
                     const struct gt_fill *fill)
{
	struct gt_args args;
	char bytes[SIZE_SIZE];
	char title[TITLE_SIZE];
	char made_by[GT_MADE_BY_SIZE];

	size_text(fill->size_bytes, bytes, sizeof(bytes));
	snprintf(title, sizeof(title), "Memset %s", bytes);
	gt_args_init(&args);
	gt_args_add_int(&args, GT_ARG_BYTES, (int64_t)fill->size_bytes);
	gt_args_add_text(&args, GT_ARG_KIND, "fill");
	gt_args_add_text(&args, GT_ARG_DST, gt_memory_kind_name(fill->memory_kind));
	gt_args_add_int(&args, GT_ARG_VALUE, fill->value);
	gt_args_add_real(&args, GT_ARG_RATE, rate(fill->size_bytes, fill->start_ns, fill->end_ns));
	gt_nodes_add_args(&args, gpu->perfetto->trace,
	                  (struct gt_node_of){fill->graph, fill->graph_node, fill->node}, made_by);
	gt_gpu_add_ranges(gpu, GT_ACTIVITY_FILL, (gt_id)(fill - gpu->perfetto->trace->fills.rows),
	                  &args);
	put(gpu, placed, number, GT_STAGE_FILL, gt_gpu_title(gpu, title), &args);
}

/* "graph 3": one slice from the start of its first node to the end of its last. */
void gt_gpu_put_graph(struct gt_gpu *gpu, const struct gt_placed *placed, size_t number,
                      const struct gt_graph_trace *whole)
{
	struct gt_args args;
	char title[TITLE_SIZE];

	gt_graph_exec_label(gpu->perfetto->trace, whole->exec, title, sizeof(title));
	gt_args_init(&args);
	gt_args_add_text(&args, GT_ARG_KIND, "graph");
	if (whole->graph)
		gt_args_add_int(&args, GT_ARG_GRAPH, whole->graph);
	gt_gpu_add_ranges(gpu, GT_ACTIVITY_GRAPH,
	                  (gt_id)(whole - gpu->perfetto->trace->graph_traces.rows), &args);
	put(gpu, placed, number, GT_STAGE_GRAPH, gt_gpu_title(gpu, title), &args);
}

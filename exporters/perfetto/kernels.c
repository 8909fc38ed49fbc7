/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text_room.h"
#include "exporters/perfetto/gpu.h"
#include "exporters/perfetto/nodes.h"
#include "exporters/perfetto/wire/args.h"
#include "exporters/perfetto/wire/texts.h"
#include "exporters/perfetto/wire/wire.h"
#include "model/gpu/module_index.h"
#include "model/gpu/occupancy.h"
#include "model/naming/kernel_names.h"
#include "model/naming/shape_names.h"

enum {
	/*
	 * Longest packed form of six 64-bit fields, of six 32-bit ones in two messages, and of two
	 * arguments: each a message of an interned name and a number.
	 */
	EVENT_MAX = 6 * (2 + GT_VARINT_MAX),
	LAUNCH_MAX = 2 * (2 + 3 * (1 + 5)),
	/*
	 * The node of a graph; whether it is the first, five of its traffic, and the ranges: a name
	 * and a value each.
	 */
	OWN_MAX = GT_NODE_ARGS_MAX + (1 + 5 + GT_RANGE_ARGS) * (2 + 2 * (1 + GT_VARINT_MAX)),
};

/*
 * A launch shape on one stream, profiled or not: what its kernels have in common is interned, and
 * what stays the same in their packets is packed once.
 */
struct launch {
	gt_id shape;
	gt_id stream;
	bool profiled;
	uint32_t event_size;
	uint32_t launch_size;
	uint8_t event[EVENT_MAX]; /* fields of the event but id, duration and the launch message */
	uint8_t launch[LAUNCH_MAX]; /* content of the launch message: grid and block */
};

struct gt_kernels {
	struct gt_gpu *gpu;
	gt_array(struct launch) launches; /* row + 1 is the interned number */
	uint32_t *slots;                  /* launches by a hash of what they are; GT_NONE: free */
	size_t slot_mask;
	struct gt_texts names;
	struct gt_text_room room; /* for names of kernels, which each launch has anew */
	struct gt_module_index modules;
	uint32_t id_tag;
	uint32_t duration_tag;
	uint32_t launch_tag;
};

/* The slot that holds the launch, or the free one for it. */
static uint32_t *slot_of(const struct gt_kernels *kernels, gt_id shape, gt_id stream, bool profiled)
{
	const uint64_t key = ((uint64_t)shape << 32 | stream) + profiled;
	size_t at = (size_t)(key * 0x9e3779b97f4a7c15u >> 32); /* Fibonacci hashing */

	for (;; at++) {
		uint32_t *slot = &kernels->slots[at & kernels->slot_mask];
		const struct launch *launch =
			*slot == GT_NONE ? NULL : &kernels->launches.rows[*slot];

		if (!launch || (launch->shape == shape && launch->stream == stream &&
		                launch->profiled == profiled))
			return slot;
	}
}

/* count: a power of two, larger than the number of launches. */
static void make_slots(struct gt_kernels *kernels, size_t count)
{
	gt_array_free(kernels->slots);
	kernels->slots = gt_allocate(count * sizeof(*kernels->slots));
	kernels->slot_mask = count - 1;
	memset(kernels->slots, 0xff, count * sizeof(*kernels->slots));
	for (size_t i = 0; i < kernels->launches.count; i++) {
		const struct launch *launch = &kernels->launches.rows[i];

		*slot_of(kernels, launch->shape, launch->stream, launch->profiled) = (uint32_t)i;
	}
}

struct gt_kernels *gt_kernels_new(struct gt_gpu *gpu)
{
	const ProtobufCMessageDescriptor *event = &perfetto__gpu_render_stage_event__descriptor;
	struct gt_kernels *kernels = gt_allocate(sizeof(*kernels));

	*kernels = (struct gt_kernels){
		.gpu = gpu,
		.room = {.left = GT_TEXT_ROOM_OF_FILE},
		.id_tag = gt_wire_tag(event, "event_id"),
		.duration_tag = gt_wire_tag(event, "duration"),
		.launch_tag = gt_wire_tag(event, "launch"),
	};
	make_slots(kernels, 64);
	gt_texts_init(&kernels->names, gpu->perfetto->trace);
	gt_module_index_init(&kernels->modules, gpu->perfetto->trace);
	return kernels;
}

void gt_kernels_free(struct gt_kernels *kernels)
{
	if (!kernels)
		return;
	gt_array_release(&kernels->launches);
	gt_array_free(kernels->slots);
	gt_texts_release(&kernels->names);
	gt_module_index_release(&kernels->modules);
	gt_array_free(kernels);
}

/* CUfunc_cache, in the words of Nsight Compute. */
static const char *cache_config_name(uint32_t config)
{
	static const char *const names[] = {"CachePreferNone", "CachePreferShared", "CachePreferL1",
	                                    "CachePreferEqual"};

	return config < sizeof(names) / sizeof(names[0]) ? names[config] : "unknown";
}

/* The product of a damaged shape may not fit; as unsigned numbers it wraps around. */
static int64_t product(uint32_t x, uint32_t y, uint32_t z)
{
	return (int64_t)((uint64_t)x * y * z);
}

static void add_size_args(struct gt_args *args, const struct gt_launch_shape *shape)
{
	const int64_t grid = product(shape->grid_x, shape->grid_y, shape->grid_z);
	const int64_t block = product(shape->block_x, shape->block_y, shape->block_z);

	gt_args_add_int(args, GT_ARG_WORKGROUP_SIZE, block);
	gt_args_add_int(args, GT_ARG_GRID_SIZE, grid);
	gt_args_add_int(args, GT_ARG_THREAD_COUNT, (int64_t)((uint64_t)grid * (uint64_t)block));
	gt_args_add_int(args, GT_ARG_REGISTERS, shape->registers);
	gt_args_add_int(args, GT_ARG_SHARED_STATIC, (int64_t)shape->shared_static_bytes);
	gt_args_add_int(args, GT_ARG_SHARED_DYNAMIC, (int64_t)shape->shared_dynamic_bytes);
	if (shape->shared_executed_bytes)
		gt_args_add_int(args, GT_ARG_SHARED_CONFIGURED,
		                (int64_t)shape->shared_executed_bytes);
	if (shape->barriers)
		gt_args_add_int(args, GT_ARG_BARRIERS, shape->barriers);
	gt_args_add_text(args, GT_ARG_CACHE_CONFIG, cache_config_name(shape->cache_config));
	if (shape->cluster_x) {
		gt_args_add_int(args, GT_ARG_CLUSTER_X, shape->cluster_x);
		gt_args_add_int(args, GT_ARG_CLUSTER_Y, shape->cluster_y);
		gt_args_add_int(args, GT_ARG_CLUSTER_Z, shape->cluster_z);
	}
}

/* Kernels of a family have one colour; those of none have it by their name. */
static const char *colour_of(const struct gt_trace *trace, const struct gt_launch_shape *shape)
{
	return shape->family == GT_FAMILY_other ? gt_shape_text(trace, shape, GT_NAMES_SHORT)
	                                        : gt_family_name(shape->family);
}

/* Purpose of the kernel, as its name tells. */
static void add_family_args(struct gt_args *args, const struct gt_trace *trace,
                            const struct gt_launch_shape *shape)
{
	gt_args_add_text(args, GT_ARG_FAMILY, gt_family_name(shape->family));
	gt_args_add_text(args, GT_ARG_COLOUR, colour_of(trace, shape));
}

static void add_origin_args(struct gt_args *args, const struct gt_trace *trace,
                            const struct gt_launch_shape *shape)
{
	const char *tile = gt_trace_text(trace, shape->tile);

	if (shape->origin != GT_ORIGIN_unknown)
		gt_args_add_text(args, GT_ARG_ORIGIN, gt_origin_name(shape->origin));
	if (*tile)
		gt_args_add_text(args, GT_ARG_TILE, tile);
}

/* First the share that fits, and the limit: viewers show the arguments in this order. */
static void add_occupancy_args(struct gt_args *args, const struct gt_trace *trace,
                               const struct gt_placed *placed, const struct gt_launch_shape *shape)
{
	struct gt_device device = trace->devices.rows[placed->device];
	const gt_count all = device.sm_count;
	struct gt_occupancy occupancy;

	device.sm_count = gt_multiprocessors_of(trace, placed->stream, placed->device);
	occupancy = gt_occupancy_of(&device, shape);
	if (device.sm_count != all)
		gt_args_add_int(args, GT_ARG_MULTIPROCESSORS, device.sm_count);
	gt_args_add_real(args, GT_ARG_OCCUPANCY_PERCENT, occupancy.percent);
	if (occupancy.limit != GT_LIMIT_UNKNOWN)
		gt_args_add_text(args, GT_ARG_LIMITED_BY, gt_occupancy_limit_name(occupancy.limit));
	gt_args_add_real(args, GT_ARG_WAVES, gt_three_digits(occupancy.waves_per_sm));
	gt_args_add_real(args, GT_ARG_LAST_WAVE_EMPTY,
	                 gt_three_digits(gt_last_wave_empty_percent(occupancy.waves_per_sm)));
	if (occupancy.limit == GT_LIMIT_UNKNOWN)
		return;
	gt_args_add_int(args, GT_ARG_LIMIT_BLOCKS, occupancy.blocks_by_blocks);
	gt_args_add_int(args, GT_ARG_LIMIT_REGISTERS, occupancy.blocks_by_registers);
	gt_args_add_int(args, GT_ARG_LIMIT_SHARED, occupancy.blocks_by_shared_memory);
	gt_args_add_int(args, GT_ARG_LIMIT_WARPS, occupancy.blocks_by_warps);
	if (shape->barriers)
		gt_args_add_int(args, GT_ARG_LIMIT_BARRIERS, occupancy.blocks_by_barriers);
	gt_args_add_int(args, GT_ARG_OCCUPANCY_WARPS, occupancy.warps_per_sm);
}

/* "/src/model.py:42", where a module that the recording keeps tells; "" otherwise. */
static void write_source(const struct gt_kernels *kernels, const struct gt_placed *placed,
                         const struct gt_launch_shape *shape, char *text, size_t size)
{
	const struct gt_trace *trace = kernels->gpu->perfetto->trace;
	const gt_id row = gt_module_index_source(
		&kernels->modules, trace->streams.rows[placed->stream].context, shape->name);

	*text = '\0';
	if (row != GT_NONE)
		snprintf(text, size, "%s:%u",
		         gt_trace_text(trace, trace->functions.rows[row].source_file),
		         trace->functions.rows[row].source_line);
}

/*
 * Tells the sequence about a launch, which has this number, and its name with the number new_name
 * unless that is 0.
 */
static void intern(struct gt_kernels *kernels, const struct gt_placed *placed,
                   const struct launch *launch, uint64_t iid, uint64_t new_name)
{
	const struct gt_trace *trace = kernels->gpu->perfetto->trace;
	const struct gt_launch_shape *shape = &trace->launch_shapes.rows[launch->shape];
	const struct gt_device *device = &trace->devices.rows[placed->device];
	const struct gt_process *process = &trace->processes.rows[placed->process];
	const char *mangled = gt_trace_text(trace, shape->name);
	const char *demangled = gt_name_or(gt_trace_text(trace, shape->demangled), mangled);
	const char *title = gt_shape_text(trace, shape, trace->names);
	Perfetto__InternedString text = gt_interned(new_name, gt_name_or(title, "(no name)"));
	Perfetto__InternedString *texts[] = {&text};
	Perfetto__InternedComputeKernel kernel = PERFETTO__INTERNED_COMPUTE_KERNEL__INIT;
	Perfetto__InternedComputeKernel *list[] = {&kernel};
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	struct gt_args args;
	char cut[2][GT_TEXT_SHORT + sizeof(GT_TEXT_CUT)];
	char source[4096];
	char arch[32];

	mangled = gt_text_room_fit(&kernels->room, mangled, cut[0]);
	demangled = gt_text_room_fit(&kernels->room, demangled, cut[1]);
	gt_args_init(&args);
	write_source(kernels, placed, shape, source, sizeof(source));
	add_family_args(&args, trace, shape);
	add_occupancy_args(&args, trace, placed, shape);
	add_origin_args(&args, trace, shape);
	if (*source)
		gt_args_add_text(&args, GT_ARG_SOURCE, source);
	add_size_args(&args, shape);
	gt_args_add_text(&args, GT_ARG_PROCESS_NAME, gt_trace_text(trace, process->name));
	gt_args_add_int(&args, GT_ARG_PROCESS_ID, process->pid);
	gt_args_add_int(&args, GT_ARG_DEVICE, device->ordinal);
	gt_args_add_int(&args, GT_ARG_STREAM, trace->streams.rows[placed->stream].number);
	if (launch->profiled)
		gt_args_add_int(&args, GT_ARG_PROFILED, 1);

	snprintf(arch, sizeof(arch), "sm_%u%u", device->cc_major, device->cc_minor);
	kernel.has_iid = 1;
	kernel.iid = iid;
	kernel.name = gt_borrow(gt_name_or(mangled, "(no name)"));
	kernel.demangled_name = gt_borrow(gt_name_or(demangled, "(no name)"));
	kernel.arch = device->cc_major ? arch : NULL;
	kernel.args = args.list;
	kernel.n_args = args.count;
	data.compute_kernels = list;
	data.n_compute_kernels = 1;
	data.event_names = texts;
	data.n_event_names = new_name ? 1 : 0;
	gt_sequence_intern(&kernels->gpu->sequence, &data);
	kernels->gpu->perfetto->counts.texts_cut = kernels->room.cut;
}

static Perfetto__Dim3 dimensions(uint32_t x, uint32_t y, uint32_t z)
{
	Perfetto__Dim3 dim = PERFETTO__DIM3__INIT;

	dim.has_x = dim.has_y = dim.has_z = 1;
	dim.x = x;
	dim.y = y;
	dim.z = z;
	return dim;
}

static void pack(struct gt_kernels *kernels, struct launch *launch, const struct gt_placed *placed,
                 const struct gt_launch_shape *shape, uint64_t iid, uint64_t name_iid)
{
	Perfetto__GpuRenderStageEvent event = PERFETTO__GPU_RENDER_STAGE_EVENT__INIT;
	Perfetto__ComputeKernelLaunch message = PERFETTO__COMPUTE_KERNEL_LAUNCH__INIT;
	Perfetto__Dim3 grid = dimensions(shape->grid_x, shape->grid_y, shape->grid_z);
	Perfetto__Dim3 block = dimensions(shape->block_x, shape->block_y, shape->block_z);

	gt_gpu_describe(kernels->gpu, placed, &event);
	event.has_stage_iid = event.has_kernel_iid = event.has_name_iid = 1;
	event.stage_iid = GT_STAGE_KERNEL;
	event.kernel_iid = iid;
	event.name_iid = name_iid;
	message.grid_size = &grid;
	message.workgroup_size = &block;
	assert(perfetto__gpu_render_stage_event__get_packed_size(&event) <= EVENT_MAX);
	assert(perfetto__compute_kernel_launch__get_packed_size(&message) <= LAUNCH_MAX);
	launch->event_size =
		(uint32_t)perfetto__gpu_render_stage_event__pack(&event, launch->event);
	launch->launch_size =
		(uint32_t)perfetto__compute_kernel_launch__pack(&message, launch->launch);
}

/* A launch that was profiled is called otherwise and so has another colour: its time is no figure. */
static uint64_t profiled_title(struct gt_gpu *gpu, const char *name)
{
	static const char mark[] = "profiled: ";
	const size_t size = sizeof(mark) + strlen(name);
	char *title = gt_allocate(size);
	uint64_t iid;

	snprintf(title, size, "%s%s", mark, name);
	iid = gt_gpu_title(gpu, title);
	gt_array_free(title);
	return iid;
}

static const struct launch *add_launch(struct gt_kernels *kernels, const struct gt_placed *placed,
                                       gt_id shape_row, bool profiled)
{
	const struct gt_trace *trace = kernels->gpu->perfetto->trace;
	const struct gt_launch_shape *shape = &trace->launch_shapes.rows[shape_row];
	const gt_string name = gt_shape_string(trace, shape, trace->names);
	const size_t known_names = kernels->names.used.count;
	const uint64_t name_iid =
		profiled ? profiled_title(kernels->gpu, gt_trace_text(trace, name))
			 : gt_kernel_title_iid(gt_texts_add(&kernels->names, name));
	const bool new_name = kernels->names.used.count > known_names;
	struct launch *launch = gt_array_push(&kernels->launches);

	launch->shape = shape_row;
	launch->stream = placed->stream;
	launch->profiled = profiled;
	if (2 * kernels->launches.count > kernels->slot_mask)
		make_slots(kernels, 2 * (kernels->slot_mask + 1));
	*slot_of(kernels, shape_row, placed->stream, profiled) =
		(uint32_t)kernels->launches.count - 1;
	intern(kernels, placed, launch, kernels->launches.count, new_name ? name_iid : 0);
	pack(kernels, launch, placed, shape, kernels->launches.count, name_iid);
	return launch;
}

static const struct launch *find_launch(struct gt_kernels *kernels, const struct gt_placed *placed,
                                        const struct gt_kernel *kernel)
{
	const bool profiled = (kernel->flags & GT_PROFILED) != 0;
	const uint32_t at = *slot_of(kernels, kernel->shape, placed->stream, profiled);

	if (at != GT_NONE)
		return &kernels->launches.rows[at];
	return add_launch(kernels, placed, kernel->shape, profiled);
}

static void add_traffic_args(struct gt_args *args, const struct gt_traffic_bytes *traffic)
{
	if (traffic->source == GT_TRAFFIC_UNKNOWN)
		return;
	gt_args_add_real(args, GT_ARG_BYTES, traffic->bytes);
	gt_args_add_real(args, GT_ARG_RATE, gt_three_digits(traffic->bytes_per_second / 1e9));
	gt_args_add_real(args, GT_ARG_READ_BYTES, traffic->read_bytes);
	gt_args_add_real(args, GT_ARG_WRITE_BYTES, traffic->write_bytes);
	gt_args_add_text(args, GT_ARG_BYTES_FROM, gt_traffic_source_name(traffic->source));
}

/*
 * Arguments that are the execution's own: its node of a graph, which may be made anew for each
 * launch, whether it is the first of its function, its bytes, and the ranges of the moment.
 */
static size_t pack_own(const struct gt_kernels *kernels, gt_id row, uint8_t bytes[OWN_MAX])
{
	struct gt_gpu *gpu = kernels->gpu;
	const struct gt_trace *trace = gpu->perfetto->trace;
	const struct gt_kernel *kernel = &trace->kernels.rows[row];
	const bool first = gpu->first.is_first[row];
	const struct gt_traffic_bytes traffic = gt_traffic_of_kernel(&gpu->traffic, row);
	Perfetto__ComputeKernelLaunch message = PERFETTO__COMPUTE_KERNEL_LAUNCH__INIT;
	struct gt_args args;
	char made_by[GT_MADE_BY_SIZE];

	if (kernel->graph == 0 && kernel->graph_node == 0 && !first &&
	    traffic.source == GT_TRAFFIC_UNKNOWN && gpu->ranges.paths.count == 0)
		return 0;
	gt_args_init(&args);
	gt_nodes_add_args(&args, trace,
	                  (struct gt_node_of){kernel->graph, kernel->graph_node, kernel->node},
	                  made_by);
	if (first)
		gt_args_add_int(&args, GT_ARG_FIRST_LAUNCH, 1);
	add_traffic_args(&args, &traffic);
	gt_gpu_add_ranges(gpu, GT_ACTIVITY_KERNEL, row, &args);
	message.args = args.list;
	message.n_args = args.count;
	assert(perfetto__compute_kernel_launch__get_packed_size(&message) <= OWN_MAX);
	return perfetto__compute_kernel_launch__pack(&message, bytes);
}

void gt_kernels_put(struct gt_kernels *kernels, const struct gt_placed *placed, size_t number,
                    gt_id row)
{
	const struct launch *launch =
		find_launch(kernels, placed, &kernels->gpu->perfetto->trace->kernels.rows[row]);
	uint8_t message[EVENT_MAX + LAUNCH_MAX + OWN_MAX + 6 * GT_VARINT_MAX];
	uint8_t own[OWN_MAX];
	const size_t own_size = pack_own(kernels, row, own);
	uint8_t *at = message;

	at = gt_put_varint(gt_put_varint(at, kernels->id_tag), gt_ids_event(number));
	at = gt_put_varint(gt_put_varint(at, kernels->duration_tag),
	                   (uint64_t)(placed->end_ns - placed->start_ns));
	at = gt_put_bytes(at, launch->event, launch->event_size);
	at = gt_put_varint(gt_put_varint(at, kernels->launch_tag), launch->launch_size + own_size);
	at = gt_put_bytes(at, launch->launch, launch->launch_size);
	at = gt_put_bytes(at, own, own_size);
	gt_gpu_put(kernels->gpu, placed, number, message, (size_t)(at - message));
}

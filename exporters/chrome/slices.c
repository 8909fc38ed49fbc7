/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>

#include "exporters/chrome/events.h"
#include "model/gpu/occupancy.h"
#include "model/names.h"
#include "model/naming/labels.h"
#include "model/naming/shape_names.h"
#include "model/ranges/owners.h"
#include "model/work/activity.h"

enum { WORDS_SIZE = 64, NAME_SIZE = 160 };

/* Words that are the same for all launches of a shape, made once. */
struct gt_shape_words {
	gt_id device;      /* that the occupancy is of */
	gt_count sm_count; /* multiprocessors of it that the launch could run on */
	struct gt_chars name;
	struct gt_chars args;
};

static uint64_t product(uint32_t x, uint32_t y, uint32_t z)
{
	return (uint64_t)x * y * z;
}

/*
 * As PyTorch estimates it: the theoretical occupancy, less when the grid does not even fill that.
 * Percent, -1 where the limits of the device are not known.
 */
static int64_t estimated_occupancy(const struct gt_device *device,
                                   const struct gt_launch_shape *shape, double blocks_per_sm)
{
	const struct gt_occupancy occupancy = gt_occupancy_of(device, shape);
	const double threads = (double)product(shape->block_x, shape->block_y, shape->block_z);
	double blocks = occupancy.blocks_per_sm;

	if (occupancy.limit == GT_LIMIT_UNKNOWN)
		return -1;
	if (blocks_per_sm < blocks)
		blocks = blocks_per_sm;
	return (int64_t)(0.5 + 100 * blocks * threads / device->max_threads_per_sm);
}

static void add_dimensions(struct gt_chars *chars, const char *key, const uint32_t sizes[3])
{
	gt_chars_add(chars, ",\"");
	gt_chars_add(chars, key);
	for (int i = 0; i < 3; i++) {
		gt_chars_add(chars, i ? "," : "\":[");
		gt_chars_add_number(chars, sizes[i]);
	}
	gt_chars_add(chars, "]");
}

static void make_words(const struct gt_chrome *chrome, struct gt_shape_words *words, gt_id row)
{
	const struct gt_trace *trace = chrome->trace;
	const struct gt_launch_shape *shape = &trace->launch_shapes.rows[row];
	const struct gt_device *device = &trace->devices.rows[words->device];
	const uint32_t grid[] = {shape->grid_x, shape->grid_y, shape->grid_z};
	const uint32_t block[] = {shape->block_x, shape->block_y, shape->block_z};
	const double blocks_per_sm = (double)product(grid[0], grid[1], grid[2]) / words->sm_count;
	const double warps = ceil((double)product(block[0], block[1], block[2]) /
	                          (device->warp_size ? device->warp_size : 1));

	words->name.text.count = words->args.text.count = 0;
	gt_chrome_add_text(&words->name, "name", gt_shape_text(trace, shape, trace->names));
	gt_chrome_add_number(&words->args, "registers per thread", shape->registers);
	gt_chrome_add_number(&words->args, "shared memory",
	                     (int64_t)(shape->shared_static_bytes + shape->shared_dynamic_bytes));
	gt_chars_add(&words->args, ",\"blocks per SM\":");
	gt_chars_add_real(&words->args, blocks_per_sm);
	gt_chars_add(&words->args, ",\"warps per SM\":");
	gt_chars_add_real(&words->args, blocks_per_sm * warps);
	add_dimensions(&words->args, "grid", grid);
	add_dimensions(&words->args, "block", block);
	gt_chrome_add_number(&words->args, "est. achieved occupancy %",
	                     estimated_occupancy(device, shape, blocks_per_sm));
}

static const struct gt_shape_words *words_of(struct gt_chrome *chrome, gt_id shape, gt_id device,
                                             gt_id stream)
{
	const gt_count sm_count = gt_multiprocessors_of(chrome->trace, stream, device);
	struct gt_shape_words *words = &chrome->shapes[shape];

	if (words->device != device || words->sm_count != sm_count) {
		words->device = device;
		words->sm_count = sm_count;
		make_words(chrome, words, shape);
	}
	return words;
}

/* "Device Static": PyTorch begins each word with a capital. */
static const char *memory_words(uint32_t kind, char words[WORDS_SIZE])
{
	const char *name = gt_memory_kind_name(kind);
	bool first = true;
	size_t i = 0;

	for (; i < WORDS_SIZE - 1 && name[i]; i++) {
		words[i] = name[i];
		if (first)
			words[i] = (char)toupper((unsigned char)name[i]);
		first = name[i] == ' ';
	}
	words[i] = '\0';
	return words;
}

/* The beginning of an event up to its name, which is a member of its own. */
static void begin(struct gt_chrome *chrome, const char *category)
{
	gt_chars_add(&chrome->out.chars, ",\n{\"ph\":\"X\",\"cat\":\"");
	gt_chars_add(&chrome->out.chars, category);
	gt_chars_add(&chrome->out.chars, "\"");
}

/* The call that launched it, in the same process; NULL: it is not known. */
static const struct gt_api_call *call_of(const struct gt_trace *trace,
                                         const struct gt_placed *placed)
{
	const struct gt_api_call *call;

	if (placed->api_call >= trace->api_calls.count)
		return NULL;
	call = &trace->api_calls.rows[placed->api_call];
	if (call->thread >= trace->threads.count ||
	    trace->threads.rows[call->thread].process != placed->process)
		return NULL;
	return call;
}

/*
 * CUPTI gives what runs in the body of a conditional node the number 0: it gets that of the launch
 * which it was found to be of.
 */
static gt_count correlation_of(const struct gt_trace *trace, const struct gt_placed *placed,
                               gt_count own)
{
	const struct gt_api_call *call = own ? NULL : call_of(trace, placed);

	return call ? call->correlation : own;
}

/* Where and when, and the arguments that all slices have. */
static void add_slice(struct gt_chrome *chrome, const struct gt_placed *placed,
                      struct gt_place place, gt_count correlation)
{
	const struct gt_trace *trace = chrome->trace;
	const struct gt_stream *stream = &trace->streams.rows[placed->stream];
	const int64_t number = gt_chrome_correlation(chrome, placed->process,
	                                             correlation_of(trace, placed, correlation));
	struct gt_chars *chars = &chrome->out.chars;

	gt_chrome_add_place(chrome, place, placed->start_ns, placed->end_ns);
	gt_chars_add(chars, ",\"args\":{\"External id\":");
	gt_chars_add_number(chars, number);
	gt_chrome_add_number(chars, "device", chrome->ids.gpus[placed->device]);
	gt_chrome_add_number(chars, "context", trace->contexts.rows[stream->context].number);
	gt_chrome_add_number(chars, "stream", stream->number);
	gt_chrome_add_number(chars, "correlation", number);
}

static void add_bytes(struct gt_chrome *chrome, const struct gt_placed *placed, uint64_t bytes)
{
	struct gt_chars *chars = &chrome->out.chars;

	gt_chrome_add_number(chars, "bytes", (int64_t)bytes);
	gt_chars_add(chars, ",\"memory bandwidth (GB/s)\":");
	gt_chars_add_real(chars, (double)bytes / (double)(placed->end_ns - placed->start_ns));
}

static void add_graph(struct gt_chrome *chrome, uint32_t graph, uint64_t node)
{
	if (graph == 0)
		return;
	gt_chrome_add_number(&chrome->out.chars, "graph id", graph);
	gt_chrome_add_number(&chrome->out.chars, "graph node id", (int64_t)node);
}

static void add_ranges(struct gt_chrome *chrome, enum gt_activity_type type, gt_id row)
{
	struct gt_owners owners;

	if (chrome->ranges.paths.count == 0)
		return;
	owners = gt_owners_of(chrome->trace, type, row);
	gt_chrome_add_path(chrome, "range", owners.launched.range);
	gt_chrome_add_path(chrome, "captured in", owners.captured.range);
}

static void add_kernel(struct gt_chrome *chrome, const struct gt_placed *placed,
                       struct gt_place place, const struct gt_kernel *kernel)
{
	const struct gt_shape_words *words =
		words_of(chrome, kernel->shape, placed->device, kernel->stream);
	struct gt_chars *chars = &chrome->out.chars;

	begin(chrome, "kernel");
	gt_chars_add_bytes(chars, words->name.text.rows, words->name.text.count);
	add_slice(chrome, placed, place, kernel->correlation);
	gt_chars_add_bytes(chars, words->args.text.rows, words->args.text.count);
	if (kernel->flags & GT_PROFILED)
		gt_chrome_add_number(chars, "profiled", 1);
	add_graph(chrome, kernel->graph, kernel->graph_node);
	add_ranges(chrome, GT_ACTIVITY_KERNEL, (gt_id)(kernel - chrome->trace->kernels.rows));
}

static void add_copy(struct gt_chrome *chrome, const struct gt_placed *placed,
                     struct gt_place place, const struct gt_copy *copy)
{
	char from[WORDS_SIZE];
	char to[WORDS_SIZE];
	char name[NAME_SIZE];

	snprintf(name, sizeof(name), "Memcpy %s (%s -> %s)", gt_copy_kind_name(copy->kind),
	         memory_words(copy->src_kind, from), memory_words(copy->dst_kind, to));
	begin(chrome, "gpu_memcpy");
	gt_chrome_add_text(&chrome->out.chars, "name", name);
	add_slice(chrome, placed, place, copy->correlation);
	add_bytes(chrome, placed, copy->size_bytes);
	add_graph(chrome, copy->graph, copy->graph_node);
	add_ranges(chrome, GT_ACTIVITY_COPY, (gt_id)(copy - chrome->trace->copies.rows));
}

static void add_fill(struct gt_chrome *chrome, const struct gt_placed *placed,
                     struct gt_place place, const struct gt_fill *fill)
{
	char memory[WORDS_SIZE];
	char name[NAME_SIZE];

	snprintf(name, sizeof(name), "Memset (%s)", memory_words(fill->memory_kind, memory));
	begin(chrome, "gpu_memset");
	gt_chrome_add_text(&chrome->out.chars, "name", name);
	add_slice(chrome, placed, place, fill->correlation);
	add_bytes(chrome, placed, fill->size_bytes);
	add_graph(chrome, fill->graph, fill->graph_node);
	add_ranges(chrome, GT_ACTIVITY_FILL, (gt_id)(fill - chrome->trace->fills.rows));
}

/* Kineto has no category for it. */
static void add_whole_graph(struct gt_chrome *chrome, const struct gt_placed *placed,
                            struct gt_place place, const struct gt_graph_trace *whole)
{
	char name[NAME_SIZE];

	gt_graph_exec_label(chrome->trace, whole->exec, name, sizeof(name));
	begin(chrome, "cuda_graph");
	gt_chrome_add_text(&chrome->out.chars, "name", name);
	add_slice(chrome, placed, place, whole->correlation);
	if (whole->graph)
		gt_chrome_add_number(&chrome->out.chars, "graph id", whole->graph);
	add_ranges(chrome, GT_ACTIVITY_GRAPH, (gt_id)(whole - chrome->trace->graph_traces.rows));
}

static void add_arrow_end(struct gt_chrome *chrome, const char *phase, size_t number,
                          struct gt_place place, gt_time time_ns)
{
	struct gt_chars *chars = &chrome->out.chars;

	gt_chars_add(chars, ",\n{\"ph\":\"");
	gt_chars_add(chars, phase);
	gt_chars_add(chars, "\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":");
	gt_chars_add_number(chars, (int64_t)gt_ids_event(number));
	gt_chrome_add_place(chrome, place, time_ns, INT64_MAX);
}

/* From the call, if it is in the file, to the slice. Each arrow has a number of its own. */
static void put_arrow(struct gt_chrome *chrome, const struct gt_placed *placed,
                      struct gt_place place, size_t number)
{
	struct gt_chars *chars = &chrome->out.chars;
	const struct gt_api_call *call = call_of(chrome->trace, placed);

	if (!call || !gt_ids_has_call(&chrome->ids, placed->api_call))
		return;
	add_arrow_end(chrome, "s", number, gt_places_of_thread(&chrome->places, call->thread),
	              call->start_ns);
	gt_chars_add(chars, "}");
	add_arrow_end(chrome, "f", number, place, placed->start_ns);
	gt_chars_add(chars, ",\"bp\":\"e\"}");
	chrome->counts.arrows++;
}

static void put_slice(struct gt_chrome *chrome, const struct gt_activity *activity)
{
	const struct gt_trace *trace = chrome->trace;
	const size_t number = gt_ids_slice_of(
		&chrome->ids, (gt_count)gt_activity_tables[activity->type], activity->row);
	const struct gt_placed placed = gt_ids_place(&chrome->ids, number);
	struct gt_place place;

	if (!placed.placed)
		return;
	place = gt_places_of_slice(&chrome->places, &placed);
	switch (activity->type) {
	case GT_ACTIVITY_KERNEL:
		add_kernel(chrome, &placed, place, &trace->kernels.rows[activity->row]);
		break;
	case GT_ACTIVITY_COPY:
		add_copy(chrome, &placed, place, &trace->copies.rows[activity->row]);
		break;
	case GT_ACTIVITY_FILL:
		add_fill(chrome, &placed, place, &trace->fills.rows[activity->row]);
		break;
	case GT_ACTIVITY_GRAPH:
		add_whole_graph(chrome, &placed, place, &trace->graph_traces.rows[activity->row]);
		break;
	}
	gt_chars_add(&chrome->out.chars, "}}");
	put_arrow(chrome, &placed, place, number);
	gt_chrome_pass(&chrome->out);
	chrome->counts.gpu_slices++;
}

void gt_chrome_write_slices(struct gt_chrome *chrome)
{
	const size_t shape_count = chrome->trace->launch_shapes.count;
	struct gt_activity_walk walk;
	struct gt_activity activity;

	chrome->shapes = gt_allocate(shape_count * sizeof(*chrome->shapes));
	for (size_t i = 0; i < shape_count; i++)
		chrome->shapes[i] = (struct gt_shape_words){.device = GT_NONE};
	gt_activity_walk_init(&walk, chrome->trace, GT_WORK_ALL);
	while (gt_activity_next(&walk, &activity))
		put_slice(chrome, &activity);
	chrome->counts.skipped += gt_ids_slice_count(&chrome->ids) - chrome->counts.gpu_slices;
	for (size_t i = 0; i < shape_count; i++) {
		gt_array_release(&chrome->shapes[i].name.text);
		gt_array_release(&chrome->shapes[i].args.text);
	}
	gt_array_free(chrome->shapes);
}

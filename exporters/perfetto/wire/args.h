/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_PERFETTO_WIRE_ARGS_H
#define GT_EXPORTERS_PERFETTO_WIRE_ARGS_H

#include <stddef.h>
#include <stdint.h>

#include <perfetto.pb-c.h>

struct gt_sequence;

/*
 * Named values of a GPU slice. The names are the ones that Perfetto's GPU Compute plugin looks
 * for, where it looks for one. "correlation_id" is among them as a text alone, that of the colour.
 */
enum gt_arg {
	GT_ARG_NONE, /* interned numbers begin at 1 */
	GT_ARG_WORKGROUP_SIZE,
	GT_ARG_GRID_SIZE,
	GT_ARG_THREAD_COUNT,
	GT_ARG_REGISTERS,
	GT_ARG_SHARED_STATIC,
	GT_ARG_SHARED_DYNAMIC,
	GT_ARG_SHARED_CONFIGURED,
	GT_ARG_CACHE_CONFIG,
	GT_ARG_FAMILY,
	GT_ARG_COLOUR, /* viewers colour slices by the text of this argument: the family here */
	GT_ARG_ORIGIN,
	GT_ARG_TILE,
	GT_ARG_CLUSTER_X,
	GT_ARG_CLUSTER_Y,
	GT_ARG_CLUSTER_Z,
	GT_ARG_WAVES,
	GT_ARG_LAST_WAVE_EMPTY,
	GT_ARG_MULTIPROCESSORS,
	GT_ARG_BARRIERS,
	GT_ARG_LIMIT_BARRIERS,
	GT_ARG_LIMIT_BLOCKS,
	GT_ARG_LIMIT_REGISTERS,
	GT_ARG_LIMIT_SHARED,
	GT_ARG_LIMIT_WARPS,
	GT_ARG_LIMITED_BY,
	GT_ARG_OCCUPANCY_PERCENT,
	GT_ARG_OCCUPANCY_WARPS,
	GT_ARG_PROCESS_NAME,
	GT_ARG_PROCESS_ID,
	GT_ARG_DEVICE,
	GT_ARG_STREAM,
	GT_ARG_GRAPH,
	GT_ARG_GRAPH_NODE,
	GT_ARG_MADE_BY,
	GT_ARG_MADE_ON,
	GT_ARG_FIRST_LAUNCH,
	GT_ARG_PROFILED,
	GT_ARG_BYTES,
	GT_ARG_KIND,
	GT_ARG_SRC,
	GT_ARG_DST,
	GT_ARG_RATE,
	GT_ARG_VALUE,
	GT_ARG_RANGE,
	GT_ARG_CAPTURED_IN,
	GT_ARG_SOURCE,
	GT_ARG_READ_BYTES,
	GT_ARG_WRITE_BYTES,
	GT_ARG_BYTES_FROM,
	GT_ARG_PATH,
	GT_ARG_KERNELS,
	GT_ARG_COPIES,
	GT_ARG_BUSY,
	GT_ARG_IDLE,
	GT_ARG_COUNT
};

/* A list being made, each name at most once. Texts are borrowed. */
struct gt_args {
	Perfetto__ExtraComputeArg rows[GT_ARG_COUNT];
	Perfetto__ExtraComputeArg *list[GT_ARG_COUNT];
	size_t count;
};

void gt_args_init(struct gt_args *args);
void gt_args_add_int(struct gt_args *args, enum gt_arg name, int64_t value);
void gt_args_add_real(struct gt_args *args, enum gt_arg name, double value);  /* NAN: left out */
void gt_args_add_known(struct gt_args *args, enum gt_arg name, uint64_t iid); /* interned text */
void gt_args_add_text(struct gt_args *args, enum gt_arg name, const char *value);

/* Tells the sequence the names of all arguments. */
void gt_args_intern_names(struct gt_sequence *sequence);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_PERFETTO_GPU_H
#define GT_EXPORTERS_PERFETTO_GPU_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/traffic/traffic.h"
#include "exporters/perfetto/links.h"
#include "exporters/perfetto/wire/args.h"
#include "exporters/perfetto/writer.h"
#include "model/naming/first_launches.h"
#include "model/naming/labels.h"
#include "model/ranges/ranges.h"
#include "model/work/activity.h"

struct gt_strings;

/* Interned numbers of the sequence that carries all GPU slices. */
enum {
	GT_STAGE_KERNEL = 1,
	GT_STAGE_COPY,
	GT_STAGE_FILL,
	GT_STAGE_GRAPH,
	GT_STAGE_RANGE,
	GT_QUEUE_FIRST, /* + row of streams; those of their ranges follow */
};
enum { GT_COPY_KINDS = 11 }; /* CUPTI knows 1 to 10; 0 stands for any other */

struct gt_gpu {
	struct gt_perfetto *perfetto;
	struct gt_sequence sequence;
	struct gt_strings *titles; /* that were made and the sequence knows */
	struct gt_first_launches first;
	struct gt_links waits;     /* for slices on other streams, by number of the slice */
	gt_array(uint8_t) message; /* one that waits for others, being made */
	uint32_t event_tag;
	uint32_t wait_tag;
	struct gt_traffic_facts traffic;
	struct gt_ranges ranges;
	bool *known_paths; /* by row of range paths: the sequence knows its text */
};

/*
 * Adds the paths of the NVTX ranges that work was asked for in, when it was launched and when its
 * graph was captured. At most GT_RANGE_ARGS.
 */
enum { GT_RANGE_ARGS = 2 };
void gt_gpu_add_ranges(struct gt_gpu *gpu, enum gt_activity_type type, gt_id row,
                       struct gt_args *args);

/* Interned numbers of titles, by the number of the text, from 1: names of kernels have the even
 * ones, titles that are made the odd ones. */
static inline uint64_t gt_kernel_title_iid(uint32_t number)
{
	return 2 * (uint64_t)number;
}

static inline uint64_t gt_made_title_iid(uint32_t number)
{
	return 2 * (uint64_t)number + 1;
}

/* The interned number of a title that was made, which the sequence is told of when it is new. */
uint64_t gt_gpu_title(struct gt_gpu *gpu, const char *title);

static inline uint32_t gt_copy_kind_known(uint32_t kind)
{
	return kind < GT_COPY_KINDS ? kind : 0;
}

/* The path of a range as an argument; no path: none. */
void gt_gpu_add_path(struct gt_gpu *gpu, struct gt_args *args, enum gt_arg name, gt_id range);

/* How the track of a stream, a row of streams, is called, as short as it can be told apart: "Stream
 * 7", "Context 2 Stream 7 (trainer 4242)". */
enum { GT_QUEUE_NAME_BYTES = 2 * GT_LABEL_BYTES + 192 };
void gt_gpu_name_queue(const struct gt_perfetto *perfetto, gt_id row,
                       char name[GT_QUEUE_NAME_BYTES]);

/* Fills in what all GPU slices have: place, stage and name. */
void gt_gpu_describe(const struct gt_gpu *gpu, const struct gt_placed *placed,
                     Perfetto__GpuRenderStageEvent *event);

/* Writes a slice (number: as gt_ids_slice gives it), with the arrows that lead to it. */
void gt_gpu_put(struct gt_gpu *gpu, const struct gt_placed *placed, size_t number,
                const uint8_t *message, size_t size);

/* Three digits say enough, and keep Perfetto's table of distinct values small. */
double gt_three_digits(double value);

/* Writers of one slice each. */
struct gt_kernels;
struct gt_kernels *gt_kernels_new(struct gt_gpu *gpu);
void gt_kernels_free(struct gt_kernels *kernels);
void gt_kernels_put(struct gt_kernels *kernels, const struct gt_placed *placed, size_t number,
                    gt_id row);

void gt_gpu_put_copy(struct gt_gpu *gpu, const struct gt_placed *placed, size_t number,
                     const struct gt_copy *copy);
void gt_gpu_put_fill(struct gt_gpu *gpu, const struct gt_placed *placed, size_t number,
                     const struct gt_fill *fill);
/*
 * Work of streams for each range, on a track of each stream that viewers show right below its own.
 * Behind all other slices.
 */
void gt_gpu_put_stream_ranges(struct gt_gpu *gpu);

void gt_gpu_put_graph(struct gt_gpu *gpu, const struct gt_placed *placed, size_t number,
                      const struct gt_graph_trace *whole);

#endif

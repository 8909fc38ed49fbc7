/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_CHROME_PLACES_H
#define GT_EXPORTERS_CHROME_PLACES_H

#include <stdint.h>

#include "base/array.h"
#include "exporters/chrome/out.h"
#include "exporters/timeline/ids.h"

/*
 * Where events are shown: the format knows processes and threads only. As in PyTorch's traces a
 * GPU is a process, whose pid is its number, and a stream a thread of it. Slices that overlap on
 * one stream, as kernels of graphs do, get further threads: viewers cut them off otherwise.
 */

struct gt_place {
	uint32_t pid;
	uint32_t tid;
};

struct gt_lane_end {
	gt_time end_ns;
	uint32_t tid;
};

struct gt_chrome_stream {
	gt_array(struct gt_lane_end) lanes;
};

struct gt_open_calls {
	gt_array(gt_time) ends_ns; /* of the calls that lie in one another, the outer first */
};

struct gt_places {
	struct gt_chrome_out *out;
	const struct gt_ids *ids;
	struct gt_chrome_stream *streams; /* by row of streams */
	struct gt_open_calls *threads;    /* by row of threads */
	uint32_t *stream_tids;            /* by row of streams */
	uint32_t tids;                    /* numbers given out that are not CUDA's */
};

void gt_places_init(struct gt_places *places, struct gt_chrome_out *out, const struct gt_ids *ids);
void gt_places_release(struct gt_places *places);

/* Says what all processes, GPUs, threads and streams are called. */
void gt_places_describe(struct gt_places *places);

struct gt_place gt_places_of_thread(const struct gt_places *places, gt_id thread);

/* The place of all that is about a stream as a whole. */
struct gt_place gt_places_of_stream(const struct gt_places *places, gt_id stream, gt_id device);

/* A thread of its own, below the streams of the GPU, for what was told on a multiprocessor. */
struct gt_place gt_places_of_multiprocessor(struct gt_places *places, gt_id device, gt_count sm);

/* The place of a slice on a GPU. Slices come in order of their start. */
struct gt_place gt_places_of_slice(struct gt_places *places, const struct gt_placed *placed);

/*
 * Makes a call lie inside those that are open on its thread, or behind them: clocks are not exact
 * to the nanosecond. Calls come in order of their start. end_ns is INT64_MAX for one that did not
 * end.
 */
void gt_places_fit(struct gt_places *places, const struct gt_api_call *call, gt_time *start_ns,
                   gt_time *end_ns);

#endif

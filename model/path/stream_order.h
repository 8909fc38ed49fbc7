/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_PATH_STREAM_ORDER_H
#define GT_MODEL_PATH_STREAM_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/trace.h"

/*
 * Work of each stream, in the order in which it was given: kernels, copies and fills of a stream
 * run one after the other, so that the one before is what each of them had to wait for first. The
 * edges of a trace are what comes on top of that. 4 bytes for each activity of a chosen stream.
 */
struct gt_step {
	size_t table; /* GT_TABLE_kernels, copies or fills; graph_traces, if whole */
	gt_id row;
};

struct gt_stream_order {
	const struct gt_trace *trace;
	size_t *ends;    /* by stream: one past its last step */
	uint32_t *steps; /* table in the upper two bits, row below */
	gt_id *into; /* by row of api_calls: stream a graph was launched into; NULL: not asked */
};

/* wanted: by row of streams; NULL: all. The rows must not move while the order is used. */
void gt_stream_order_init(struct gt_stream_order *order, const struct gt_trace *trace,
                          const bool *wanted);
/*
 * The same of all streams, with graphs that were recorded as a whole, and with the work of a graph
 * on the stream that it was launched into, wherever CUPTI says that its nodes ran.
 */
void gt_stream_order_init_whole(struct gt_stream_order *order, const struct gt_trace *trace);
void gt_stream_order_release(struct gt_stream_order *order);

/* How many steps a stream has; 0 for one that was not wanted. */
size_t gt_stream_order_count(const struct gt_stream_order *order, gt_id stream);

struct gt_step gt_stream_order_at(const struct gt_stream_order *order, gt_id stream, size_t step);

/* When a step was given to the stream: by the entry of its call where that is known. */
gt_time gt_stream_order_given(const struct gt_stream_order *order, gt_id stream, size_t step);

/* The first step that was given to the stream at that time or later, by the entry of its call. */
size_t gt_stream_order_from(const struct gt_stream_order *order, gt_id stream, gt_time time_ns);

/* The last step that was given to the stream before that time; false: there is none. */
bool gt_stream_order_before(const struct gt_stream_order *order, gt_id stream, gt_time time_ns,
                            struct gt_step *step);

/* When a step ran; both 0 when it did not finish. */
void gt_step_times(const struct gt_trace *trace, struct gt_step step, gt_time *start_ns,
                   gt_time *end_ns);

#endif

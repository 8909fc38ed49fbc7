/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_GPU_ORDER_H
#define GT_REPLAY_GPU_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/gpu/gpu.h"

/*
 * Dependencies between buffers: what is put into one stream waits for what others do with the same
 * buffers, and for nothing else. Neither of two readers waits. Streams are told by numbers. While a
 * stream is captured into a graph, what is captured has an order of its own.
 */

#define GT_ORDER_STREAMS 16
#define GT_ORDER_NONE    UINT32_MAX /* no stream */

/* The latest work with a buffer, by its number in its stream. */
struct gt_order_uses {
	uint64_t epoch; /* of another one nothing of it counts */
	uint32_t writer;
	uint64_t write;
	uint64_t reads[GT_ORDER_STREAMS]; /* 0: none */
};

struct gt_ordered {
	struct gt_order_uses outer;
	struct gt_order_uses captured;
};

struct gt_order_view {
	uint64_t epoch;
	uint64_t queued[GT_ORDER_STREAMS]; /* pieces of work */
	uint64_t seen[GT_ORDER_STREAMS]
		     [GT_ORDER_STREAMS]; /* of the second, that the first waited for */
};

struct gt_order {
	struct gt_gpu *gpu;
	CUstream streams[GT_ORDER_STREAMS];
	uint32_t count;
	uint32_t origin; /* stream that is captured; GT_ORDER_NONE: none */
	bool forked[GT_ORDER_STREAMS];
	uint64_t epochs; /* that there were */
	struct gt_order_view outer;
	struct gt_order_view captured;
};

/* With one stream, number 0. */
void gt_order_init(struct gt_order *order, struct gt_gpu *gpu, CUstream stream);
int gt_order_add(struct gt_order *order, CUstream stream, uint32_t *number, struct gt_error *err);

/* Around each piece of work, for each buffer that it uses. */
int gt_order_before(struct gt_order *order, uint32_t stream, struct gt_ordered *buffer, bool writes,
                    struct gt_error *err);
void gt_order_after(struct gt_order *order, uint32_t stream, struct gt_ordered *buffer,
                    bool writes);

/* Around a capture of the stream, once it has begun and before it ends. */
void gt_order_capture(struct gt_order *order, uint32_t stream);
int gt_order_captured(struct gt_order *order, struct gt_error *err);

/* Waits, on the host, for all work with the buffer. */
int gt_order_wait(struct gt_order *order, struct gt_ordered *buffer, struct gt_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/gpu/order.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"

void gt_order_init(struct gt_order *order, struct gt_gpu *gpu, CUstream stream)
{
	*order = (struct gt_order){
		.gpu = gpu, .streams = {stream}, .count = 1, .origin = GT_ORDER_NONE, .epochs = 1};
	order->outer.epoch = 1;
}

int gt_order_add(struct gt_order *order, CUstream stream, uint32_t *number, struct gt_error *err)
{
	if (order->count == GT_ORDER_STREAMS)
		return gt_fail(err, ENOSPC, "there are %d streams already, and no more can be had",
		               GT_ORDER_STREAMS);
	order->streams[order->count] = stream;
	*number = order->count++;
	return 0;
}

static struct gt_order_view *view_of(struct gt_order *order)
{
	return order->origin == GT_ORDER_NONE ? &order->outer : &order->captured;
}

static struct gt_order_uses *uses_of(struct gt_order *order, struct gt_ordered *buffer)
{
	struct gt_order_uses *uses =
		order->origin == GT_ORDER_NONE ? &buffer->outer : &buffer->captured;
	const uint64_t epoch = view_of(order)->epoch;

	if (uses->epoch != epoch)
		*uses = (struct gt_order_uses){.epoch = epoch, .writer = GT_ORDER_NONE};
	return uses;
}

static int wait_for(struct gt_order *order, uint32_t stream, uint32_t other, uint64_t number,
                    struct gt_error *err)
{
	struct gt_order_view *view = view_of(order);
	int result;

	if (other == stream || number <= view->seen[stream][other])
		return 0;
	result = gt_gpu_order(order->gpu, order->streams[other], order->streams[stream], err);
	if (result == 0)
		view->seen[stream][other] = view->queued[other];
	return result;
}

/* A stream becomes part of a capture by waiting for the one that it began with. */
static int fork(struct gt_order *order, uint32_t stream, struct gt_error *err)
{
	if (order->origin == GT_ORDER_NONE || order->forked[stream])
		return 0;
	order->forked[stream] = true;
	return gt_gpu_order(order->gpu, order->streams[order->origin], order->streams[stream], err);
}

int gt_order_before(struct gt_order *order, uint32_t stream, struct gt_ordered *buffer, bool writes,
                    struct gt_error *err)
{
	const struct gt_order_uses *uses = uses_of(order, buffer);
	int result = fork(order, stream, err);

	if (result == 0 && uses->writer != GT_ORDER_NONE)
		result = wait_for(order, stream, uses->writer, uses->write, err);
	for (uint32_t i = 0; result == 0 && writes && i < order->count; i++)
		result = wait_for(order, stream, i, uses->reads[i], err);
	return result;
}

void gt_order_after(struct gt_order *order, uint32_t stream, struct gt_ordered *buffer, bool writes)
{
	struct gt_order_uses *uses = uses_of(order, buffer);
	const uint64_t number = ++view_of(order)->queued[stream];

	if (writes) {
		uses->writer = stream;
		uses->write = number;
	}
	uses->reads[stream] = number;
}

void gt_order_capture(struct gt_order *order, uint32_t stream)
{
	order->origin = stream;
	memset(order->forked, 0, sizeof(order->forked));
	order->forked[stream] = true;
	order->captured = (struct gt_order_view){.epoch = ++order->epochs};
}

int gt_order_captured(struct gt_order *order, struct gt_error *err)
{
	const uint32_t origin = order->origin;
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < order->count; i++)
		if (order->forked[i])
			result = gt_gpu_order(order->gpu, order->streams[i], order->streams[origin],
			                      err);
	order->origin = GT_ORDER_NONE;
	return result;
}

int gt_order_wait(struct gt_order *order, struct gt_ordered *buffer, struct gt_error *err)
{
	const struct gt_order_uses *uses = uses_of(order, buffer);
	const struct gt_cuda *cuda = order->gpu->cuda;
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < order->count; i++)
		if (uses->reads[i])
			result = gt_cuda_check(cuda, cuda->stream_wait(order->streams[i]), err,
			                       "the GPU's work failed");
	return result;
}

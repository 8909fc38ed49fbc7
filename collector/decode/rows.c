/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/decode/rows.h"

#include "collector/stage.h"

gt_id gt_row_of_device(struct gt_trace *trace, struct gt_capture *capture, uint32_t ordinal)
{
	gt_id row;

	if (ordinal == GT_UNKNOWN_ORDINAL)
		return GT_NONE;
	if (gt_known_is_new(&capture->devices, ordinal, trace->devices.count, &row))
		*gt_array_push(&trace->devices) =
			(struct gt_device){.index = -1, .ordinal = ordinal};
	return row;
}

gt_id gt_row_of_context(struct gt_trace *trace, struct gt_capture *capture, uint32_t number,
                        uint32_t device)
{
	const gt_id device_row = gt_row_of_device(trace, capture, device);
	gt_id row;

	if (gt_known_is_new(&capture->contexts, number, trace->contexts.count, &row))
		*gt_array_push(&trace->contexts) = (struct gt_context){
			.process = capture->process, .device = GT_NONE, .number = number};
	if (device_row != GT_NONE)
		trace->contexts.rows[row].device = device_row;
	return row;
}

gt_id gt_row_of_stream(struct gt_trace *trace, struct gt_capture *capture, uint32_t context,
                       uint32_t number, uint32_t device)
{
	const uint64_t key = (uint64_t)context << 32 | number;
	gt_id row;

	if (gt_known_is_new(&capture->streams, key, trace->streams.count, &row))
		*gt_array_push(&trace->streams) = (struct gt_stream){
			.context = gt_row_of_context(trace, capture, context, device),
			.number = number};
	return row;
}

gt_id gt_row_of_thread(struct gt_trace *trace, struct gt_capture *capture, uint32_t tid)
{
	gt_id row;

	if (gt_known_is_new(&capture->threads, tid, trace->threads.count, &row))
		*gt_array_push(&trace->threads) =
			(struct gt_thread){.process = capture->process, .tid = tid};
	return row;
}

gt_id gt_row_of_pool(struct gt_trace *trace, struct gt_capture *capture, uint32_t number)
{
	gt_id row;

	if (gt_known_is_new(&capture->pools, number, trace->pools.count, &row))
		*gt_array_push(&trace->pools) = (struct gt_pool){
			.process = capture->process,
			.device = GT_NONE,
			.number = number,
			.place = UINT32_MAX,
			.teller = UINT32_MAX,
		};
	return row;
}

gt_id gt_row_of_event(struct gt_trace *trace, struct gt_capture *capture, uint64_t handle)
{
	gt_id row;

	if (gt_known_is_new(&capture->events, handle, trace->events.count, &row))
		*gt_array_push(&trace->events) = (struct gt_event){
			.process = capture->process, .handle = handle, .original = GT_NONE};
	return row;
}

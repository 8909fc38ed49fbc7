/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/rows.h"

#include "collector/stage.h"

gt_id gt_row_of_device(struct gt_trace *trace, struct gt_capture *capture, uint32_t ordinal)
{
	gt_id row;

	if (ordinal == GT_UNKNOWN_ORDINAL)
		return GT_NONE;
	row = gt_known_find(&capture->devices, ordinal);
	if (row != GT_NONE)
		return row;
	row = (gt_id)trace->devices.count;
	*gt_array_push(&trace->devices) = (struct gt_device){.index = -1, .ordinal = ordinal};
	gt_known_add(&capture->devices, ordinal, row);
	return row;
}

gt_id gt_row_of_context(struct gt_trace *trace, struct gt_capture *capture, uint32_t number,
                        uint32_t device)
{
	const gt_id device_row = gt_row_of_device(trace, capture, device);
	gt_id row = gt_known_find(&capture->contexts, number);

	if (row == GT_NONE) {
		row = (gt_id)trace->contexts.count;
		*gt_array_push(&trace->contexts) = (struct gt_context){
			.process = capture->process, .device = GT_NONE, .number = number};
		gt_known_add(&capture->contexts, number, row);
	}
	if (device_row != GT_NONE)
		trace->contexts.rows[row].device = device_row;
	return row;
}

gt_id gt_row_of_stream(struct gt_trace *trace, struct gt_capture *capture, uint32_t context,
                       uint32_t number, uint32_t device)
{
	const uint64_t key = (uint64_t)context << 32 | number;
	gt_id row = gt_known_find(&capture->streams, key);

	if (row != GT_NONE)
		return row;

	const gt_id context_row = gt_row_of_context(trace, capture, context, device);

	row = (gt_id)trace->streams.count;
	*gt_array_push(&trace->streams) =
		(struct gt_stream){.context = context_row, .number = number};
	gt_known_add(&capture->streams, key, row);
	return row;
}

gt_id gt_row_of_thread(struct gt_trace *trace, struct gt_capture *capture, uint32_t tid)
{
	gt_id row = gt_known_find(&capture->threads, tid);

	if (row != GT_NONE)
		return row;
	row = (gt_id)trace->threads.count;
	*gt_array_push(&trace->threads) =
		(struct gt_thread){.process = capture->process, .tid = tid};
	gt_known_add(&capture->threads, tid, row);
	return row;
}

gt_id gt_row_of_pool(struct gt_trace *trace, struct gt_capture *capture, uint32_t number)
{
	gt_id row = gt_known_find(&capture->pools, number);

	if (row != GT_NONE)
		return row;
	row = (gt_id)trace->pools.count;
	*gt_array_push(&trace->pools) = (struct gt_pool){
		.process = capture->process,
		.device = GT_NONE,
		.number = number,
		.place = UINT32_MAX,
		.teller = UINT32_MAX,
	};
	gt_known_add(&capture->pools, number, row);
	return row;
}

gt_id gt_row_of_event(struct gt_trace *trace, struct gt_capture *capture, uint64_t handle)
{
	gt_id row = gt_known_find(&capture->events, handle);

	if (row != GT_NONE)
		return row;
	row = (gt_id)trace->events.count;
	*gt_array_push(&trace->events) = (struct gt_event){
		.process = capture->process, .handle = handle, .original = GT_NONE};
	gt_known_add(&capture->events, handle, row);
	return row;
}

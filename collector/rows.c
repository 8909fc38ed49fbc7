/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/rows.h"

#include "collector/stage.h"

/* Captures have few of each, and records of one stream come together: the last is tried first. */
#define FIND(known, wanted, row_out)                                                               \
	do {                                                                                       \
		for (size_t i_ = (known)->count; i_-- > 0;)                                        \
			if ((known)->rows[i_].number == (wanted)) {                                \
				(row_out) = (known)->rows[i_].row;                                 \
				break;                                                             \
			}                                                                          \
	} while (0)

gt_id gt_row_of_device(struct gt_trace *trace, struct gt_capture *capture, uint32_t ordinal)
{
	gt_id row = GT_NONE;

	if (ordinal == GT_UNKNOWN_ORDINAL)
		return GT_NONE;
	FIND(&capture->devices, ordinal, row);
	if (row != GT_NONE)
		return row;
	row = (gt_id)trace->devices.count;
	*gt_array_push(&trace->devices) = (struct gt_device){.index = -1, .ordinal = ordinal};
	*gt_array_push(&capture->devices) = (struct gt_known){.number = ordinal, .row = row};
	return row;
}

gt_id gt_row_of_context(struct gt_trace *trace, struct gt_capture *capture, uint32_t number,
                        uint32_t device)
{
	const gt_id device_row = gt_row_of_device(trace, capture, device);
	gt_id row = GT_NONE;

	FIND(&capture->contexts, number, row);
	if (row == GT_NONE) {
		row = (gt_id)trace->contexts.count;
		*gt_array_push(&trace->contexts) = (struct gt_context){
			.process = capture->process, .device = GT_NONE, .number = number};
		*gt_array_push(&capture->contexts) =
			(struct gt_known){.number = number, .row = row};
	}
	if (device_row != GT_NONE)
		trace->contexts.rows[row].device = device_row;
	return row;
}

gt_id gt_row_of_stream(struct gt_trace *trace, struct gt_capture *capture, uint32_t context,
                       uint32_t number, uint32_t device)
{
	const uint64_t key = (uint64_t)context << 32 | number;
	gt_id row = GT_NONE;

	FIND(&capture->streams, key, row);
	if (row != GT_NONE)
		return row;

	const gt_id context_row = gt_row_of_context(trace, capture, context, device);

	row = (gt_id)trace->streams.count;
	*gt_array_push(&trace->streams) =
		(struct gt_stream){.context = context_row, .number = number};
	*gt_array_push(&capture->streams) = (struct gt_known){.number = key, .row = row};
	return row;
}

gt_id gt_row_of_thread(struct gt_trace *trace, struct gt_capture *capture, uint32_t tid)
{
	gt_id row = GT_NONE;

	FIND(&capture->threads, tid, row);
	if (row != GT_NONE)
		return row;
	row = (gt_id)trace->threads.count;
	*gt_array_push(&trace->threads) =
		(struct gt_thread){.process = capture->process, .tid = tid};
	*gt_array_push(&capture->threads) = (struct gt_known){.number = tid, .row = row};
	return row;
}

gt_id gt_row_of_event(struct gt_trace *trace, struct gt_capture *capture, uint64_t handle)
{
	gt_id row = GT_NONE;

	FIND(&capture->events, handle, row);
	if (row != GT_NONE)
		return row;
	row = (gt_id)trace->events.count;
	*gt_array_push(&trace->events) =
		(struct gt_event){.process = capture->process,
	                          .handle = handle,
	                          .number = (gt_count)capture->events.count + 1};
	*gt_array_push(&capture->events) = (struct gt_known){.number = handle, .row = row};
	return row;
}

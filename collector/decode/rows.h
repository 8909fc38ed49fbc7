/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_DECODE_ROWS_H
#define GT_COLLECTOR_DECODE_ROWS_H

#include <stdint.h>

#include "model/trace.h"

struct gt_capture;

/*
 * The rows of devices, contexts, streams and threads that a capture's numbers stand for. A row
 * that nothing described yet is made: activity may name a stream before, or without, a record
 * about it.
 */
gt_id gt_row_of_device(struct gt_trace *trace, struct gt_capture *capture, uint32_t ordinal);
gt_id gt_row_of_context(struct gt_trace *trace, struct gt_capture *capture, uint32_t number,
                        uint32_t device);
gt_id gt_row_of_stream(struct gt_trace *trace, struct gt_capture *capture, uint32_t context,
                       uint32_t number, uint32_t device);
gt_id gt_row_of_event(struct gt_trace *trace, struct gt_capture *capture, uint64_t handle);
gt_id gt_row_of_thread(struct gt_trace *trace, struct gt_capture *capture, uint32_t tid);

/* Likewise of pools. A pool whose record is lost has no known place or teller: all bits set. */
gt_id gt_row_of_pool(struct gt_trace *trace, struct gt_capture *capture, uint32_t number);

/* A call that names a stream by its handle. */
struct gt_handle_call {
	uint64_t handle;
	gt_time time_ns; /* on the common timeline */
	gt_id context;   /* row, for the handle of the default stream; GT_NONE: not known */
};

/* The stream that had the handle at that time, GT_NONE: nobody said. From stage handles on. */
gt_id gt_row_of_stream_handle(struct gt_trace *trace, struct gt_capture *capture,
                              const struct gt_handle_call *call);

#define GT_UNKNOWN_ORDINAL UINT32_MAX

#endif

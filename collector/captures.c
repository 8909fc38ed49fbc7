/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/captures.h"

#include <stddef.h>

#include "base/array.h"
#include "model/trace.h"
#include "model/work/sync.h"

/*
 * A capture begins on one stream. Others join it when they wait for an event that was recorded in
 * it, and all of them leave it when it ends (CUDA programming guide, "Cross-stream Dependencies and
 * Events"). Captures have numbers, from 1 on.
 */
struct captures {
	size_t *of_stream;    /* the capture that a stream was in last; 0: none */
	size_t *of_event;     /* the capture that an event was recorded in last; 0: none */
	gt_array(bool) ended; /* by number - 1 */
};

static size_t *numbers(size_t count)
{
	size_t *rows = gt_allocate_zeroed(count, sizeof(*rows));

	return rows;
}

/* The capture of a stream or event as long as it has not ended; 0: none. */
static size_t open_capture(const struct captures *captures, size_t number)
{
	const bool exists = number > 0 && number <= captures->ended.count;

	return exists && !captures->ended.rows[number - 1] ? number : 0;
}

static size_t capture_of(const struct gt_trace *trace, const struct captures *captures,
                         const struct gt_sync *sync)
{
	return sync->stream < trace->streams.count
	               ? open_capture(captures, captures->of_stream[sync->stream])
	               : 0;
}

static void begin(const struct gt_trace *trace, struct captures *captures,
                  const struct gt_sync *sync)
{
	if (sync->result != 0 || sync->stream >= trace->streams.count)
		return;
	*gt_array_push(&captures->ended) = false;
	captures->of_stream[sync->stream] = captures->ended.count;
}

/* The waiting stream joins the capture that the event was recorded in. */
static void join(const struct gt_trace *trace, struct captures *captures,
                 const struct gt_sync *sync)
{
	const size_t number = sync->event < trace->events.count
	                              ? open_capture(captures, captures->of_event[sync->event])
	                              : 0;

	if (number > 0 && sync->stream < trace->streams.count)
		captures->of_stream[sync->stream] = number;
}

/* Whether the sync is part of a capture. */
static bool follow(const struct gt_trace *trace, struct captures *captures,
                   const struct gt_sync *sync)
{
	size_t number;

	if (sync->kind == GT_SYNC_CAPTURE_BEGIN) {
		begin(trace, captures, sync);
		return true;
	}
	/* Also one that fails ends the capture. */
	if (sync->kind == GT_SYNC_CAPTURE_END) {
		number = capture_of(trace, captures, sync);
		if (number > 0)
			captures->ended.rows[number - 1] = true;
		return true;
	}
	if (sync->result != 0)
		return false;
	if (sync->kind == GT_SYNC_STREAM_WAIT_EVENT)
		join(trace, captures, sync);
	number = capture_of(trace, captures, sync);
	/* An event that is made, destroyed or recorded elsewhere is of no capture any more. */
	if (sync->event < trace->events.count &&
	    (sync->kind == GT_SYNC_EVENT_RECORD || sync->kind == GT_SYNC_EVENT_CREATE ||
	     sync->kind == GT_SYNC_EVENT_DESTROY))
		captures->of_event[sync->event] = number;
	return number > 0;
}

void gt_captures_find(const struct gt_trace *trace, bool *captured)
{
	struct captures captures = {
		.of_stream = numbers(trace->streams.count),
		.of_event = numbers(trace->events.count),
	};

	for (size_t row = 0; row < trace->syncs.count; row++)
		captured[row] = follow(trace, &captures, &trace->syncs.rows[row]);
	gt_array_free(captures.of_stream);
	gt_array_free(captures.of_event);
	gt_array_release(&captures.ended);
}

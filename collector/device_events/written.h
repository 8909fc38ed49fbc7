/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_DEVICE_EVENTS_WRITTEN_H
#define GT_COLLECTOR_DEVICE_EVENTS_WRITTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "include/gputrace/device_layout.h"

struct gt_capture;

/*
 * Events that the kernels of a process wrote (include/gputrace/device_layout.h), put together: each
 * chunk once, with all of its events, the chunks of a launch and in it those of a thread one behind
 * the other.
 */

/* Readings of %globaltimer beyond are damage: with them every difference fits. */
#define GT_MOST_TIMER ((uint64_t)1 << 62)

struct gt_written_event {
	uint64_t value;
	uint32_t clock;
	uint32_t tag;
};

struct gt_written_chunk {
	uint64_t globaltimer;
	uint64_t clock;
	uint64_t grid_id;
	uint64_t ticket;
	uint64_t lost;
	uint32_t context; /* CUPTI's id */
	uint32_t sm;
	uint32_t part;
	uint32_t block;
	uint32_t blocks;
	uint32_t thread;
	uint32_t threads;
	uint32_t seen;   /* a bit for each of its events */
	uint32_t first;  /* the first of them */
	uint32_t launch; /* in launches */
};

/*
 * Chunks of one launch. A grid's number may come again: then a thread of that number begins with
 * its first chunk again.
 */
struct gt_written_launch {
	uint64_t grid_id;
	uint32_t context;
	uint32_t blocks;
	uint32_t threads;
	uint32_t again; /* how many of that number, context and shape were before it */
	uint32_t first; /* of its chunks */
	uint32_t count;
};

struct gt_written {
	gt_array(struct gt_written_chunk) chunks;
	gt_array(struct gt_written_launch) launches;
	struct gt_written_event *events;
	size_t event_count;
	size_t broken;  /* chunks that make no sense */
	size_t orphans; /* events of no chunk, or of no place in one */
};

void gt_written_init(struct gt_written *written, const struct gt_capture *capture);
void gt_written_release(struct gt_written *written);

/* Whether both were written by one thread of a launch. */
bool gt_written_same(const struct gt_written_chunk *before, const struct gt_written_chunk *chunk);

/* An event with what its half clock stands for. */
struct gt_written_step {
	const struct gt_written_event *event;
	uint64_t clock;       /* %clock64 */
	uint64_t globaltimer; /* that was read with it, 0: none */
	uint32_t number;      /* in its chunk */
};

/* Goes through the events of a chunk. */
struct gt_written_reader {
	const struct gt_written *written;
	const struct gt_written_chunk *chunk;
	double cycles_per_ns; /* by which whole turns of the half clock are found; 0: not known */
	uint64_t clock;
	uint64_t timed_clock; /* the last pair of both clocks */
	uint64_t timed;
	uint32_t at;
	uint32_t number;
};

struct gt_written_reader gt_written_read(const struct gt_written *written,
                                         const struct gt_written_chunk *chunk,
                                         double cycles_per_ns);

/* False at the end. */
bool gt_written_next(struct gt_written_reader *reader, struct gt_written_step *step);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_DEVICE_EVENTS_BUILDER_H
#define GT_COLLECTOR_DEVICE_EVENTS_BUILDER_H

#include <stddef.h>
#include <stdint.h>

#include "collector/device_events/kernels.h"
#include "collector/device_events/ticks.h"
#include "collector/device_events/written.h"
#include "collector/stage.h"
#include "model/gpu/device_clocks.h"
#include "model/known.h"

/*
 * Rows of device events in the making: events of all captures in the order of their writers, and
 * the clocks of the capture at hand. For the stage device_events.
 */

/* Ranges of one writer that are open and may still be ended: more are left without an end. */
enum { GT_MOST_OPEN_EVENTS = 64 };

/* No event is so far from the readings that its time is told by: 100 days. */
#define GT_FAR_EVENT_NS ((gt_time)100 * 86400 * 1000000000)

/* An event on its way to its row, in the order of writers. */
struct gt_built_event {
	gt_time start_ns;
	gt_time end_ns;
	uint64_t value;
	uint32_t place;
	gt_id parent; /* among these; GT_NONE */
	gt_string name;
	uint32_t sequence;
	uint8_t kind;
	uint8_t flags;
};

/* Where a chunk was written. */
struct gt_built_place {
	uint64_t ticket;
	uint32_t launch;
	uint32_t sm;
	uint32_t block;
	uint32_t thread;
};

/* Who wrote a launch's events, besides what its kernel is told by. */
struct gt_built_writer {
	gt_id process;
	gt_id device;
	uint64_t events; /* that were copied out, without those that have nothing but a time */
};

/* A GPU's clocks, as a process read them. */
struct gt_built_gpu {
	struct gt_device_clocks clocks;
	struct gt_rate usual;
	uint32_t step_ns;
};

struct gt_open_event {
	gt_id event;
	uint32_t name; /* its id */
};

/* A thread of a kernel on the way through what it wrote. */
struct gt_event_thread {
	const struct gt_written_chunk *chunk; /* at hand, NULL: before its first */
	uint32_t sequence;
	uint32_t open_count;
	struct gt_open_event open[GT_MOST_OPEN_EVENTS]; /* the innermost last */
};

struct gt_event_builder {
	struct gt_collection *collection;
	struct gt_trace *trace;
	gt_array(struct gt_built_event) events;
	gt_array(struct gt_built_place) places;
	gt_array(struct gt_device_launch) launches;
	gt_array(struct gt_built_writer) writers; /* of the launches */
	double *doubts_ns;                        /* by row of device_clocks */
	struct gt_ticks ticks;
	struct gt_known told; /* names that any process told, by id: the text */
	uint64_t work_left_ns;
	/* State of the capture at hand. */
	struct gt_capture *capture;
	struct gt_written written;
	struct gt_known names;     /* by id: the text */
	struct gt_built_gpu *gpus; /* by row of devices */
	size_t clocks_at;          /* its first row of device_clocks, if it has one */
	size_t first_launch;
	uint64_t uncalibrated;
	uint64_t impossible;
	/* State of the launch at hand. */
	const struct gt_built_gpu *gpu;
	struct gt_event_thread thread;
};

/* Rows of a context of CUPTI's number, and of its GPU; GT_NONE: not known. */
gt_id gt_event_context(const struct gt_event_builder *builder, uint32_t context);
gt_id gt_event_device(const struct gt_event_builder *builder, uint32_t context);

/* Clocks of the capture at hand. */
void gt_event_find_gpus(struct gt_event_builder *builder);

/* A clock that counts more than 100 cycles in a nanosecond, or less than one in 100, is none. */
double gt_event_cycles(const struct gt_built_gpu *gpu);

/* For a launch: of the clocks of its multiprocessors. */
void gt_event_fit_ticks(struct gt_event_builder *builder, const struct gt_written_launch *launch);

/* When it was, on the common timeline; 0: that cannot be. */
gt_time gt_event_time(struct gt_event_builder *builder, uint64_t clock);

/* A context whose ring told no counts before the process died gets those of its events. */
void gt_event_add_rings(struct gt_event_builder *builder);

/* Rows of all events, by time. */
void gt_event_add_rows(const struct gt_event_builder *builder);

/* The doubts add to the bounds of the clocks. */
void gt_event_widen_bounds(const struct gt_event_builder *builder);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_DEVICE_EVENTS_HOST_SIDE_H
#define GT_INJECTION_DEVICE_EVENTS_HOST_SIDE_H

#include <stdbool.h>
#include <stdint.h>

#include <cuda.h>

#include "include/gputrace/device_layout.h"
#include "injection/device_events/rings.h"

/*
 * A ring's memory of the host, which all that is copied goes through, and waiting for copies; for
 * the files of this folder alone.
 */

#define GT_DEVICE_WINDOW 512 /* chunks that are copied at once */

struct gt_device_seen {
	uint64_t ticket;
	uint8_t taken; /* events */
	bool known;    /* the chunk was seen with this ticket */
};

/* Readings that a kernel for the clock leaves: see clock.c. */
struct gt_device_time_slot {
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t step_ns; /* all bits: it went on by nothing */
	uint64_t padding;
};

struct gt_device_host {
	uint8_t ring[sizeof(struct gputrace_device_ring)];
	uint64_t address; /* what variables are set to */
	uint64_t padding[7];
	struct gt_device_time_slot times[GT_DEVICE_TIMES];
	uint8_t window[GT_DEVICE_WINDOW * GPUTRACE_DEVICE_CHUNK_BYTES];
	uint32_t states[]; /* as many as the ring has */
};

/* 0, or a negative errno value, with a sentence that begins with what. */
int gt_device_ring_check(const struct gt_device_ring *ring, CUresult code, const char *what,
                         struct gt_error *err);

/* A moment, between two looks. */
void gt_device_nap(void);

/* Until the stream has done all; 0, -EAGAIN when the time is over before, or what failed. */
int gt_device_ring_finish(const struct gt_device_ring *ring, CUstream stream, uint64_t limit_ns,
                          struct gt_error *err);

#endif

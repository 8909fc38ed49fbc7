/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_DEVICE_EVENTS_RINGS_H
#define GT_INJECTION_DEVICE_EVENTS_RINGS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <cuda.h>

struct gt_device_driver;
struct gt_device_host;
struct gt_device_seen;
struct gt_error;
struct gt_session;

/*
 * The ring of device events of one context: its memory on the GPU and on the host. All that is done
 * with it (copying.c, clock.c) happens on one thread of ours, with the context current there, on
 * streams of our own that wait for none of the program's.
 *
 * Nothing waits for the GPU without an end: where it does not come to a copy, which a kernel of the
 * program's can be the reason for, the copy is looked at again the next time.
 */

enum gt_device_phase {
	GT_DEVICE_RING_UNUSED,
	GT_DEVICE_RING_READY,
	GT_DEVICE_RING_FAILED, /* the context has none, or it cannot be used any more */
	GT_DEVICE_RING_GONE,   /* the context has ended: nothing of it may be touched */
};

#define GT_DEVICE_RINGS 16 /* contexts that have one at a time */
#define GT_DEVICE_TIMES 8  /* kernels for the clock that are under way at most */

struct gt_device_ring {
	_Atomic uint32_t phase; /* enum gt_device_phase: any thread may read it, */
	CUcontext handle;       /* and these where it is not UNUSED */
	uint32_t context;       /* CUPTI's context id */
	uint64_t address;       /* of the ring, on the GPU */
	/* The rest is our thread's. */
	CUdeviceptr memory; /* that it is in */
	struct gt_session *session;
	const struct gt_device_driver *driver;
	uint32_t flags; /* of the ring */
	uint32_t chunk_count;
	uint64_t chunks; /* addresses on the GPU */
	uint64_t states;
	CUstream copying;
	CUstream timing;
	struct gt_device_host *host; /* the host's, pinned: what is copied goes through it */
	uint64_t host_address;       /* the same as the GPU sees it */
	struct gt_device_seen *seen; /* what was taken of each chunk that is not free */
	bool is_under_way;           /* a copy that was given up is */
	uint32_t quiet;              /* times in a row that there was nothing new */
	bool has_open;               /* chunks, when it was last looked */
	uint64_t next;               /* as kernels counted when it was last looked */
	uint64_t lost;
	uint64_t overwritten;
	uint64_t dropped; /* events that were copied out and had no room in the recording */
	uint64_t written;
	CUfunction time_kernel; /* NULL: there is none */
	uint32_t times;         /* that are under way */
	uint32_t correlations[GT_DEVICE_TIMES];
	uint64_t timed_ns; /* when one was launched last, gt_now */
};

/*
 * Makes the ring of the current context, for which handle, context, session and driver are set: as
 * many bytes as wanted, or less where the GPU has less left. 0, or a negative errno value, and
 * nothing is left of it.
 */
int gt_device_ring_make(struct gt_device_ring *ring, uint64_t wanted_bytes, bool overwrites,
                        struct gt_error *err);

/* Writes the ring's address to a variable of a module; -EAGAIN: it may come later. */
int gt_device_ring_attach(struct gt_device_ring *ring, uint64_t variable, struct gt_error *err);

/* Records that the context of a ring is about to end, and the ring with it. Any thread. */
void gt_device_ring_leave(struct gt_session *session, uint32_t context);

/* Gives back what the context's end does not. */
void gt_device_ring_release(struct gt_device_ring *ring);

#endif

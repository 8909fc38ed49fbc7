/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_DEVICE_EVENTS_THREAD_H
#define GT_INJECTION_DEVICE_EVENTS_THREAD_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "injection/device_events/rings.h"
#include "injection/device_events/seen.h"
#include "injection/driver/device_driver.h"

struct gt_session;
struct gt_waiter;

/*
 * A thread of ours that makes rings, sets the variables that kernels find them in, and copies
 * events out; threads of the program ask it for that and wait a bounded time.
 */

#define GT_DEVICE_REQUESTS 16
#define GT_DEVICE_ATTACHED 512 /* variables that are known to be set */

enum gt_device_request_kind { GT_DEVICE_MAKE_RING, GT_DEVICE_ATTACH, GT_DEVICE_DRAIN };

/* A request of a program's thread to ours. */
struct gt_device_request {
	_Atomic uint32_t phase; /* enum request_phase of thread.c */
	enum gt_device_request_kind kind;
	CUcontext handle;
	uint32_t context; /* CUPTI's id */
	uint64_t variable;
	bool well; /* the answer */
	sem_t done;
};

enum gt_device_noted {
	GT_DEVICE_NOTED_LATE = 1,
	GT_DEVICE_NOTED_CONTEXTS = 2,
	GT_DEVICE_NOTED_DRIVER = 4
};

struct gt_device_events {
	_Atomic bool on;
	_Atomic uint32_t driver_phase; /* enum driver_phase of program_side.c */
	struct gt_device_driver driver;
	struct gt_device_functions functions;
	struct gt_device_request requests[GT_DEVICE_REQUESTS];
	sem_t work;              /* there is a request */
	_Atomic bool impatient;  /* our thread did not answer in time once */
	_Atomic uint32_t noted;  /* enum gt_device_noted, each once */
	_Atomic uint32_t ending; /* calls that end contexts are under way: rings are left alone */
	_Atomic bool busy;       /* our thread is at one */
	_Atomic bool unloaded;   /* a module was, since variables were last forgotten */
	struct gt_device_ring rings[GT_DEVICE_RINGS];
	/* Our thread's: */
	uint64_t attached[GT_DEVICE_ATTACHED]; /* addresses of variables, by their lower bits */
	uint64_t copied_ns;                    /* gt_now */
	char said[256];                        /* the last note, which is not said twice */
};

/* Says it once. */
void gt_device_events_note_once(struct gt_session *session, struct gt_device_events *events,
                                enum gt_device_noted what, const char *text);

/* The ring of a context, if it is made or failed; NULL: there is none. Any thread. */
static inline struct gt_device_ring *gt_device_events_find_ring(struct gt_device_events *events,
                                                                CUcontext handle)
{
	for (size_t i = 0; i < GT_DEVICE_RINGS; i++) {
		struct gt_device_ring *ring = &events->rings[i];
		/* Pairs with the release in thread.c, settle. */
		const uint32_t phase = atomic_load_explicit(&ring->phase, memory_order_acquire);

		if ((phase == GT_DEVICE_RING_READY || phase == GT_DEVICE_RING_FAILED) &&
		    ring->handle == handle)
			return ring;
	}
	return NULL;
}

static inline bool gt_device_ring_is_ready(const struct gt_device_ring *ring)
{
	return ring &&
	       atomic_load_explicit(&ring->phase, memory_order_acquire) == GT_DEVICE_RING_READY;
}

/* ---- our thread ---- */

void gt_device_events_run(struct gt_session *session, struct gt_device_events *events,
                          struct gt_waiter *waiter);

/* ---- threads of the program ---- */

/* Has our thread do something; true when it has, and well. */
bool gt_device_events_ask(struct gt_session *session, struct gt_device_events *events,
                          const struct gt_device_request *wanted, uint64_t limit_ns);

/* The same with the patience of a launch. */
bool gt_device_events_ask_patiently(struct gt_session *session, struct gt_device_events *events,
                                    const struct gt_device_request *wanted);

#endif

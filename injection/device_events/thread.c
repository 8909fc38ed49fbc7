/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/device_events/thread.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "include/gputrace/device_layout.h"
#include "injection/device_events/clock.h"
#include "injection/device_events/copying.h"
#include "injection/process/wait.h"
#include "injection/session/services.h"
#include "injection/session/source.h"

#define ANSWER_NS    1000000000u /* that a thread of the program waits for our thread */
#define IMPATIENT_NS 1000000u    /* the same, once that was not enough */
#define PAUSE_NS     10000000u   /* after which our thread looks whether it is to end */
#define TIME_NS      1000000000u /* between two kernels for the clock */

/* FREE -> FILLING -> ASKED -> DONE -> FREE; who asked may leave before it is done. */
enum request_phase { FREE, FILLING, ASKED, DONE, LEFT };

extern const struct gt_source gt_source_device_events;

void gt_device_events_note_once(struct gt_session *session, struct gt_device_events *events,
                                enum gt_device_noted what, const char *text)
{
	if (!(atomic_fetch_or_explicit(&events->noted, what, memory_order_relaxed) & what))
		gt_note(session, "device_events", text);
}

/* ---- rings ---- */

static void say(struct gt_session *session, struct gt_device_events *events, const char *text)
{
	if (strncmp(events->said, text, sizeof(events->said) - 1) == 0)
		return;
	(void)snprintf(events->said, sizeof(events->said), "%s", text);
	gt_note(session, "device_events", text);
}

/*
 * Begins work on a ring, with its context current; false: the context is about to end, or has.
 * Whoever ends one says so first and then looks whether we are at it, and this the other way round.
 */
static bool begin_work(struct gt_device_events *events, CUcontext handle,
                       const struct gt_device_ring *ring)
{
	atomic_store(&events->busy, true);
	if (atomic_load(&events->ending) == 0 &&
	    (!ring || atomic_load(&ring->phase) != GT_DEVICE_RING_GONE) &&
	    events->driver.context_push(handle) == CUDA_SUCCESS)
		return true;
	atomic_store(&events->busy, false);
	return false;
}

static void end_work(struct gt_device_events *events)
{
	CUcontext handle;

	(void)events->driver.context_pop(&handle);
	atomic_store(&events->busy, false);
}

/* A ring that failed is not tried again; a context that ended meanwhile has none. */
static void settle(struct gt_device_ring *ring, enum gt_device_phase phase)
{
	uint32_t before = atomic_load_explicit(&ring->phase, memory_order_relaxed);

	/* Pairs with the acquires in find_ring and is_ready. */
	while (before != GT_DEVICE_RING_GONE &&
	       !atomic_compare_exchange_weak_explicit(&ring->phase, &before, phase,
	                                              memory_order_release, memory_order_relaxed))
		;
}

static void fail(struct gt_session *session, struct gt_device_events *events,
                 struct gt_device_ring *ring, const char *why)
{
	gt_count(session, GT_LEDGER_sources_failed, 1);
	say(session, events, why);
	settle(ring, GT_DEVICE_RING_FAILED);
}

/* A place for a ring; what is left of a context that has ended is given back. */
static struct gt_device_ring *free_ring(struct gt_device_events *events)
{
	for (size_t i = 0; i < GT_DEVICE_RINGS; i++) {
		struct gt_device_ring *ring = &events->rings[i];
		const uint32_t phase = atomic_load_explicit(&ring->phase, memory_order_acquire);

		if (phase != GT_DEVICE_RING_UNUSED && phase != GT_DEVICE_RING_GONE)
			continue;
		gt_device_ring_release(ring);
		*ring = (struct gt_device_ring){.phase = GT_DEVICE_RING_UNUSED};
		return ring;
	}
	return NULL;
}

/* With the context current. */
static void make(struct gt_session *session, struct gt_device_events *events,
                 struct gt_device_ring *ring)
{
	const struct gt_settings *settings = gt_settings_of(session);
	struct gt_error err = {0};

	if (gt_device_ring_make(ring, settings->device_events_bytes, settings->device_events_last,
	                        &err) < 0) {
		fail(session, events, ring, err.text);
		return;
	}
	if ((uint64_t)ring->chunk_count * 2 * GPUTRACE_DEVICE_CHUNK_BYTES <=
	    settings->device_events_bytes)
		say(session, events,
		    "the GPU had less memory left for device events than was asked for: a smaller "
		    "ring loses events earlier");
	settle(ring, GT_DEVICE_RING_READY);
	if (gt_device_ring_time(ring, GT_DEVICE_TIMES, &err) < 0)
		say(session, events, err.text);
}

static struct gt_device_ring *ring_for(struct gt_session *session, struct gt_device_events *events,
                                       const struct gt_device_request *request)
{
	struct gt_device_ring *ring = gt_device_events_find_ring(events, request->handle);

	if (ring)
		return ring;
	ring = free_ring(events);
	if (!ring) {
		gt_device_events_note_once(
			session, events, GT_DEVICE_NOTED_CONTEXTS,
			"the program has more than 16 contexts with device events at a time: "
			"others have none");
		return NULL;
	}
	ring->handle = request->handle;
	ring->context = request->context;
	ring->session = session;
	ring->driver = &events->driver;
	make(session, events, ring);
	return ring;
}

static bool attach(struct gt_session *session, struct gt_device_events *events,
                   struct gt_device_ring *ring, uint64_t variable)
{
	uint64_t *known = &events->attached[variable / sizeof(uint64_t) % GT_DEVICE_ATTACHED];
	struct gt_error err = {0};
	int result;

	if (atomic_exchange_explicit(&events->unloaded, false, memory_order_relaxed))
		memset(events->attached, 0, sizeof(events->attached));
	if (*known == variable)
		return true;
	result = gt_device_ring_attach(ring, variable, &err);
	if (result == -EAGAIN)
		say(session, events, err.text);
	else if (result < 0)
		fail(session, events, ring, err.text);
	*known = result == 0 || result == -EAGAIN ? variable : 0;
	return result == 0;
}

/* ---- copying out ---- */

static void copy(struct gt_session *session, struct gt_device_events *events,
                 struct gt_device_ring *ring, bool last)
{
	struct gt_error err = {0};
	const int result = gt_device_ring_copy(ring, last, &err);

	if (result == -EAGAIN && last)
		say(session, events,
		    "what kernels wrote last is not known: the GPU did not come to copy it out in "
		    "time");
	else if (result < 0 && result != -EAGAIN)
		fail(session, events, ring, err.text);
}

static void look_after(struct gt_session *session, struct gt_device_events *events,
                       struct gt_device_ring *ring, bool last)
{
	struct gt_error err = {0};

	if (!gt_device_ring_is_ready(ring) || !begin_work(events, ring->handle, ring))
		return;
	if (last)
		gt_device_ring_end_times(ring);
	else if (gt_device_ring_time(ring, gt_now() - ring->timed_ns >= TIME_NS, &err) < 0)
		say(session, events, err.text);
	copy(session, events, ring, last);
	end_work(events);
}

static void look_after_all(struct gt_session *session, struct gt_device_events *events, bool last)
{
	for (size_t i = 0; i < GT_DEVICE_RINGS; i++)
		look_after(session, events, &events->rings[i], last);
	events->copied_ns = gt_now();
}

/* ---- requests ---- */

static bool answer(struct gt_session *session, struct gt_device_events *events,
                   const struct gt_device_request *request)
{
	struct gt_device_ring *ring;
	bool well = false;

	if (request->kind == GT_DEVICE_DRAIN) {
		look_after_all(session, events, true);
		return true;
	}
	if (!begin_work(events, request->handle, NULL))
		return false;
	ring = ring_for(session, events, request);
	if (gt_device_ring_is_ready(ring))
		well = request->kind == GT_DEVICE_MAKE_RING ||
		       attach(session, events, ring, request->variable);
	end_work(events);
	return well;
}

static void answer_all(struct gt_session *session, struct gt_device_events *events)
{
	for (size_t i = 0; i < GT_DEVICE_REQUESTS; i++) {
		struct gt_device_request *request = &events->requests[i];
		/* Pairs with the release in ask. */
		const uint32_t phase = atomic_load_explicit(&request->phase, memory_order_acquire);
		uint32_t asked = ASKED;

		if (phase != ASKED && phase != LEFT)
			continue;
		request->well = answer(session, events, request);
		/* Pairs with the acquire in ask. */
		if (atomic_compare_exchange_strong_explicit(&request->phase, &asked, DONE,
		                                            memory_order_release,
		                                            memory_order_relaxed))
			sem_post(&request->done);
		else
			atomic_store_explicit(&request->phase, FREE, memory_order_release);
	}
}

static bool is_due(struct gt_session *session, const struct gt_device_events *events)
{
	return gt_now() - events->copied_ns >= gt_settings_of(session)->device_events_interval_ns;
}

static uint64_t pause_of(struct gt_session *session)
{
	const uint64_t interval_ns = gt_settings_of(session)->device_events_interval_ns;

	return interval_ns < PAUSE_NS ? interval_ns : PAUSE_NS;
}

void gt_device_events_run(struct gt_session *session, struct gt_device_events *events,
                          struct gt_waiter *waiter)
{
	CUstreamCaptureMode relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;

	/* Else a capture that another thread began would forbid what this one does. */
	(void)events->driver.exchange_capture(&relaxed);
	gt_hold_last_flush(session);
	while (gt_wait_next(waiter, 0)) {
		(void)gt_wait(&events->work, pause_of(session));
		answer_all(session, events);
		if (is_due(session, events))
			look_after_all(session, events, false);
	}
	look_after_all(session, events, true);
	gt_release_last_flush(session);
}

/* ---- threads of the program ---- */

static struct gt_device_request *free_request(struct gt_device_events *events)
{
	for (size_t i = 0; i < GT_DEVICE_REQUESTS; i++) {
		uint32_t phase = FREE;

		if (atomic_compare_exchange_strong_explicit(&events->requests[i].phase, &phase,
		                                            FILLING, memory_order_acquire,
		                                            memory_order_relaxed))
			return &events->requests[i];
	}
	return NULL;
}

/* Waits for an answer; false where there is none in time, and our thread frees the request. */
static bool wait_for(struct gt_device_request *request, uint64_t limit_ns)
{
	uint32_t asked = ASKED;

	if (gt_wait(&request->done, limit_ns))
		return true;
	if (atomic_compare_exchange_strong_explicit(&request->phase, &asked, LEFT,
	                                            memory_order_relaxed, memory_order_relaxed))
		return false;
	(void)gt_wait(&request->done, limit_ns); /* it has been posted just now, or will be */
	return true;
}

/* Has our thread do something; true when it has, and well. */
bool gt_device_events_ask(struct gt_session *session, struct gt_device_events *events,
                          const struct gt_device_request *wanted, uint64_t limit_ns)
{
	struct gt_device_request *request = free_request(events);
	bool well;

	if (!request)
		return false;
	request->kind = wanted->kind;
	request->handle = wanted->handle;
	request->context = wanted->context;
	request->variable = wanted->variable;
	/* Pairs with the acquire in answer_all. */
	atomic_store_explicit(&request->phase, ASKED, memory_order_release);
	gt_want_thread(session, &gt_source_device_events);
	sem_post(&events->work);
	if (!wait_for(request, limit_ns))
		return false;
	well = atomic_load_explicit(&request->phase, memory_order_acquire) == DONE && request->well;
	atomic_store_explicit(&request->phase, FREE, memory_order_release);
	return well;
}

/* The same with the patience of a launch. */
bool gt_device_events_ask_patiently(struct gt_session *session, struct gt_device_events *events,
                                    const struct gt_device_request *wanted)
{
	const bool impatient = atomic_load_explicit(&events->impatient, memory_order_relaxed);
	const uint64_t limit_ns = impatient ? IMPATIENT_NS : ANSWER_NS;
	const uint64_t began_ns = gt_now();

	if (gt_device_events_ask(session, events, wanted, limit_ns))
		return true;
	if (gt_now() - began_ns >= limit_ns) {
		atomic_store_explicit(&events->impatient, true, memory_order_relaxed);
		gt_device_events_note_once(
			session, events, GT_DEVICE_NOTED_LATE,
			"the first launches of a module may have run before their kernels were "
			"told where to write events");
	}
	return false;
}

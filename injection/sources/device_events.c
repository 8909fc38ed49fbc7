/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "include/gputrace/device_layout.h"
#include "injection/calls/api.h"
#include "injection/calls/launch.h"
#include "injection/cupti/cupti.h"
#include "injection/device_events/names.h"
#include "injection/device_events/rings.h"
#include "injection/device_events/seen.h"
#include "injection/driver/device_driver.h"
#include "injection/process/thread.h"
#include "injection/process/wait.h"
#include "injection/session/services.h"
#include "injection/session/session.h"
#include "injection/session/source.h"

/*
 * Events that kernels write into memory of the GPU (include/gputrace/device_layout.h). Off unless
 * GPUTRACE_DEVICE_EVENTS says how much of it.
 *
 * When the program is about to launch a function that was not seen before, its module is asked for
 * the variable that kernels find their ring in. Where there is none nothing else happens, ever.
 * Where there is one, a thread of ours makes the context's ring and sets the variable, and the
 * launch waits for that, a bounded time. It is done on that thread as what the program's own does
 * inside of a call of the driver's CUPTI would count as that call's. The same thread copies events
 * out, while the program runs and at its end.
 *
 * No lock is held while the driver is called or while anything is waited for without an end.
 */

#define REQUESTS     16
#define ATTACHED     512         /* variables that are known to be set */
#define ANSWER_NS    1000000000u /* that a thread of the program waits for our thread */
#define IMPATIENT_NS 1000000u    /* the same, once that was not enough */
#define DRAIN_NS     500000000u  /* that the end of a context waits for what is in its ring */
#define PAUSE_NS     10000000u   /* after which our thread looks whether it is to end */
#define TIME_NS      1000000000u /* between two kernels for the clock */
#define END_NS       5000000000u /* that copying out may hold up the end of the program */

enum driver_phase { UNOPENED, OPENING, OPEN, MISSING };

enum request_kind { MAKE_RING, ATTACH, DRAIN };

/* FREE -> FILLING -> ASKED -> DONE -> FREE; who asked may leave before it is done. */
enum request_phase { FREE, FILLING, ASKED, DONE, LEFT };

/* A request of a program's thread to ours. */
struct request {
	_Atomic uint32_t phase; /* enum request_phase */
	enum request_kind kind;
	CUcontext handle;
	uint32_t context; /* CUPTI's id */
	uint64_t variable;
	bool well; /* the answer */
	sem_t done;
};

enum noted { NOTED_LATE = 1, NOTED_CONTEXTS = 2, NOTED_DRIVER = 4 };

struct device_events {
	_Atomic bool on;
	_Atomic uint32_t driver_phase; /* enum driver_phase */
	struct gt_device_driver driver;
	struct gt_device_functions functions;
	struct request requests[REQUESTS];
	sem_t work;              /* there is a request */
	_Atomic bool impatient;  /* our thread did not answer in time once */
	_Atomic uint32_t noted;  /* enum noted, each once */
	_Atomic uint32_t ending; /* calls that end contexts are under way: rings are left alone */
	_Atomic bool busy;       /* our thread is at one */
	_Atomic bool unloaded;   /* a module was, since variables were last forgotten */
	struct gt_device_ring rings[GT_DEVICE_RINGS];
	/* Our thread's: */
	uint64_t attached[ATTACHED]; /* addresses of variables, by their lower bits */
	uint64_t copied_ns;          /* gt_now */
	char said[256];              /* the last note, which is not said twice */
};

extern const struct gt_source gt_source_device_events;

/* ---- on both sides ---- */

static void note_once(struct gt_session *session, struct device_events *events, enum noted what,
                      const char *text)
{
	if (!(atomic_fetch_or_explicit(&events->noted, what, memory_order_relaxed) & what))
		gt_note(session, "device_events", text);
}

static struct gt_device_ring *find_ring(struct device_events *events, CUcontext handle)
{
	for (size_t i = 0; i < GT_DEVICE_RINGS; i++) {
		struct gt_device_ring *ring = &events->rings[i];
		/* Pairs with the release in settle. */
		const uint32_t phase = atomic_load_explicit(&ring->phase, memory_order_acquire);

		if ((phase == GT_DEVICE_RING_READY || phase == GT_DEVICE_RING_FAILED) &&
		    ring->handle == handle)
			return ring;
	}
	return NULL;
}

static bool is_ready(const struct gt_device_ring *ring)
{
	return ring &&
	       atomic_load_explicit(&ring->phase, memory_order_acquire) == GT_DEVICE_RING_READY;
}

/* Whoever is first opens it; others go without until it is open. */
static const struct gt_device_driver *driver_of(struct gt_session *session,
                                                struct device_events *events)
{
	uint32_t phase = UNOPENED;
	struct gt_error err = {0};

	if (atomic_compare_exchange_strong_explicit(&events->driver_phase, &phase, OPENING,
	                                            memory_order_acquire, memory_order_acquire)) {
		phase = gt_device_driver_open(&events->driver, &err) == 0 ? OPEN : MISSING;
		/* Pairs with the acquire above. */
		atomic_store_explicit(&events->driver_phase, phase, memory_order_release);
		if (phase == MISSING) {
			gt_count(session, GT_LEDGER_sources_failed, 1);
			note_once(session, events, NOTED_DRIVER, err.text);
			atomic_store_explicit(&events->on, false, memory_order_relaxed);
		}
	}
	return phase == OPEN ? &events->driver : NULL;
}

/* ---- our thread: rings ---- */

static void say(struct gt_session *session, struct device_events *events, const char *text)
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
static bool begin_work(struct device_events *events, CUcontext handle,
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

static void end_work(struct device_events *events)
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

static void fail(struct gt_session *session, struct device_events *events,
                 struct gt_device_ring *ring, const char *why)
{
	gt_count(session, GT_LEDGER_sources_failed, 1);
	say(session, events, why);
	settle(ring, GT_DEVICE_RING_FAILED);
}

/* A place for a ring; what is left of a context that has ended is given back. */
static struct gt_device_ring *free_ring(struct device_events *events)
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
static void make(struct gt_session *session, struct device_events *events,
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

static struct gt_device_ring *ring_for(struct gt_session *session, struct device_events *events,
                                       const struct request *request)
{
	struct gt_device_ring *ring = find_ring(events, request->handle);

	if (ring)
		return ring;
	ring = free_ring(events);
	if (!ring) {
		note_once(session, events, NOTED_CONTEXTS,
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

static bool attach(struct gt_session *session, struct device_events *events,
                   struct gt_device_ring *ring, uint64_t variable)
{
	uint64_t *known = &events->attached[variable / sizeof(uint64_t) % ATTACHED];
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

/* ---- our thread: copying out ---- */

static void copy(struct gt_session *session, struct device_events *events,
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

static void look_after(struct gt_session *session, struct device_events *events,
                       struct gt_device_ring *ring, bool last)
{
	struct gt_error err = {0};

	if (!is_ready(ring) || !begin_work(events, ring->handle, ring))
		return;
	if (last)
		gt_device_ring_end_times(ring);
	else if (gt_device_ring_time(ring, gt_now() - ring->timed_ns >= TIME_NS, &err) < 0)
		say(session, events, err.text);
	copy(session, events, ring, last);
	end_work(events);
}

static void look_after_all(struct gt_session *session, struct device_events *events, bool last)
{
	for (size_t i = 0; i < GT_DEVICE_RINGS; i++)
		look_after(session, events, &events->rings[i], last);
	events->copied_ns = gt_now();
}

/* ---- our thread: requests ---- */

static bool answer(struct gt_session *session, struct device_events *events,
                   const struct request *request)
{
	struct gt_device_ring *ring;
	bool well = false;

	if (request->kind == DRAIN) {
		look_after_all(session, events, true);
		return true;
	}
	if (!begin_work(events, request->handle, NULL))
		return false;
	ring = ring_for(session, events, request);
	if (is_ready(ring))
		well = request->kind == MAKE_RING ||
		       attach(session, events, ring, request->variable);
	end_work(events);
	return well;
}

static void answer_all(struct gt_session *session, struct device_events *events)
{
	for (size_t i = 0; i < REQUESTS; i++) {
		struct request *request = &events->requests[i];
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

static bool is_due(struct gt_session *session, const struct device_events *events)
{
	return gt_now() - events->copied_ns >= gt_settings_of(session)->device_events_interval_ns;
}

static uint64_t pause_of(struct gt_session *session)
{
	const uint64_t interval_ns = gt_settings_of(session)->device_events_interval_ns;

	return interval_ns < PAUSE_NS ? interval_ns : PAUSE_NS;
}

static void run(struct gt_session *session, void *state, struct gt_waiter *waiter)
{
	struct device_events *events = state;
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

static struct request *free_request(struct device_events *events)
{
	for (size_t i = 0; i < REQUESTS; i++) {
		uint32_t phase = FREE;

		if (atomic_compare_exchange_strong_explicit(&events->requests[i].phase, &phase,
		                                            FILLING, memory_order_acquire,
		                                            memory_order_relaxed))
			return &events->requests[i];
	}
	return NULL;
}

/* Waits for an answer; false where there is none in time, and our thread frees the request. */
static bool wait_for(struct request *request, uint64_t limit_ns)
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
static bool ask(struct gt_session *session, struct device_events *events,
                const struct request *wanted, uint64_t limit_ns)
{
	struct request *request = free_request(events);
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
static bool ask_patiently(struct gt_session *session, struct device_events *events,
                          const struct request *wanted)
{
	const bool impatient = atomic_load_explicit(&events->impatient, memory_order_relaxed);
	const uint64_t limit_ns = impatient ? IMPATIENT_NS : ANSWER_NS;
	const uint64_t began_ns = gt_now();

	if (ask(session, events, wanted, limit_ns))
		return true;
	if (gt_now() - began_ns >= limit_ns) {
		atomic_store_explicit(&events->impatient, true, memory_order_relaxed);
		note_once(session, events, NOTED_LATE,
		          "the first launches of a module may have run before their kernels were "
		          "told where to write events");
	}
	return false;
}

/* Calls to the driver inside of a call of the program's are ours, and nobody hears of them. */
struct own_call {
	struct gt_set_aside calls;
	CUstreamCaptureMode mode;
};

static struct own_call begin_own(const struct gt_device_driver *driver)
{
	struct own_call before = {.mode = CU_STREAM_CAPTURE_MODE_RELAXED};

	gt_own_set_aside(&before.calls);
	(void)driver->exchange_capture(&before.mode);
	return before;
}

static void end_own(const struct gt_device_driver *driver, const struct own_call *before)
{
	CUstreamCaptureMode mode = before->mode;

	(void)driver->exchange_capture(&mode);
	gt_own_take_up(&before->calls);
}

/* The module of a function, or of a kernel of no context under the same type. */
static CUmodule module_of(const struct gt_device_driver *driver, CUfunction function)
{
	CUmodule module = NULL;

	if (driver->function_module(&module, function) == CUDA_SUCCESS)
		return module;
	if (driver->kernel_function(&function, (CUkernel)function) != CUDA_SUCCESS ||
	    driver->function_module(&module, function) != CUDA_SUCCESS)
		return NULL;
	return module;
}

/* Address of the variable in the module of the function; 0: it has none. */
static uint64_t variable_of(const struct gt_device_driver *driver, CUfunction function)
{
	const struct own_call before = begin_own(driver);
	CUmodule module = module_of(driver, function);
	CUdeviceptr variable = 0;
	size_t bytes = 0;

	if (!module ||
	    driver->module_global(&variable, &bytes, module, GPUTRACE_DEVICE_VARIABLE_NAME) !=
	            CUDA_SUCCESS ||
	    bytes != sizeof(uint64_t))
		variable = 0;
	end_own(driver, &before);
	return variable;
}

/* Whether asking once more for a ring of the context would change nothing. */
static bool is_hopeless(struct device_events *events, CUcontext handle)
{
	const struct gt_device_ring *ring = find_ring(events, handle);

	return atomic_load_explicit(&events->impatient, memory_order_relaxed) ||
	       atomic_load_explicit(&events->noted, memory_order_relaxed) & NOTED_CONTEXTS ||
	       (ring && !is_ready(ring));
}

/* A function that was not seen before. */
__attribute__((cold, noinline)) static void meet(struct gt_session *session,
                                                 struct device_events *events, CUfunction function,
                                                 const CUpti_CallbackData *data)
{
	const struct gt_device_driver *driver = driver_of(session, events);
	struct request request = {
		.kind = ATTACH, .handle = data->context, .context = data->contextUid};

	if (!driver || !data->context)
		return;
	request.variable = variable_of(driver, function);
	if (!request.variable || ask_patiently(session, events, &request) ||
	    is_hopeless(events, data->context))
		gt_device_functions_add(&events->functions, function, data->context);
}

static uint32_t context_id(const struct gt_session *session, CUcontext handle)
{
	const struct gt_cupti *cupti = gt_cupti_of(session);
	uint32_t context = 0;

	if (!cupti->cuptiGetContextId ||
	    cupti->cuptiGetContextId(handle, &context) != CUPTI_SUCCESS)
		return 0;
	return context;
}

uint64_t gt_device_ring_of_thread(struct gt_session *session)
{
	struct device_events *events = gt_is_recording(session)
	                                       ? gt_source_state(session, &gt_source_device_events)
	                                       : NULL;
	const struct gt_device_driver *driver;
	const struct gt_device_ring *ring;
	struct request request = {.kind = MAKE_RING};
	struct own_call before;

	if (!events || !atomic_load_explicit(&events->on, memory_order_acquire))
		return 0;
	driver = driver_of(session, events);
	if (!driver)
		return 0;
	before = begin_own(driver);
	(void)driver->context_current(&request.handle);
	end_own(driver, &before);
	if (!request.handle)
		return 0;
	ring = find_ring(events, request.handle);
	if (!ring) {
		request.context = context_id(session, request.handle);
		(void)ask_patiently(session, events, &request);
		ring = find_ring(events, request.handle);
	}
	return is_ready(ring) ? ring->address : 0;
}

/* ---- callbacks ---- */

static bool has_rings(const struct device_events *events)
{
	for (size_t i = 0; i < GT_DEVICE_RINGS; i++)
		if (is_ready(&events->rings[i]))
			return true;
	return false;
}

static void wait_until_idle(const struct device_events *events)
{
	const uint64_t began_ns = gt_now();
	const struct timespec nap = {0, 20000};

	while (atomic_load(&events->busy) && gt_now() - began_ns < DRAIN_NS)
		(void)nanosleep(&nap, NULL);
}

/* The contents of rings are copied out, and then nobody is at them until the call has returned. */
static void *enter_end(struct gt_session *session, struct device_events *events)
{
	const struct request request = {.kind = DRAIN};

	if (!has_rings(events))
		return NULL;
	(void)ask(session, events, &request, DRAIN_NS);
	atomic_fetch_add(&events->ending, 1);
	wait_until_idle(events);
	return &events->ending;
}

static void *enter(struct gt_session *session, void *state, struct gt_call call)
{
	struct device_events *events = state;
	const int saved = errno;
	CUfunction function = call.driver ? gt_launch_function(call.id, call.data) : NULL;
	void *kept = NULL;

	if (!atomic_load_explicit(&events->on, memory_order_relaxed))
		return NULL;
	if (function) {
		if (!gt_device_functions_has(&events->functions, function, call.data->context))
			meet(session, events, function, call.data);
	} else if (gt_api_call_ends_context(call.data->functionName)) {
		kept = enter_end(session, events);
	}
	errno = saved;
	return kept;
}

static void leave(struct gt_session *session, void *state, struct gt_call call, void *kept)
{
	struct device_events *events = state;

	(void)session;
	(void)call;
	if (kept == &events->ending)
		atomic_fetch_sub(&events->ending, 1);
}

/* A context ends: its memory goes with it. A module ends: another may get its addresses. */
static void event(struct gt_session *session, void *state, CUpti_CallbackDomain domain,
                  CUpti_CallbackId id, const void *data, void *kept)
{
	const CUpti_ResourceData *resource = data;
	struct device_events *events = state;
	struct gt_device_ring *ring;

	(void)domain;
	(void)kept;
	gt_device_functions_forget(&events->functions);
	atomic_store_explicit(&events->unloaded, true, memory_order_relaxed);
	if (id != CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING)
		return;
	ring = find_ring(events, resource->context);
	if (!ring)
		return;
	atomic_store(&ring->phase, GT_DEVICE_RING_GONE);
	wait_until_idle(events);
	if (ring->address)
		gt_device_ring_leave(session, ring->context);
}

/* ---- its life ---- */

/* NOLINTNEXTLINE(readability-non-const-parameter): as gt_source has it */
static int start(struct gt_session *session, void *state, struct gt_error *err)
{
	struct device_events *events = state;

	(void)err;
	if (gt_settings_of(session)->device_events_bytes == 0)
		return 0;
	gt_device_names_start(session);
	sem_init(&events->work, 0, 0);
	for (size_t i = 0; i < REQUESTS; i++)
		sem_init(&events->requests[i].done, 0, 0);
	return 0;
}

static void want(struct gt_session *session, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                 const char *name)
{
	if (gt_api_call_ends_context(name) ||
	    (domain == CUPTI_CB_DOMAIN_DRIVER_API && gt_launch_names_kernel(id)))
		gt_want(session, domain, id);
}

static void cuda_starts(struct gt_session *session, void *state)
{
	struct device_events *events = state;

	if (gt_settings_of(session)->device_events_bytes == 0)
		return;
	gt_each_call(session, want);
	gt_want(session, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
	gt_want(session, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING);
	/* Pairs with the acquire in gt_device_ring_of_thread. */
	atomic_store_explicit(&events->on, true, memory_order_release);
}

const struct gt_source gt_source_device_events = {
	.name = "device_events",
	.state_size = sizeof(struct device_events),
	.alone = true,
	.start = start,
	.cuda_starts = cuda_starts,
	.run = run,
	.runs_when_asked = true,
	.end_ns = END_NS,
	.hears = {.enter = enter, .leave = leave, .event = event},
	.forget = gt_device_names_forget,
};

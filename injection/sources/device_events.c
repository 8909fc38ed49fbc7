/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/error.h"
#include "include/gputrace/device_layout.h"
#include "injection/calls/api.h"
#include "injection/calls/launch.h"
#include "injection/cupti/cupti.h"
#include "injection/device_events/names.h"
#include "injection/device_events/program_side.h"
#include "injection/device_events/rings.h"
#include "injection/device_events/seen.h"
#include "injection/device_events/thread.h"
#include "injection/driver/device_driver.h"
#include "injection/session/services.h"
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

#define DRAIN_NS 500000000u  /* that the end of a context waits for what is in its ring */
#define END_NS   5000000000u /* that copying out may hold up the end of the program */

/* ---- threads of the program ---- */

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
	const struct gt_device_own_call before = gt_device_own_begin(driver);
	CUmodule module = module_of(driver, function);
	CUdeviceptr variable = 0;
	size_t bytes = 0;

	if (!module ||
	    driver->module_global(&variable, &bytes, module, GPUTRACE_DEVICE_VARIABLE_NAME) !=
	            CUDA_SUCCESS ||
	    bytes != sizeof(uint64_t))
		variable = 0;
	gt_device_own_end(driver, &before);
	return variable;
}

/* Whether asking once more for a ring of the context would change nothing. */
static bool is_hopeless(struct gt_device_events *events, CUcontext handle)
{
	const struct gt_device_ring *ring = gt_device_events_find_ring(events, handle);

	return atomic_load_explicit(&events->impatient, memory_order_relaxed) ||
	       atomic_load_explicit(&events->noted, memory_order_relaxed) &
	               GT_DEVICE_NOTED_CONTEXTS ||
	       (ring && !gt_device_ring_is_ready(ring));
}

/* A function that was not seen before. */
__attribute__((cold, noinline)) static void meet(struct gt_session *session,
                                                 struct gt_device_events *events,
                                                 CUfunction function,
                                                 const CUpti_CallbackData *data)
{
	const struct gt_device_driver *driver = gt_device_events_driver(session, events);
	struct gt_device_request request = {
		.kind = GT_DEVICE_ATTACH, .handle = data->context, .context = data->contextUid};

	if (!driver || !data->context)
		return;
	request.variable = variable_of(driver, function);
	if (!request.variable || gt_device_events_ask_patiently(session, events, &request) ||
	    is_hopeless(events, data->context))
		gt_device_functions_add(&events->functions, function, data->context);
}

/* ---- callbacks ---- */

static bool has_rings(const struct gt_device_events *events)
{
	for (size_t i = 0; i < GT_DEVICE_RINGS; i++)
		if (gt_device_ring_is_ready(&events->rings[i]))
			return true;
	return false;
}

static void wait_until_idle(const struct gt_device_events *events)
{
	const uint64_t began_ns = gt_now();
	const struct timespec nap = {0, 20000};

	while (atomic_load(&events->busy) && gt_now() - began_ns < DRAIN_NS)
		(void)nanosleep(&nap, NULL);
}

/* The contents of rings are copied out, and then nobody is at them until the call has returned. */
static void *enter_end(struct gt_session *session, struct gt_device_events *events)
{
	const struct gt_device_request request = {.kind = GT_DEVICE_DRAIN};

	if (!has_rings(events))
		return NULL;
	(void)gt_device_events_ask(session, events, &request, DRAIN_NS);
	atomic_fetch_add(&events->ending, 1);
	wait_until_idle(events);
	return &events->ending;
}

static void *enter(struct gt_session *session, void *state, struct gt_call call)
{
	struct gt_device_events *events = state;
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
	struct gt_device_events *events = state;

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
	struct gt_device_events *events = state;
	struct gt_device_ring *ring;

	(void)domain;
	(void)kept;
	gt_device_functions_forget(&events->functions);
	atomic_store_explicit(&events->unloaded, true, memory_order_relaxed);
	if (id != CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING)
		return;
	ring = gt_device_events_find_ring(events, resource->context);
	if (!ring)
		return;
	atomic_store(&ring->phase, GT_DEVICE_RING_GONE);
	wait_until_idle(events);
	if (ring->address)
		gt_device_ring_leave(session, ring->context);
}

/* ---- its life ---- */

static void run(struct gt_session *session, void *state, struct gt_waiter *waiter)
{
	gt_device_events_run(session, state, waiter);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as gt_source has it */
static int start(struct gt_session *session, void *state, struct gt_error *err)
{
	struct gt_device_events *events = state;

	(void)err;
	if (gt_settings_of(session)->device_events_bytes == 0)
		return 0;
	gt_device_names_start(session);
	gt_share(session, GT_SHARED_DEVICE_EVENTS, events);
	sem_init(&events->work, 0, 0);
	for (size_t i = 0; i < GT_DEVICE_REQUESTS; i++)
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
	struct gt_device_events *events = state;

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
	.state_size = sizeof(struct gt_device_events),
	.alone = true,
	.start = start,
	.cuda_starts = cuda_starts,
	.run = run,
	.runs_when_asked = true,
	.end_ns = END_NS,
	.hears = {.enter = enter, .leave = leave, .event = event},
	.forget = gt_device_names_forget,
};

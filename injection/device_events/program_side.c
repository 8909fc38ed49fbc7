/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/device_events/program_side.h"

#include "base/error.h"
#include "injection/cupti/cupti.h"

enum driver_phase { UNOPENED, OPENING, OPEN, MISSING };

const struct gt_device_driver *gt_device_events_driver(struct gt_session *session,
                                                       struct gt_device_events *events)
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
			gt_device_events_note_once(session, events, GT_DEVICE_NOTED_DRIVER,
			                           err.text);
			atomic_store_explicit(&events->on, false, memory_order_relaxed);
		}
	}
	return phase == OPEN ? &events->driver : NULL;
}

struct gt_device_own_call gt_device_own_begin(const struct gt_device_driver *driver)
{
	struct gt_device_own_call before = {.mode = CU_STREAM_CAPTURE_MODE_RELAXED};

	gt_own_set_aside(&before.calls);
	(void)driver->exchange_capture(&before.mode);
	return before;
}

void gt_device_own_end(const struct gt_device_driver *driver,
                       const struct gt_device_own_call *before)
{
	CUstreamCaptureMode mode = before->mode;

	(void)driver->exchange_capture(&mode);
	gt_own_take_up(&before->calls);
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
	struct gt_device_events *events =
		gt_is_recording(session) ? gt_shared(session, GT_SHARED_DEVICE_EVENTS) : NULL;
	const struct gt_device_driver *driver;
	const struct gt_device_ring *ring;
	struct gt_device_request request = {.kind = GT_DEVICE_MAKE_RING};
	struct gt_device_own_call before;

	if (!events || !atomic_load_explicit(&events->on, memory_order_acquire))
		return 0;
	driver = gt_device_events_driver(session, events);
	if (!driver)
		return 0;
	before = gt_device_own_begin(driver);
	(void)driver->context_current(&request.handle);
	gt_device_own_end(driver, &before);
	if (!request.handle)
		return 0;
	ring = gt_device_events_find_ring(events, request.handle);
	if (!ring) {
		request.context = context_id(session, request.handle);
		(void)gt_device_events_ask_patiently(session, events, &request);
		ring = gt_device_events_find_ring(events, request.handle);
	}
	return gt_device_ring_is_ready(ring) ? ring->address : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_DEVICE_EVENTS_PROGRAM_SIDE_H
#define GT_INJECTION_DEVICE_EVENTS_PROGRAM_SIDE_H

#include <stdint.h>

#include <cuda.h>

#include "injection/device_events/thread.h"
#include "injection/session/services.h"

/* Device events as threads of the program meet them, in calls of its own. */

/* The driver's functions, which whoever is first opens; NULL: not yet, or there are none. */
const struct gt_device_driver *gt_device_events_driver(struct gt_session *session,
                                                       struct gt_device_events *events);

/* Around calls to the driver that are ours, inside of one of the program's: nobody hears of them. */
struct gt_device_own_call {
	struct gt_set_aside calls;
	CUstreamCaptureMode mode;
};

struct gt_device_own_call gt_device_own_begin(const struct gt_device_driver *driver);
void gt_device_own_end(const struct gt_device_driver *driver,
                       const struct gt_device_own_call *before);

/*
 * Device address of the ring of the context that is current on the calling thread, which is made if
 * need be; 0: there is none, or device events are not recorded.
 */
uint64_t gt_device_ring_of_thread(struct gt_session *session);

#endif

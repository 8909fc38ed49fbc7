/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_DEVICE_RINGS_H
#define GT_INJECTION_DEVICE_RINGS_H

#include <stdint.h>

struct gt_session;

/*
 * Device address of the ring of the context that is current on the calling thread, which is made if
 * need be; 0: there is none, or device events are not recorded.
 */
uint64_t gt_device_ring_of_thread(struct gt_session *session);

#endif

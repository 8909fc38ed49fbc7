/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/device_events/host_side.h"

#include <errno.h>
#include <time.h>

#include "base/error.h"
#include "injection/driver/device_driver.h"
#include "injection/process/now.h"

#define NAP_NS 20000

int gt_device_ring_check(const struct gt_device_ring *ring, CUresult code, const char *what,
                         struct gt_error *err)
{
	return gt_device_driver_check(ring->driver, code, what, err);
}

void gt_device_nap(void)
{
	const struct timespec time = {0, NAP_NS};

	(void)nanosleep(&time, NULL);
}

/* Until the stream has done all; 0, -EAGAIN when the time is over before, or what failed. */
int gt_device_ring_finish(const struct gt_device_ring *ring, CUstream stream, uint64_t limit_ns,
                          struct gt_error *err)
{
	const uint64_t began_ns = gt_now();
	CUresult code;

	while ((code = ring->driver->stream_query(stream)) == CUDA_ERROR_NOT_READY) {
		if (gt_now() - began_ns > limit_ns)
			return gt_fail(err, EAGAIN,
			               "the GPU did not come to a copy of device events in time");
		gt_device_nap();
	}
	return gt_device_ring_check(ring, code, "copies of device events", err);
}

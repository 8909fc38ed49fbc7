/* SPDX-License-Identifier: Apache-2.0 */
/* Another file of the same program. */
#include "include/gputrace/device.cuh"

GPUTRACE_DEVICE_NAME(other, "other");

extern "C" __global__ void second(float *out)
{
	gputrace::writer events(gputrace::leader::warp);
	gputrace::range range(events, other);

	*out = 1;
}

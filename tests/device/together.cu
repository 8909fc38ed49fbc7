/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that differ in how many events they make room for at once. */
#include "include/gputrace/device.cuh"

GPUTRACE_DEVICE_NAME(step, "step");
GPUTRACE_DEVICE_NAME(size, "size");

template <int count> __device__ __forceinline__ void write_marks(float *out, int rounds)
{
	gputrace::writer events(gputrace::leader::warp);
	float sum = 0;

#pragma unroll 1
	for (int i = 0; i < rounds; i++) {
		events.room(count);
#pragma unroll
		for (int j = 0; j < count; j++) {
			sum = sum * 1.5f + 1;
			events.mark(step);
		}
	}
	out[threadIdx.x] = sum;
}

/* Ranges inside of each other, with a value in each. */
template <int count> __device__ __forceinline__ void write_ranges(float *out, int rounds)
{
	gputrace::writer events(gputrace::leader::warp);
	float sum = 0;

#pragma unroll 1
	for (int i = 0; i < rounds; i++) {
		events.room(4 * count);
#pragma unroll
		for (int j = 0; j < count; j++) {
			events.begin(step);
			sum = sum * 1.5f + 1;
			events.value(size, j);
		}
#pragma unroll
		for (int j = 0; j < count; j++)
			events.end(step);
	}
	out[threadIdx.x] = sum;
}

extern "C" __global__ void marks_4(float *out, int rounds)
{
	write_marks<4>(out, rounds);
}

extern "C" __global__ void marks_20(float *out, int rounds)
{
	write_marks<20>(out, rounds);
}

extern "C" __global__ void ranges_1(float *out, int rounds)
{
	write_ranges<1>(out, rounds);
}

extern "C" __global__ void ranges_7(float *out, int rounds)
{
	write_ranges<7>(out, rounds);
}

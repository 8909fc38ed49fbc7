/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a warp stays together in a kernel without barriers when one of its threads writes device
 * events. Threads that go on while that one gets a chunk run ahead to the kernel's end, and it runs
 * all of that once more by itself: the kernel takes twice as long.
 *   device_lanes [TURNS]
 *
 * Prints key=value lines, of each kind of event: *_cycles, what the turns took the thread that
 * writes; *_apart_cycles, how much later than its neighbour it was at most.
 */
#include <algorithm>
#include <vector>

#include "include/gputrace/device.cuh"
#include "samples/check.h"

GPUTRACE_DEVICE_NAME(turn_name, "turn");

enum { OPERATIONS = 64, THREADS = 32, WATCHED = 2 };

enum kind { MARKS, RANGES, ROOM, VALUES };

/* at: when each of the first threads ended each turn, by its clock. */
template <enum kind kind> __global__ void turns(long long *at, float *out, unsigned count)
{
	gputrace::writer events(gputrace::leader::warp);
	float number = (float)threadIdx.x;

#pragma unroll 1
	for (unsigned i = 0; i < count; i++) {
		if (kind == ROOM)
			events.room(2);
		if (kind == RANGES || kind == ROOM)
			events.begin(turn_name);
#pragma unroll
		for (int step = 0; step < OPERATIONS; step++)
			asm volatile("fma.rn.f32 %0, %0, 0f3F000000, 0f3F800000;" : "+f"(number));
		if (kind == RANGES || kind == ROOM)
			events.end(turn_name);
		else if (kind == MARKS)
			events.mark(turn_name);
		else
			events.value(turn_name, i);
		if (threadIdx.x < WATCHED)
			at[threadIdx.x * count + i] = clock64();
	}
	out[threadIdx.x] = number;
}

template <enum kind kind> static void watch(const char *name, unsigned count)
{
	std::vector<long long> at(WATCHED * count);
	long long *device_at, apart = 0;
	float *out;

	CHECK(cudaMalloc((void **)&device_at, at.size() * sizeof(at[0])));
	CHECK(cudaMalloc((void **)&out, THREADS * sizeof(*out)));
	for (int i = 0; i < 2; i++) { /* the second one counts: its code is loaded */
		turns<kind><<<1, THREADS>>>(device_at, out, count);
		CHECK(cudaGetLastError());
		CHECK(cudaDeviceSynchronize());
	}
	CHECK(cudaMemcpy(at.data(), device_at, at.size() * sizeof(at[0]), cudaMemcpyDeviceToHost));
	CHECK(cudaFree(device_at));
	CHECK(cudaFree(out));
	for (unsigned i = 0; i < count; i++)
		apart = std::max(apart, at[i] - at[count + i]);
	printf("%s_cycles=%lld\n%s_apart_cycles=%lld\n", name, at[count - 1] - at[0], name, apart);
}

int main(int argc, char **argv)
{
	const unsigned count = (unsigned)argument(argc, argv, 1, 4000);

	watch<MARKS>("marks", count);
	watch<RANGES>("ranges", count);
	watch<ROOM>("room", count);
	watch<VALUES>("values", count);
	printf("turns=%u\nrecorded=%d\n", count, gputrace_device_ring() != NULL);
	return 0;
}

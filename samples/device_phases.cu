/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel in three phases, of which the first thread of each block tells, and which it measures
 * itself. To be recorded with `gputrace run --device-events`. Usage: device_phases [LAUNCHES]
 * [BLOCKS] [ROUNDS]
 */
#include "samples/check.h"
#include "samples/device_phases.cuh"

enum { WORK = 4096 };

static const char *const names[PHASES] = {"load", "compute", "store"};

int main(int argc, char **argv)
{
	const size_t launches = argument(argc, argv, 1, 10);
	const size_t blocks = argument(argc, argv, 2, 264);
	const size_t rounds = argument(argc, argv, 3, 32);
	const size_t bytes = blocks * rounds * PHASE_THREADS * PHASE_FLOATS * sizeof(float);
	struct phase_sums *sums;
	struct phase_sums result;
	float *in, *out;

	CHECK(cudaMalloc((void **)&in, bytes));
	CHECK(cudaMalloc((void **)&out, bytes));
	CHECK(cudaMalloc((void **)&sums, sizeof(*sums)));
	CHECK(cudaMemset(in, 0, bytes));
	CHECK(cudaMemset(sums, 0, sizeof(*sums)));
	for (size_t i = 0; i < launches; i++) {
		pipelined<true, true><<<(unsigned)blocks, PHASE_THREADS>>>(
			in, out, (unsigned)rounds, WORK, sums);
		CHECK(cudaGetLastError());
		CHECK(cudaDeviceSynchronize());
	}
	CHECK(cudaMemcpy(&result, sums, sizeof(result), cudaMemcpyDeviceToHost));
	CHECK(cudaFree(sums));
	CHECK(cudaFree(out));
	CHECK(cudaFree(in));
	printf("launches=%zu\nblocks=%zu\nrounds=%zu\n", launches, blocks, rounds);
	printf("events_a_launch=%zu\nfilled_a_launch=%zu\nranges_a_launch=%zu\n",
	       blocks * phase_events(rounds), blocks * phase_filled(rounds),
	       blocks * phase_ranges(rounds));
	for (int phase = 0; phase < PHASES; phase++)
		printf("%s_cycles=%llu\n%s_ns=%.0f\n", names[phase], result.cycles[phase],
		       names[phase],
		       (double)result.cycles[phase] * (double)result.kernel_ns /
		               (double)result.kernel_cycles);
	return result.kernel_cycles == 0;
}

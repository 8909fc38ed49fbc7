/* SPDX-License-Identifier: Apache-2.0 */
#include <cuda_fp16.h>

#include "replay/calibrate/kernels/kernel.cuh"

/* Memory, caches, arithmetic without tensor cores and launches: for every GPU. */

#define AT_ONCE 8 /* loads of a thread that are under way together */

static __device__ __forceinline__ uint4 load(const uint4 *from)
{
	uint4 value;

	asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
	             : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
	             : "l"(from));
	return value;
}

/*
 * Past the L1 cache. Each block reads what no other reads, so that nothing between a multiprocessor
 * and the L2 cache can answer for it. count is a multiple of 8 x threads of a block.
 */
KERNEL(gt_read)
{
	const struct spent begun = begin();
	const unsigned long long step = (unsigned long long)blockDim.x * AT_ONCE;
	unsigned sum = 0;

	for (unsigned round = 0; round < rounds; round++)
		for (unsigned long long at = blockIdx.x * step; at < count;
		     at += gridDim.x * step) {
			uint4 value[AT_ONCE];

#pragma unroll
			for (int i = 0; i < AT_ONCE; i++)
				value[i] = load(from + at + i * blockDim.x + threadIdx.x);
#pragma unroll
			for (int i = 0; i < AT_ONCE; i++)
				sum ^= value[i].x ^ value[i].y ^ value[i].z ^ value[i].w;
		}
	keep(sum, to);
	end(begun, spent);
}

KERNEL(gt_write)
{
	const struct spent begun = begin();
	const unsigned long long step = (unsigned long long)blockDim.x * AT_ONCE;

	for (unsigned round = 0; round < rounds; round++)
		for (unsigned long long at = blockIdx.x * step; at < count; at += gridDim.x * step)
#pragma unroll
			for (int i = 0; i < AT_ONCE; i++)
				to[at + i * blockDim.x + threadIdx.x] =
					make_uint4(round, threadIdx.x, i, blockIdx.x);
	end(begun, spent);
}

KERNEL(gt_copy)
{
	const struct spent begun = begin();
	const unsigned long long step = (unsigned long long)blockDim.x * AT_ONCE;

	for (unsigned round = 0; round < rounds; round++)
		for (unsigned long long at = blockIdx.x * step; at < count;
		     at += gridDim.x * step) {
			uint4 value[AT_ONCE];

#pragma unroll
			for (int i = 0; i < AT_ONCE; i++)
				value[i] = load(from + at + i * blockDim.x + threadIdx.x);
#pragma unroll
			for (int i = 0; i < AT_ONCE; i++)
				to[at + i * blockDim.x + threadIdx.x] = value[i];
		}
	end(begun, spent);
}

#define TILE  512 /* elements of a block in shared memory: 8 KiB */
#define READS 16  /* of a thread in a round, 16 bytes each */

/* A warp reads 512 bytes in a row at a time, which touches each bank as often as any other. */
KERNEL(gt_shared)
{
	__shared__ uint4 tile[TILE];
	const struct spent begun = begin();
	unsigned sum = 0;

	for (unsigned i = threadIdx.x; i < TILE; i += blockDim.x)
		tile[i] = make_uint4(i, count, rounds, blockIdx.x);
	__syncthreads();
	for (unsigned round = 0; round < rounds; round++) {
		const uint4 *at = tile + ((threadIdx.x + round) & 255);

#pragma unroll
		for (int i = 0; i < READS; i++) {
			const uint4 value = at[i * 16];

			sum ^= value.x ^ value.y ^ value.z ^ value.w;
		}
	}
	keep(sum, to);
	end(begun, spent);
}

#define CHAINS 8  /* sums of a thread that do not wait for each other */
#define LINKS  32 /* multiplications with addition of each in a round */

/* Each sum a link further, over and over. */
template <typename Sum, typename Link>
static __device__ __forceinline__ void chain(Sum (&sums)[CHAINS], unsigned rounds, Link link)
{
	for (unsigned round = 0; round < rounds; round++)
#pragma unroll
		for (int number = 0; number < LINKS; number++)
#pragma unroll
			for (int i = 0; i < CHAINS; i++)
				sums[i] = link(sums[i]);
}

KERNEL(gt_fp32)
{
	const struct spent begun = begin();
	const float x = 0.999f - 1e-6f * threadIdx.x;
	const float y = 1e-3f * (float)count;
	float sums[CHAINS];
	float sum = 0;

#pragma unroll
	for (int i = 0; i < CHAINS; i++)
		sums[i] = (float)(threadIdx.x + i);
	chain(sums, rounds, [=](float held) { return fmaf(held, x, y); });
#pragma unroll
	for (int i = 0; i < CHAINS; i++)
		sum += sums[i];
	keep(__float_as_uint(sum), to);
	end(begun, spent);
}

KERNEL(gt_fp64)
{
	const struct spent begun = begin();
	const double x = 0.999 - 1e-6 * threadIdx.x;
	const double y = 1e-3 * (double)count;
	double sums[CHAINS];
	double sum = 0;

#pragma unroll
	for (int i = 0; i < CHAINS; i++)
		sums[i] = (double)(threadIdx.x + i);
	chain(sums, rounds, [=](double held) { return fma(held, x, y); });
#pragma unroll
	for (int i = 0; i < CHAINS; i++)
		sum += sums[i];
	keep((unsigned)__double2loint(sum), to);
	end(begun, spent);
}

/* The same with two operands, which are sooner read from registers than three. */
KERNEL(gt_fp64_two)
{
	const struct spent begun = begin();
	const double x = -1e-9 * (double)(threadIdx.x + count);
	double sums[CHAINS];
	double sum = 0;

#pragma unroll
	for (int i = 0; i < CHAINS; i++)
		sums[i] = (double)(threadIdx.x + i);
	chain(sums, rounds, [=](double held) { return fma(held, x, held); });
#pragma unroll
	for (int i = 0; i < CHAINS; i++)
		sum += sums[i];
	keep((unsigned)__double2loint(sum), to);
	end(begun, spent);
}

KERNEL(gt_fp16)
{
	const struct spent begun = begin();
	/* Halves that differ: with equal ones the compiler takes one of two pipes alone. */
	const __half2 x = __floats2half2_rn(0.99f - 1e-4f * threadIdx.x, 0.97f);
	const __half2 y = __floats2half2_rn(1e-3f * (float)count, 2e-3f);
	__half2 sums[CHAINS];
	__half2 sum = y;

#pragma unroll
	for (int i = 0; i < CHAINS; i++)
		sums[i] = __float2half2_rn((float)(threadIdx.x + i));
	chain(sums, rounds, [=](__half2 held) { return __hfma2(held, x, y); });
#pragma unroll
	for (int i = 0; i < CHAINS; i++)
		sum = __hadd2(sum, sums[i]);
	keep(*(unsigned *)&sum, to);
	end(begun, spent);
}

/* The host waits for what its first thread stores. */
KERNEL(gt_store)
{
	*(volatile unsigned *)to = rounds;
	__threadfence_system();
}

/* Numbers without a pattern, so that nothing on the way can be compressed. */
KERNEL(gt_fill)
{
	const unsigned first = blockIdx.x * blockDim.x + threadIdx.x;

	for (unsigned long long at = first; at < count; at += gridDim.x * blockDim.x)
		to[at] = make_uint4(scrambled((unsigned)at), scrambled((unsigned)at + 1),
		                    scrambled((unsigned)at + 2), scrambled((unsigned)at + 3));
}

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_KERNEL_CUH
#define GT_REPLAY_KERNEL_CUH

/*
 * Common parts of all kernels that measure a GPU: their parameters, and what keeps the compiler
 * from leaving out work whose result nobody wants.
 */

/* Time that one thread of a launch took, so that the clock at which it ran is known. */
struct spent {
	unsigned long long cycles;
	unsigned long long ns;
};

/*
 * rounds: how often all of it is done. count: of elements in from and to, 16 bytes each. spent: of
 * the first thread.
 */
#define KERNEL(name)                                                                               \
	extern "C" __global__ void name(const uint4 *from, uint4 *to, unsigned long long count,    \
	                                unsigned rounds, struct spent *spent)

static __device__ __forceinline__ unsigned long long now_ns()
{
	unsigned long long ns;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns;
}

static __device__ __forceinline__ struct spent begin()
{
	struct spent begun;

	begun.ns = now_ns();
	begun.cycles = clock64();
	return begun;
}

static __device__ __forceinline__ void end(const struct spent &begun, struct spent *spent)
{
	if (blockIdx.x != 0 || threadIdx.x != 0)
		return;
	spent->cycles = clock64() - begun.cycles;
	spent->ns = now_ns() - begun.ns;
}

/* Writes a value that never comes about; the compiler cannot know that. */
static __device__ __forceinline__ void keep(unsigned value, uint4 *to)
{
	if (value == 0x5eed5eedu)
		to[threadIdx.x].x = value;
}

/* A number that differs from thread to thread: operands without a pattern. */
static __device__ __forceinline__ unsigned scrambled(unsigned number)
{
	number = number * 2654435761u + 0x9e3779b9u;
	number ^= number >> 16;
	number *= 0x85ebca6bu;
	number ^= number >> 13;
	return number;
}

/* Two FP16 or BF16, one TF32, four E4M3: of either sign, from 0.5 up to 1. */
#define HALVES  0x83ff83ffu, 0x38003800u
#define BHALVES 0x807f807fu, 0x3f003f00u
#define TF32S   0x807fe000u, 0x3f000000u
#define EIGHTS  0x87878787u, 0x30303030u

static __device__ __forceinline__ unsigned operand(unsigned number, unsigned mask, unsigned base)
{
	return (scrambled(number) & mask) | base;
}

/* The bits of a number in which operands may differ. */
static __device__ __forceinline__ unsigned difference(unsigned number, unsigned mask, unsigned base)
{
	return number & mask;
}

#endif

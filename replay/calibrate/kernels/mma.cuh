/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_MMA_CUH
#define GT_REPLAY_MMA_CUH

#include "replay/calibrate/kernels/kernel.cuh"

/*
 * Tensor cores by mma.sync, whose operands are in registers of a warp: each warp multiplies into
 * TILES sums that do not wait for each other, TURNS times each in a round. B is another one for
 * each sum and in each turn: where the driver's compiler has to make up for an instruction that the
 * GPU has not, it would otherwise multiply once and only add from then on.
 */
#define TILES 8
#define TURNS 8

/* A kernel whose sums are four FP32 of each thread. a_count, b_count: registers of A and B. */
#define MMA_KERNEL(name, values, a_count, b_count, multiply)                                       \
	KERNEL(name)                                                                               \
	{                                                                                          \
		const struct spent begun = begin();                                                \
		unsigned a[a_count];                                                               \
		unsigned b[TILES][b_count];                                                        \
		unsigned number = threadIdx.x;                                                     \
		float sums[TILES][4] = {};                                                         \
		float sum = 0;                                                                     \
                                                                                                   \
		for (int i = 0; i < a_count; i++)                                                  \
			a[i] = operand(threadIdx.x * 8 + i, values);                               \
		for (int i = 0; i < TILES * b_count; i++)                                          \
			b[i / b_count][i % b_count] = operand(threadIdx.x * 64 + i, values);       \
		for (unsigned round = 0; round < rounds; round++)                                  \
			_Pragma("unroll") for (int turn = 0; turn < TURNS; turn++)                 \
			{                                                                          \
				number = number * 1664525u + 1013904223u;                          \
				_Pragma("unroll") for (int i = 0; i < TILES; i++)                  \
				{                                                                  \
					unsigned other[b_count];                                   \
                                                                                                   \
					for (int j = 0; j < b_count; j++)                          \
						other[j] = b[i][j];                                \
					other[0] ^= difference(number, values);                    \
					multiply(sums[i], a, other);                               \
				}                                                                  \
			}                                                                          \
		for (int i = 0; i < TILES; i++)                                                    \
			sum += sums[i][0] + sums[i][1] + sums[i][2] + sums[i][3];                  \
		keep(__float_as_uint(sum), to);                                                    \
		end(begun, spent);                                                                 \
	}

/* Of FP64: the lower half of B is another one in each turn. */
static __device__ __forceinline__ double changed(double value, unsigned number)
{
	return __hiloint2double(__double2hiint(value), __double2loint(value) ^ (int)number);
}

/* Four registers of A and two of B. */
#define MMA_4_2(instruction)                                                                       \
	asm volatile("mma.sync.aligned." instruction                                               \
	             " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"            \
	             : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])                  \
	             : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))

#endif

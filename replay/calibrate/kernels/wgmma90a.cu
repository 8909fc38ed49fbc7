/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/calibrate/kernels/kernel.cuh"

/*
 * Tensor cores of Hopper by wgmma, four warps at a time with both operands in shared memory: what
 * reaches their peak (PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate
 * Instructions"). It exists on compute capability 9.0 alone.
 */

#define STEPS     4 /* instructions through a row of 128 bytes, 32 bytes each */
#define TURNS     4 /* through all rows in a round */
#define A_BYTES   (64 * 128)
#define B_BYTES   (256 * 128)
#define ROW_GROUP 1024 /* bytes of 8 rows */

/* Rows of 128 bytes, swizzled by 128 bytes (PTX ISA, "Matrix Descriptor Format"). */
static __device__ __forceinline__ unsigned long long descriptor(const void *tile)
{
	const unsigned long long at = __cvta_generic_to_shared(tile);

	return ((at & 0x3ffff) >> 4) | 1ull << 16 | (unsigned long long)(ROW_GROUP >> 4) << 32 |
	       1ull << 62;
}

#define R4(n)  "+f"(sums[n]), "+f"(sums[n + 1]), "+f"(sums[n + 2]), "+f"(sums[n + 3])
#define R16(n) R4(n), R4(n + 4), R4(n + 8), R4(n + 12)
#define R64(n) R16(n), R16(n + 16), R16(n + 32), R16(n + 48)

/* 64 x 256 sums, 128 of each thread. */
#define WGMMA(instruction, more)                                                                   \
	asm volatile("wgmma.mma_async.sync.aligned.m64n256" instruction "{"                        \
	             "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "      \
	             "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, "      \
	             "%30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, "      \
	             "%44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, "      \
	             "%58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, "      \
	             "%72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, "      \
	             "%86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, "      \
	             "%100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "    \
	             "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, "    \
	             "%124, %125, %126, %127}, %128, %129, 1, 1, 1" more ";"                       \
	             : R64(0), R64(64)                                                             \
	             : "l"(a), "l"(b))

#define WGMMA_KERNEL(name, values, instruction, more)                                              \
	extern "C" __global__ void __launch_bounds__(128, 2)                                       \
		name(const uint4 *from, uint4 *to, unsigned long long count, unsigned rounds,      \
	             struct spent *spent)                                                          \
	{                                                                                          \
		__shared__ __align__(1024) unsigned tiles[(A_BYTES + B_BYTES) / 4];                \
		const struct spent begun = begin();                                                \
		float sums[128];                                                                   \
		float sum = 0;                                                                     \
                                                                                                   \
		for (unsigned i = threadIdx.x; i < (A_BYTES + B_BYTES) / 4; i += blockDim.x)       \
			tiles[i] = operand(i, values);                                             \
		for (int i = 0; i < 128; i++)                                                      \
			sums[i] = 0;                                                               \
		asm volatile("fence.proxy.async;" ::: "memory");                                   \
		__syncthreads();                                                                   \
		for (unsigned round = 0; round < rounds; round++) {                                \
			asm volatile("wgmma.fence.sync.aligned;" ::: "memory");                    \
			_Pragma("unroll") for (int i = 0; i < STEPS * TURNS; i++)                  \
			{                                                                          \
				const unsigned long long step = (i % STEPS) * (32 >> 4);           \
				const unsigned long long a = descriptor(tiles) + step;             \
				const unsigned long long b =                                       \
					descriptor(tiles + A_BYTES / 4) + step;                    \
                                                                                                   \
				WGMMA(instruction, more);                                          \
			}                                                                          \
			asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");             \
			asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");             \
		}                                                                                  \
		for (int i = 0; i < 128; i++)                                                      \
			sum += sums[i];                                                            \
		keep(__float_as_uint(sum), to);                                                    \
		end(begun, spent);                                                                 \
	}

WGMMA_KERNEL(gt_wgmma_fp16, HALVES, "k16.f32.f16.f16", ", 0, 0")
WGMMA_KERNEL(gt_wgmma_bf16, BHALVES, "k16.f32.bf16.bf16", ", 0, 0")
WGMMA_KERNEL(gt_wgmma_tf32, TF32S, "k8.f32.tf32.tf32", "")
WGMMA_KERNEL(gt_wgmma_fp8, EIGHTS, "k32.f32.e4m3.e4m3", "")

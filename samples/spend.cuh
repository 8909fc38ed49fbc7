/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_SAMPLES_SPEND_CUH
#define GT_SAMPLES_SPEND_CUH

/* Lasts so many nanoseconds of the GPU's clock, whatever the clock of the multiprocessors. */
static __device__ inline void spend(unsigned long long ns)
{
	unsigned long long start;
	unsigned long long now;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
	do
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	while (now - start < ns);
}

#endif

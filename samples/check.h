/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_SAMPLES_CHECK_H
#define GT_SAMPLES_CHECK_H

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program with one line when a CUDA call fails. */
#define CHECK(call)                                                                                \
	do {                                                                                       \
		const cudaError_t error_ = (call);                                                 \
		if (error_ != cudaSuccess) {                                                       \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,              \
			        cudaGetErrorString(error_));                                       \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

/* The index-th argument as a number from 1 on, or else when it is not given. */
static inline size_t argument(int argc, char **argv, int index, size_t otherwise)
{
	char *end = NULL;
	const unsigned long long value = index < argc ? strtoull(argv[index], &end, 10) : 0;

	if (index >= argc)
		return otherwise;
	if (!value || *end) {
		fprintf(stderr, "%s: '%s' is not a number from 1 on\n", argv[0], argv[index]);
		exit(2);
	}
	return (size_t)value;
}

/* bytes / time between two events that have passed, in 10^9 bytes a second. */
static inline double gigabytes_per_second(size_t bytes, cudaEvent_t start, cudaEvent_t stop)
{
	float ms = 0;

	CHECK(cudaEventElapsedTime(&ms, start, stop));
	return (double)bytes / 1e6 / ms;
}

#endif

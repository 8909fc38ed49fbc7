/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program in which one CUDA call fails and that goes on without it: more memory is asked for
 * than any GPU has. gputrace names the call and its result code. Usage: api_error [BYTES]
 */
#include "samples/check.h"

__global__ void twice(int *value)
{
	*value *= 2;
}

int main(int argc, char **argv)
{
	const size_t too_many = argument(argc, argv, 1, (size_t)1 << 50);
	void *refused = NULL;
	int *value;
	int result = 21;

	CHECK(cudaMalloc((void **)&value, sizeof(*value)));

	const cudaError_t error = cudaMalloc(&refused, too_many);

	if (error == cudaSuccess) {
		fprintf(stderr, "api_error: %zu bytes were not too many\n", too_many);
		return 1;
	}
	(void)cudaGetLastError(); /* the error has been dealt with */

	CHECK(cudaMemcpy(value, &result, sizeof(result), cudaMemcpyHostToDevice));
	twice<<<1, 1>>>(value);
	CHECK(cudaGetLastError());
	CHECK(cudaMemcpy(&result, value, sizeof(result), cudaMemcpyDeviceToHost));
	CHECK(cudaFree(value));
	printf("failed_calls=1\nerror_code=%d\nerror_name=%s\nlaunches=1\nresult=%d\n", (int)error,
	       cudaGetErrorName(error), result);
	return result != 42;
}

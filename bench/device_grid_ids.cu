/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether %gridid, as kernels read it, is what CUPTI calls gridId: one line for each launch, of two
 * functions on two streams and of a graph, and a last one with how many agree. It asks CUPTI
 * itself: not to be run under gputrace. Usage: device_grid_ids
 */
#include <cupti.h>

#include <algorithm>
#include <vector>

#include "samples/check.h"

enum { ROUNDS = 4, GRAPH_LAUNCHES = 3, BUFFER_BYTES = 1 << 20 };

static std::vector<std::pair<unsigned, long long>> records; /* correlation id, gridId */

__global__ void first(unsigned long long *told)
{
	unsigned long long id;

	asm volatile("mov.u64 %0, %%gridid;" : "=l"(id));
	*told = id;
}

__global__ void second(unsigned long long *told)
{
	unsigned long long id;

	asm volatile("mov.u64 %0, %%gridid;" : "=l"(id));
	*told = id;
}

/* In a graph, where each launch of it writes to the next place. */
__global__ void counted(unsigned long long *told, unsigned *next)
{
	unsigned long long id;

	asm volatile("mov.u64 %0, %%gridid;" : "=l"(id));
	told[(*next)++] = id;
}

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = (uint8_t *)aligned_alloc(8, BUFFER_BYTES);
	*size = *buffer ? BUFFER_BYTES : 0;
	*max_records = 0;
}

static void CUPTIAPI take_buffer(CUcontext, uint32_t, uint8_t *buffer, size_t, size_t valid)
{
	CUpti_Activity *record = NULL;

	while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
		const CUpti_ActivityKernel9 *kernel = (const CUpti_ActivityKernel9 *)record;

		if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
			records.emplace_back(kernel->correlationId, (long long)kernel->gridId);
	}
	free(buffer);
}

static void must(CUptiResult result, const char *call)
{
	if (result == CUPTI_SUCCESS)
		return;
	fprintf(stderr, "device_grid_ids: %s: %d\n", call, (int)result);
	exit(1);
}

static void launch_alone(cudaStream_t *streams, unsigned long long *told)
{
	for (int i = 0; i < ROUNDS; i++) {
		first<<<1, 1, 0, streams[0]>>>(told + 2 * i);
		second<<<1, 1, 0, streams[1]>>>(told + 2 * i + 1);
	}
	CHECK(cudaGetLastError());
	CHECK(cudaDeviceSynchronize());
}

static void launch_graph(cudaStream_t stream, unsigned long long *told, unsigned *next)
{
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	counted<<<1, 1, 0, stream>>>(told, next);
	counted<<<1, 1, 0, stream>>>(told, next);
	CHECK(cudaStreamEndCapture(stream, &graph));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < GRAPH_LAUNCHES; i++)
		CHECK(cudaGraphLaunch(exec, stream));
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));
}

int main()
{
	const size_t count = 2 * ROUNDS + 2 * GRAPH_LAUNCHES;
	std::vector<unsigned long long> seen(count);
	unsigned long long *told;
	cudaStream_t streams[2];
	size_t equal = 0;
	unsigned *next;

	must(cuptiActivityRegisterCallbacks(give_buffer, take_buffer), "register callbacks");
	must(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "enable kernels");
	CHECK(cudaMalloc((void **)&told, count * sizeof(*told)));
	CHECK(cudaMalloc((void **)&next, sizeof(*next)));
	CHECK(cudaMemset(next, 0, sizeof(*next)));
	for (int i = 0; i < 2; i++)
		CHECK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
	launch_alone(streams, told);
	launch_graph(streams[0], told + 2 * ROUNDS, next);
	CHECK(cudaMemcpy(seen.data(), told, count * sizeof(*told), cudaMemcpyDeviceToHost));
	must(cuptiActivityFlushAll(1), "flush");
	std::stable_sort(records.begin(), records.end(),
	                 [](const std::pair<unsigned, long long> &left,
	                    const std::pair<unsigned, long long> &right) {
				 return left.first < right.first;
			 });
	for (size_t i = 0; i < std::max(count, records.size()); i++) {
		const bool both = i < count && i < records.size();

		printf("launch=%zu kind=%s gridid=%lld cupti=%lld\n", i,
		       i < 2 * ROUNDS ? "alone" : "graph", i < count ? (long long)seen[i] : -1,
		       i < records.size() ? records[i].second : -1);
		equal += both && (long long)seen[i] == records[i].second;
	}
	printf("launches=%zu\nrecords=%zu\nequal=%zu\n", count, records.size(), equal);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is used in no order, a known number of times in each way: by two nodes of one graph,
 * of which none waits for the other; by a copy in three dimensions, or a batch of copies, on one
 * stream and a fill on another. To be recorded with gputrace run --hazards. The result harms
 * nobody: the memory stays where it is, and nobody looks at what is in it. With the word "ordered"
 * dependencies and events keep the order. Usage: node_hazards [ROUNDS] [ordered]
 */
#include <string.h>

#include "samples/check.h"

static const size_t BYTES = 64 << 20;
static const size_t PITCH = 4096, ROWS = 16, SLICES = 8;

static cudaStream_t writer, reader;
static cudaEvent_t forked, written, was_read;
static unsigned char *memory, *results;
static bool ordered;

static void finish(void)
{
	CHECK(cudaStreamSynchronize(reader));
	CHECK(cudaStreamSynchronize(writer));
}

/* Work of the reader is done before the next work of the writer: if it is to be so. */
static void keep_order(void)
{
	if (!ordered)
		return;
	CHECK(cudaEventRecord(was_read, reader));
	CHECK(cudaStreamWaitEvent(writer, was_read, 0));
}

/* A fill and a copy of what is filled, captured on two streams. */
static cudaGraphExec_t make_graph(void)
{
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	CHECK(cudaStreamBeginCapture(writer, cudaStreamCaptureModeThreadLocal));
	CHECK(cudaEventRecord(forked, writer));
	CHECK(cudaStreamWaitEvent(reader, forked, 0));
	CHECK(cudaMemsetAsync(memory, 1, BYTES, writer));
	if (ordered) {
		CHECK(cudaEventRecord(written, writer));
		CHECK(cudaStreamWaitEvent(reader, written, 0));
	}
	CHECK(cudaMemcpyAsync(results, memory, BYTES, cudaMemcpyDeviceToDevice, reader));
	CHECK(cudaEventRecord(was_read, reader));
	CHECK(cudaStreamWaitEvent(writer, was_read, 0));
	CHECK(cudaStreamEndCapture(writer, &graph));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaGraphDestroy(graph));
	return exec;
}

/* Half of each row of a box, row by row. */
static void copy_box(unsigned char value)
{
	struct cudaMemcpy3DParms copy;

	memset(&copy, 0, sizeof(copy));
	copy.srcPtr = make_cudaPitchedPtr(memory, PITCH, PITCH, ROWS);
	copy.dstPtr = make_cudaPitchedPtr(results, PITCH / 2, PITCH / 2, ROWS);
	copy.extent = make_cudaExtent(PITCH / 2, ROWS, SLICES);
	copy.kind = cudaMemcpyDeviceToDevice;
	CHECK(cudaMemcpy3DAsync(&copy, reader));
	keep_order();
	CHECK(cudaMemsetAsync(memory, value, BYTES, writer));
	finish();
}

/* Both halves; the fill is of the end of the second. */
static void copy_batch(unsigned char value)
{
	void *to[] = {results, results + BYTES / 2};
	const void *from[] = {memory, memory + BYTES / 2};
	size_t sizes[] = {BYTES / 2, BYTES / 2};
	struct cudaMemcpyAttributes attributes;
	size_t first = 0;

	memset(&attributes, 0, sizeof(attributes));
	attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
	CHECK(cudaMemcpyBatchAsync(to, from, sizes, 2, &attributes, &first, 1, reader));
	keep_order();
	CHECK(cudaMemsetAsync(memory + BYTES - PITCH, value, PITCH, writer));
	finish();
}

int main(int argc, char **argv)
{
	const size_t rounds = argument(argc, argv, 1, 10);
	cudaGraphExec_t graph;
	size_t planted;

	ordered = argc > 2 && strcmp(argv[2], "ordered") == 0;
	planted = ordered ? 0 : rounds;
	CHECK(cudaStreamCreateWithFlags(&writer, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&reader, cudaStreamNonBlocking));
	CHECK(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
	CHECK(cudaEventCreateWithFlags(&written, cudaEventDisableTiming));
	CHECK(cudaEventCreateWithFlags(&was_read, cudaEventDisableTiming));
	CHECK(cudaMalloc((void **)&memory, BYTES));
	CHECK(cudaMalloc((void **)&results, BYTES));
	graph = make_graph();
	for (size_t round = 0; round < rounds; round++) {
		CHECK(cudaGraphLaunch(graph, writer));
		finish();
		copy_box((unsigned char)round);
		copy_batch((unsigned char)round);
	}
	printf("rounds=%zu\nread_too_early=%zu\nwritten_too_early=%zu\n", rounds, planted,
	       2 * planted);
	CHECK(cudaGraphExecDestroy(graph));
	CHECK(cudaFree(results));
	CHECK(cudaFree(memory));
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that captures a graph as frameworks do: one thread begins, another adds to the same
 * stream, work forks into a second stream and comes back. Meanwhile both threads launch into a
 * third stream, which is not captured. It replays the graph and says in one line of JSON how often
 * it launched, how many of those launches were captured, and which kernels ran.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fakes/apps/app_calls.h"
#include "fakes/fake.h"
#include "fakes/libraries/runtime.h"

enum { CAPTURED, FORKED, ASIDE, STREAMS };

static uint64_t kernels = 5; /* launches at a time */
static uint64_t replays = 3;
static int driver;        /* the driver API instead of the runtime's */
static int end_elsewhere; /* the capture ends on another thread than it began on */

static uint64_t launches; /* one thread launches at a time */
static uint64_t captured;
static CUcontext context;
static CUmodule module;
static CUstream streams[STREAMS];
static CUevent fork_event;
static CUevent join_event;
static CUgraph graph;

/* The same call of either API. */
#define EITHER(driver_call, runtime_call, ...)                                                     \
	do {                                                                                       \
		if (driver)                                                                        \
			MUST(driver_call, __VA_ARGS__);                                            \
		else                                                                               \
			MUST(runtime_call, __VA_ARGS__);                                           \
	} while (0)

static void start(void)
{
	if (driver) {
		MUST(cuInit, 0);
		MUST(cuCtxCreate, &context, NULL, 0, 0);
		MUST(cuModuleLoadData, &module, "fake image");
	} else {
		MUST(cudaSetDevice, 0);
	}
	for (int i = 0; i < STREAMS; i++)
		EITHER(cuStreamCreate, cudaStreamCreateWithFlags, &streams[i],
		       CU_STREAM_NON_BLOCKING);
	EITHER(cuEventCreate, cudaEventCreateWithFlags, &fork_event, CU_EVENT_DISABLE_TIMING);
	EITHER(cuEventCreate, cudaEventCreateWithFlags, &join_event, CU_EVENT_DISABLE_TIMING);
}

static void launch_one(const char *name, CUstream stream)
{
	const dim3 grid = {8, 1, 1};
	const dim3 block = {64, 1, 1};

	if (driver) {
		CUfunction function;

		MUST(cuModuleGetFunction, &function, module, name);
		MUST(cuLaunchKernel, function, 8, 1, 1, 64, 1, 1, 0, stream, NULL, NULL);
	} else {
		MUST(cudaLaunchKernel, name, grid, block, NULL, 0, stream);
	}
}

static void launch(const char *name, int stream)
{
	for (uint64_t i = 0; i < kernels; i++)
		launch_one(name, streams[stream]);
	launches += kernels;
}

static void *backward(void *unused)
{
	(void)unused;
	if (driver)
		MUST(cuCtxSetCurrent, context);
	launch("backward", CAPTURED);
	launch("forked", FORKED);
	launch("aside", ASIDE);
	EITHER(cuEventRecord, cudaEventRecord, join_event, streams[FORKED]);
	EITHER(cuStreamWaitEvent, cudaStreamWaitEvent, streams[CAPTURED], join_event, 0);
	captured += 2 * kernels;
	return NULL;
}

static void *end(void *unused)
{
	(void)unused;
	if (driver)
		MUST(cuCtxSetCurrent, context);
	EITHER(cuStreamEndCapture, cudaStreamEndCapture, streams[CAPTURED], &graph);
	return NULL;
}

static void *after(void *unused)
{
	(void)unused;
	if (driver)
		MUST(cuCtxSetCurrent, context);
	for (int i = 0; i < STREAMS; i++)
		launch("after", i);
	return NULL;
}

/* On another thread, until that has ended. */
static void elsewhere(void *(*run)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, NULL))
		app_fail("pthread_create", errno);
	(void)pthread_join(thread, NULL);
}

static void begin(void)
{
	if (driver)
		MUST(cuStreamBeginCapture, streams[CAPTURED],
		     end_elsewhere ? CU_STREAM_CAPTURE_MODE_RELAXED
		                   : CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
	else
		MUST(cudaStreamBeginCapture, streams[CAPTURED],
		     end_elsewhere ? cudaStreamCaptureModeRelaxed
		                   : cudaStreamCaptureModeThreadLocal);
}

static void capture(void)
{
	begin();
	launch("forward", CAPTURED);
	captured += kernels;
	EITHER(cuEventRecord, cudaEventRecord, fork_event, streams[CAPTURED]);
	EITHER(cuStreamWaitEvent, cudaStreamWaitEvent, streams[FORKED], fork_event, 0);
	elsewhere(backward);
	launch("aside", ASIDE);
	if (end_elsewhere)
		elsewhere(end);
	else
		(void)end(NULL);
}

static void replay(void)
{
	CUgraphExec exec;

	MUST(cuGraphInstantiateWithFlags, &exec, graph, 0);
	for (uint64_t i = 0; i < replays; i++)
		MUST(cuGraphLaunch, exec, streams[CAPTURED]);
	if (driver)
		MUST(cuCtxSynchronize, );
	else
		MUST(cudaDeviceSynchronize, );
	MUST(cuGraphExecDestroy, exec);
	MUST(cuGraphDestroy, graph);
}

static void print_facts(void)
{
	printf("{\"pid\":%d,\"launches\":%lu,\"captured\":%lu,\"graph_launches\":%lu,"
	       "\"kernel_count\":%lu,\"kernels\":{\"before\":%lu,\"aside\":%lu,\"after\":%lu,"
	       "\"forward\":%lu,\"backward\":%lu,\"forked\":%lu},",
	       (int)getpid(), launches, captured, replays, launches - captured + replays * captured,
	       kernels, 2 * kernels, 2 * STREAMS * kernels, replays * kernels, replays * kernels,
	       replays * kernels);
	app_print_calls();
	printf("}\n");
}

static void usage(void)
{
	(void)fputs(
		"usage: app_captures [--driver] [--end-elsewhere] [--kernels N] [--replays N]\n",
		stderr);
	exit(2);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--driver") == 0)
			driver = 1;
		else if (strcmp(argv[i], "--end-elsewhere") == 0)
			end_elsewhere = 1;
		else if (strcmp(argv[i], "--kernels") == 0 && i + 1 < argc)
			kernels = strtoull(argv[++i], NULL, 10);
		else if (strcmp(argv[i], "--replays") == 0 && i + 1 < argc)
			replays = strtoull(argv[++i], NULL, 10);
		else
			usage();
	}
	start();
	launch("before", CAPTURED);
	capture();
	(void)after(NULL);
	elsewhere(after);
	replay();
	print_facts();
	return 0;
}

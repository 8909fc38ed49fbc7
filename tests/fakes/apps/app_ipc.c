/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two processes, each with an event that the other one has too. In each round the first launches
 * `produce` and records its event; the second has its stream, and in every other round itself, wait
 * for that, launches `consume` and records its own event, which the first waits for. So that waits
 * come after records they take turns over two pipes. The first says in one line of JSON what both
 * did.
 *
 *   app_ipc [--driver] [--rounds N]
 *
 * The second is the same program with --consume and the two descriptors.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fakes/apps/app_calls.h"
#include "fakes/fake.h"
#include "fakes/libraries/runtime.h"

static unsigned long rounds = 4;
static int driver; /* the driver API instead of the runtime's for what is about the event */
static CUstream stream;
static unsigned long together_ns; /* from when both know the other's event to the end */

static unsigned long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (unsigned long)now.tv_sec * 1000000000u + (unsigned long)now.tv_nsec;
}

static void start(void)
{
	MUST(cudaSetDevice, 0);
	MUST(cudaStreamCreateWithFlags, &stream, cudaStreamNonBlocking);
}

static void launch(const char *name)
{
	const dim3 grid = {64, 1, 1};
	const dim3 block = {128, 1, 1};

	MUST(cudaLaunchKernel, name, grid, block, NULL, 0, stream);
}

static void send(int to, const void *bytes, size_t size)
{
	if (write(to, bytes, size) != (ssize_t)size)
		app_fail("write", -1);
}

static void receive(int from, void *bytes, size_t size)
{
	if (read(from, bytes, size) != (ssize_t)size)
		app_fail("read", -1);
}

/* Makes an event for both, and opens the other process's. */
static void share(int from, int to, CUevent *own, CUevent *other)
{
	CUipcEventHandle handle;
	cudaIpcEventHandle_t runtime_handle;

	MUST(cudaEventCreateWithFlags, own, cudaEventInterprocess | cudaEventDisableTiming);
	if (driver) {
		MUST(cuIpcGetEventHandle, &handle, *own);
	} else {
		MUST(cudaIpcGetEventHandle, &runtime_handle, *own);
		memcpy(&handle, &runtime_handle, sizeof(handle));
	}
	send(to, &handle, sizeof(handle));
	receive(from, &handle, sizeof(handle));
	memcpy(&runtime_handle, &handle, sizeof(handle));
	if (driver)
		MUST(cuIpcOpenEventHandle, other, handle);
	else
		MUST(cudaIpcOpenEventHandle, other, runtime_handle);
}

static void consume(int from, int to)
{
	CUevent consumed = NULL;
	CUevent produced = NULL;
	char turn = 0;

	start();
	share(from, to, &consumed, &produced);
	for (unsigned long round = 0; round < rounds; round++) {
		receive(from, &turn, 1);
		MUST(cudaStreamWaitEvent, stream, produced, 0);
		if (round % 2)
			MUST(cudaEventSynchronize, produced);
		launch("consume");
		MUST(cudaEventRecord, consumed, stream);
		send(to, &turn, 1);
	}
	MUST(cudaStreamSynchronize, stream);
	MUST(cudaEventDestroy, produced);
	MUST(cudaEventDestroy, consumed);
}

static void produce(int from, int to)
{
	CUevent produced = NULL;
	CUevent consumed = NULL;
	unsigned long began_ns;
	char turn = 1;

	start();
	share(from, to, &produced, &consumed);
	began_ns = now_ns();
	for (unsigned long round = 0; round < rounds; round++) {
		launch("produce");
		MUST(cudaEventRecord, produced, stream);
		send(to, &turn, 1);
		receive(from, &turn, 1);
		MUST(cudaEventSynchronize, consumed);
	}
	together_ns = now_ns() - began_ns;
	MUST(cudaEventDestroy, consumed);
	MUST(cudaEventDestroy, produced);
}

/* The second process, with the pipes' ends that are its own. */
static pid_t begin_consumer(int from, int to)
{
	char words[3][24];
	const pid_t child = fork();

	if (child != 0)
		return child;
	snprintf(words[0], sizeof(words[0]), "%d", from);
	snprintf(words[1], sizeof(words[1]), "%d", to);
	snprintf(words[2], sizeof(words[2]), "%lu", rounds);
	execl("/proc/self/exe", "app_ipc", "--rounds", words[2], driver ? "--driver" : "--runtime",
	      "--consume", words[0], words[1], (char *)NULL);
	_exit(99);
}

static int run_both(void)
{
	int there[2];
	int back[2];
	int status = 0;
	pid_t child;

	if (pipe(there) || pipe(back))
		app_fail("pipe", -1);
	child = begin_consumer(there[0], back[1]);
	produce(back[0], there[1]);
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		app_fail("the consumer", status);
	printf("{\"pid\":%d,\"consumer\":%d,\"rounds\":%lu,\"together_ns\":%lu,", (int)getpid(),
	       (int)child, rounds, together_ns);
	app_print_calls();
	printf("}\n");
	return 0;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--driver") == 0) {
			driver = 1;
		} else if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) {
			rounds = strtoul(argv[++i], NULL, 10);
		} else if (strcmp(argv[i], "--consume") == 0 && i + 2 < argc) {
			consume((int)strtol(argv[i + 1], NULL, 10),
			        (int)strtol(argv[i + 2], NULL, 10));
			return 0;
		} else if (strcmp(argv[i], "--runtime") != 0) {
			(void)fputs("usage: app_ipc [--driver] [--rounds N]\n", stderr);
			return 2;
		}
	}
	return run_both();
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program whose kernels write device events. The fake GPU runs no kernels: after each launch
 * threads of the program write into the ring what those of the kernel would, with the writer that
 * kernels have. It says in one line of JSON what they wrote, and ends in the way it is told.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fakes/apps/app_calls.h"
#include "fakes/fake.h"
#include "include/gputrace/device_layout.h"
#include "include/gputrace/gputrace.h"

enum { MOST_WRITERS = 64, THREADS = 128, SMS = 132, GLOBALTIMER_AHEAD_NS = 109355 };

/* The block and grid that the thread plays. */
static _Thread_local struct {
	uint32_t block;
	uint64_t grid_id;
} played;

static uint64_t writers = 4; /* blocks of a launch, the first thread of each writes */
static uint64_t events = 10; /* of each, in each launch; one more begins and one ends a range */
static uint64_t launches = 2;
static uint64_t contexts = 1; /* one after the other; all but the last are destroyed */
static uint64_t pause_us;     /* between two events */
static int is_plain;          /* the module has no variable */
static int is_argument;       /* the ring's address is asked for */
static int is_kernel;         /* launched by a handle of no context */
static int is_graph;          /* launched as a node that was made by hand */
static int is_reloaded;       /* the module, between two launches */
static int destroys;          /* the context, at the end */
static int never_closes;      /* writers go on for ever */
static const char *end = "exit";
static const char *another = ""; /* a name that is told as well */

static atomic_ullong written; /* calls that wrote an event */
static atomic_ullong unheard; /* writers that found nobody who records */

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	(void)clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline gputrace_u64 gputrace_device_clock(void)
{
	return clock_ns(CLOCK_MONOTONIC) * 2;
}

struct gputrace_moment {
	gputrace_u64 clock;
	gputrace_u64 globaltimer;
};

static inline gputrace_u64 gputrace_device_globaltimer(void)
{
	return clock_ns(CLOCK_REALTIME) + GLOBALTIMER_AHEAD_NS;
}

static inline struct gputrace_moment gputrace_device_moment(void)
{
	return (struct gputrace_moment){
		.clock = gputrace_device_clock(),
		.globaltimer = gputrace_device_globaltimer(),
	};
}

static inline gputrace_u64 gputrace_device_grid_id(void)
{
	return played.grid_id;
}

static inline gputrace_u32 gputrace_device_sm(void)
{
	return played.block % SMS;
}

static inline gputrace_u32 gputrace_device_block(void)
{
	return played.block;
}

static inline gputrace_u32 gputrace_device_blocks(void)
{
	return (gputrace_u32)writers;
}

static inline gputrace_u32 gputrace_device_thread(void)
{
	return 0;
}

static inline gputrace_u32 gputrace_device_threads(void)
{
	return THREADS;
}

#define GPUTRACE_DEVICE_HOST
#include "include/gputrace/device_events.h"

struct task {
	uint32_t block;
	uint64_t launch;
	uint64_t ring; /* as gputrace_writer_init wants it */
};

static void *play(void *context)
{
	const struct task *task = context;
	const uint32_t name = gputrace_device_name_id("work");
	const uint32_t step = gputrace_device_name_id("step");
	struct gputrace_writer writer;

	played.block = task->block;
	played.grid_id = task->launch + 1;
	gputrace_writer_init(&writer, task->ring, 1);
	if (!gputrace_writer_writes(writer.next))
		atomic_fetch_add(&unheard, 1);
	gputrace_writer_begin(&writer, name);
	for (uint64_t i = 0; i < events || never_closes; i++) {
		gputrace_writer_int(&writer, step,
		                    (long long)(task->launch << 48 | (uint64_t)task->block << 32 |
		                                i));
		atomic_fetch_add(&written, 1);
		if (pause_us)
			(void)usleep((useconds_t)pause_us);
	}
	gputrace_writer_end(&writer, name);
	atomic_fetch_add(&written, 2);
	gputrace_writer_close(&writer);
	return NULL;
}

static void launch(CUfunction function)
{
	if (is_graph) {
		CUDA_KERNEL_NODE_PARAMS params = {.func = function,
		                                  .gridDimX = (unsigned)writers,
		                                  .gridDimY = 1,
		                                  .gridDimZ = 1,
		                                  .blockDimX = THREADS,
		                                  .blockDimY = 1,
		                                  .blockDimZ = 1};
		CUgraph graph;
		CUgraphNode node;
		CUgraphExec executable;

		MUST(cuGraphCreate, &graph, 0);
		MUST(cuGraphAddKernelNode, &node, graph, NULL, 0, &params);
		MUST(cuGraphInstantiateWithFlags, &executable, graph, 0);
		MUST(cuGraphLaunch, executable, NULL);
		return;
	}
	if (is_kernel)
		function = (CUfunction)((uintptr_t)function | 1);
	MUST(cuLaunchKernel, function, (unsigned)writers, 1, 1, THREADS, 1, 1, 0, NULL, NULL, NULL);
}

static void play_launch(uint64_t number, uint64_t ring)
{
	pthread_t threads[MOST_WRITERS];
	struct task tasks[MOST_WRITERS];

	for (uint64_t i = 0; i < writers; i++) {
		tasks[i] = (struct task){.block = (uint32_t)i, .launch = number, .ring = ring};
		if (pthread_create(&threads[i], NULL, play, &tasks[i]) != 0)
			app_fail("pthread_create", 0);
	}
	if (never_closes)
		(void)sleep(1);
	for (uint64_t i = 0; i < writers && !never_closes; i++)
		(void)pthread_join(threads[i], NULL);
}

static uint64_t ring_of(CUmodule module)
{
	CUdeviceptr variable = 0;
	size_t bytes = 0;

	if (is_argument)
		return (uint64_t)(uintptr_t)gputrace_device_ring();
	if (is_plain)
		return 0;
	MUST(cuModuleGetGlobal, &variable, &bytes, module, GPUTRACE_DEVICE_VARIABLE_NAME);
	return variable | 1;
}

static CUfunction load(CUmodule *module)
{
	CUfunction function;

	MUST(cuModuleLoadData, module,
	     is_plain || is_argument ? "plain" : "gputrace_device_ring_1");
	MUST(cuModuleGetFunction, &function, *module, "_Z4workv");
	return function;
}

/* first: the number of the first launch, over all contexts. */
static void run_in_context(CUcontext *context, uint64_t first)
{
	CUmodule module;
	CUfunction function;

	MUST(cuCtxCreate, context, NULL, 0, 0);
	function = load(&module);
	for (uint64_t i = 0; i < launches; i++) {
		if (i && is_reloaded) {
			MUST(cuModuleUnload, module);
			function = load(&module);
		}
		launch(function);
		play_launch(first + i, ring_of(module));
	}
	MUST(cuCtxSynchronize, );
}

static void run(CUcontext *context)
{
	MUST(cuInit, 0);
	(void)gputrace_device_name("work");
	(void)gputrace_device_name("step");
	(void)gputrace_device_name("step");
	if (*another)
		(void)gputrace_device_name(another);
	for (uint64_t i = 0; i < contexts; i++) {
		if (i)
			MUST(cuCtxDestroy, *context);
		run_in_context(context, i * launches);
	}
}

static void say(void)
{
	printf("{\"pid\":%d,\"written\":%llu,\"unheard\":%llu,\"launches\":%lu,", (int)getpid(),
	       atomic_load(&written), atomic_load(&unheard), launches);
	app_print_calls();
	printf("}\n");
	(void)fflush(stdout);
}

static void usage(void)
{
	(void)fputs(
		"usage: app_device [--writers N] [--events N] [--launches N] [--contexts N] [--pause US]\n"
		"       [--plain] [--argument] [--kernel] [--graph] [--reload] [--destroy]\n"
		"       [--for-ever]\n"
		"       [--name TEXT] [--end exit|_exit|abort|kill|exec|fork]\n",
		stderr);
	exit(2);
}

static int read_flag(const char *word)
{
	const struct {
		const char *word;
		int *flag;
	} flags[] = {{"--plain", &is_plain},       {"--argument", &is_argument},
	             {"--kernel", &is_kernel},     {"--graph", &is_graph},
	             {"--reload", &is_reloaded},   {"--destroy", &destroys},
	             {"--for-ever", &never_closes}};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (strcmp(flags[i].word, word) == 0)
			return *flags[i].flag = 1;
	return 0;
}

static void read_value(const char *word, const char *value)
{
	if (!value)
		usage();
	if (strcmp(word, "--writers") == 0)
		writers = strtoull(value, NULL, 10);
	else if (strcmp(word, "--events") == 0)
		events = strtoull(value, NULL, 10);
	else if (strcmp(word, "--launches") == 0)
		launches = strtoull(value, NULL, 10);
	else if (strcmp(word, "--contexts") == 0)
		contexts = strtoull(value, NULL, 10);
	else if (strcmp(word, "--pause") == 0)
		pause_us = strtoull(value, NULL, 10);
	else if (strcmp(word, "--name") == 0)
		another = value;
	else if (strcmp(word, "--end") == 0)
		end = value;
	else
		usage();
	if (writers > MOST_WRITERS)
		usage();
}

static void finish(char **argv)
{
	if (strcmp(end, "_exit") == 0)
		_exit(0);
	if (strcmp(end, "abort") == 0)
		abort();
	if (strcmp(end, "kill") == 0)
		(void)raise(SIGKILL);
	if (strcmp(end, "exec") == 0)
		(void)execl("/bin/true", argv[0], (char *)NULL);
	if (strcmp(end, "fork") == 0) {
		const pid_t child = fork();

		if (child == 0) /* where nothing is recorded */
			exit(gputrace_device_ring() != NULL);
		(void)waitpid(child, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	CUcontext context;

	for (int i = 1; i < argc; i++) {
		if (read_flag(argv[i]))
			continue;
		read_value(argv[i], argv[i + 1]);
		i++;
	}
	run(&context);
	say();
	if (destroys)
		MUST(cuCtxDestroy, context);
	finish(argv);
	return 0;
}

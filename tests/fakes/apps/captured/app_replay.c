/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that launches one of the kernels of tests/cubins/replay.cu some times, with memory as
 * it is told, and says in one line of JSON where the memory is. Element i of the input is i, and of
 * row r of a table r + i; there are 1024, of which kernels are told of 1000.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fakes/apps/app_calls.h"
#include "fakes/apps/captured/app_steps.h"
#include "fakes/fake.h"

enum { COUNT = 1000, ROOM = COUNT + 24, ROWS = 8, MOST_BYTES = 64 };

static const char *cubin = "";
static const char *before = ""; /* a cubin that is loaded first, for a function of the same name */
static const char *kernel = "scale";
static const char *memory = "device";
static const char *library; /* that gets device memory for it; NULL: it does so itself */
static uint64_t launches = 3;
static uint64_t threads; /* that launch the same beside it, into memory of their own */
static CUstream stream;

/* Memory of a library that is there only since it was asked for. */
static void get_of_library(CUdeviceptr *address, size_t size)
{
	void *opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	CUresult (*get)(CUdeviceptr * address, size_t size) = NULL;

	if (opened)
		*(void **)&get = dlsym(opened, "library_memory");
	if (!get || get(address, size) != CUDA_SUCCESS)
		app_fail(library, errno);
}

/* Memory of the kind that is asked for, filled by the host. */
static CUdeviceptr get_memory(const void *contents, size_t size)
{
	CUdeviceptr address = 0;

	if (strcmp(memory, "managed") == 0) {
		MUST(cuMemAllocManaged, &address, size, CU_MEM_ATTACH_GLOBAL);
	} else if (strcmp(memory, "host") == 0) {
		void *host = NULL;

		MUST(cuMemHostAlloc, &host, size, CU_MEMHOSTALLOC_DEVICEMAP);
		memcpy(host, contents, size);
		return (CUdeviceptr)(uintptr_t)host;
	} else if (strcmp(memory, "pool") == 0) {
		MUST(cuMemAllocAsync, &address, size, stream);
	} else if (library) {
		get_of_library(&address, size);
	} else {
		MUST(cuMemAlloc, &address, size);
	}
	MUST(cuMemcpyHtoD, address, contents, size);
	return address;
}

static CUdeviceptr get_row(int first)
{
	float row[ROOM];

	for (int i = 0; i < ROOM; i++)
		row[i] = (float)(first + i);
	return get_memory(row, sizeof(row));
}

static CUdeviceptr get_table(void)
{
	CUdeviceptr rows[ROWS];

	for (int i = 0; i < ROWS; i++)
		rows[i] = get_row(i);
	return get_memory(rows, sizeof(rows));
}

struct arguments {
	CUdeviceptr in;
	CUdeviceptr out;
	float by;
	int rows;
	int count;
	void *all[4];
	char buffer[MOST_BYTES]; /* as the kernel has them */
	size_t bytes;
	void *extra[5];
};

static void put(struct arguments *arguments, size_t number, void *value, size_t size)
{
	arguments->bytes = (arguments->bytes + size - 1) / size * size;
	memcpy(arguments->buffer + arguments->bytes, value, size);
	arguments->bytes += size;
	arguments->all[number] = value;
}

static void set_arguments(struct arguments *arguments)
{
	size_t number = 0;

	arguments->by = 2;
	arguments->rows = ROWS;
	arguments->count = COUNT;
	arguments->in = strcmp(kernel, "gather") == 0 ? get_table() : get_row(0);
	put(arguments, number++, &arguments->in, sizeof(arguments->in));
	if (strcmp(kernel, "gather") == 0 || strcmp(kernel, "weigh") == 0) {
		arguments->out = get_row(0);
		put(arguments, number++, &arguments->out, sizeof(arguments->out));
	}
	if (strcmp(kernel, "gather") == 0)
		put(arguments, number++, &arguments->rows, sizeof(arguments->rows));
	if (strcmp(kernel, "scale") == 0)
		put(arguments, number++, &arguments->by, sizeof(arguments->by));
	put(arguments, number, &arguments->count, sizeof(arguments->count));
	arguments->extra[0] = CU_LAUNCH_PARAM_BUFFER_POINTER;
	arguments->extra[1] = arguments->buffer;
	arguments->extra[2] = CU_LAUNCH_PARAM_BUFFER_SIZE;
	arguments->extra[3] = &arguments->bytes;
	arguments->extra[4] = CU_LAUNCH_PARAM_END;
}

static void launch_with_attributes(CUfunction function, struct arguments *arguments)
{
	CUlaunchAttribute attributes[3] = {
		{.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value = {.cooperative = 1}},
		{.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value = {.clusterDim = {2, 1, 1}}},
		{.id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value = {.priority = -3}},
	};
	const CUlaunchConfig config = {.gridDimX = 4,
	                               .gridDimY = 1,
	                               .gridDimZ = 1,
	                               .blockDimX = 256,
	                               .blockDimY = 1,
	                               .blockDimZ = 1,
	                               .sharedMemBytes = 128,
	                               .hStream = stream,
	                               .attrs = attributes,
	                               .numAttrs = 3};

	MUST(cuLaunchKernelEx, &config, function, arguments->all, NULL);
}

/* The input is memory of another process. */
static void change_input(struct arguments *arguments)
{
	const CUipcMemHandle handle = {{0}};

	if (is("ipc"))
		MUST(cuIpcOpenMemHandle, &arguments->in, handle, 0);
}

static void launch(CUfunction function, struct arguments *arguments)
{
	const int is_extra = is("extra");

	if (is("attributes")) {
		launch_with_attributes(function, arguments);
		return;
	}
	if (is("kernel"))
		function = (CUfunction)((uintptr_t)function | 1);
	MUST(cuLaunchKernel, function, 4, 1, 1, 256, 1, 1, 0, stream,
	     is_extra ? NULL : arguments->all, is_extra ? arguments->extra : NULL);
}

static void launch_captured(CUfunction function, struct arguments *arguments)
{
	CUgraph graph;
	CUgraphExec executable;

	MUST(cuStreamBeginCapture, stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
	launch(function, arguments);
	MUST(cuStreamEndCapture, stream, &graph);
	MUST(cuGraphInstantiateWithFlags, &executable, graph, 0);
	MUST(cuGraphLaunch, executable, stream);
}

struct task {
	CUcontext context;
	CUfunction function;
};

static void *launch_beside(void *context)
{
	const struct task *task = context;
	struct arguments arguments = {0};

	MUST(cuCtxSetCurrent, task->context);
	set_arguments(&arguments);
	for (uint64_t i = 0; i < launches; i++)
		launch(task->function, &arguments);
	return NULL;
}

static void run(const struct task *task, struct arguments *arguments)
{
	pthread_t others[MOST_BYTES];

	for (uint64_t i = 0; i < threads; i++)
		if (pthread_create(&others[i], NULL, launch_beside, (void *)(uintptr_t)task) != 0)
			app_fail("pthread_create", 0);
	for (uint64_t i = 0; i < launches; i++)
		if (is("captured"))
			launch_captured(task->function, arguments);
		else
			launch(task->function, arguments);
	for (uint64_t i = 0; i < threads; i++)
		(void)pthread_join(others[i], NULL);
	MUST(cuCtxSynchronize, );
}

static void usage(void)
{
	(void)fputs("usage: app_replay --cubin FILE [--kernel NAME] [--launches N] [--threads N]\n"
	            "       [--before FILE] [--memory device|managed|host|pool] [--library FILE]\n"
	            "       [--how plain|extra|kernel|attributes|captured|ipc]\n",
	            stderr);
	exit(2);
}

static void read_words(int argc, char **argv)
{
	for (int i = 1; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--cubin") == 0)
			cubin = argv[i + 1];
		else if (strcmp(argv[i], "--before") == 0)
			before = argv[i + 1];
		else if (strcmp(argv[i], "--kernel") == 0)
			kernel = argv[i + 1];
		else if (strcmp(argv[i], "--memory") == 0)
			memory = argv[i + 1];
		else if (strcmp(argv[i], "--how") == 0)
			how = argv[i + 1];
		else if (strcmp(argv[i], "--library") == 0)
			library = argv[i + 1];
		else if (strcmp(argv[i], "--launches") == 0)
			launches = strtoull(argv[i + 1], NULL, 10);
		else if (strcmp(argv[i], "--threads") == 0)
			threads = strtoull(argv[i + 1], NULL, 10);
		else
			usage();
	}
	if (!*cubin || threads > MOST_BYTES)
		usage();
}

static CUfunction load(const char *file, CUmodule *module)
{
	char name[MOST_BYTES];
	CUfunction function;

	app_read_image(file);
	(void)snprintf(name, sizeof(name), "replay_%s", kernel);
	MUST(cuModuleLoadData, module, image);
	MUST(cuModuleGetFunction, &function, *module, name);
	return function;
}

/* Where modules are loaded when they are first needed, this one is by now. */
static void load_before(void)
{
	CUmodule module;
	int registers;

	MUST(cuFuncGetAttribute, &registers, CU_FUNC_ATTRIBUTE_NUM_REGS, load(before, &module));
}

int main(int argc, char **argv)
{
	struct arguments arguments = {0};
	struct task task;
	CUmodule module;

	read_words(argc, argv);
	MUST(cuInit, 0);
	MUST(cuCtxCreate, &task.context, NULL, 0, 0);
	MUST(cuStreamCreateWithPriority, &stream, CU_STREAM_NON_BLOCKING, -1);
	if (*before)
		load_before();
	task.function = load(cubin, &module);
	set_arguments(&arguments);
	if (strcmp(kernel, "weigh") == 0) {
		const float weights[4] = {1, 2, 3, 4};
		CUdeviceptr address = 0;
		size_t size = 0;

		MUST(cuModuleGetGlobal, &address, &size, module, "replay_weights");
		MUST(cuMemcpyHtoD, address, weights, sizeof(weights));
	}
	change_input(&arguments);
	run(&task, &arguments);
	printf("{\"pid\":%d,\"in\":%llu,\"out\":%llu,\"launches\":%lu,", (int)getpid(),
	       arguments.in, arguments.out, launches * (threads + 1));
	app_print_calls();
	printf("}\n");
	return 0;
}

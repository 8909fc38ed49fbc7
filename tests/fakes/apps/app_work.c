/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that does a known amount of work on the GPU, says so in one line of JSON, and
 * then ends in the way it is told to. See usage() for what it can be told.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fakes/apps/app_calls.h"
#include "fakes/apps/app_clone.h"
#include "fakes/fake.h"
#include "fakes/libraries/runtime.h"

enum { MAX_STREAMS = 16, MAX_THREADS = 32 };

struct plan {
	uint64_t launches; /* by each thread */
	uint64_t names;    /* kernels, in turn: work_0, work_1, ... */
	uint64_t streams;  /* 0: the default stream only */
	uint64_t threads;  /* beside main's work, each doing the same launches; 0: main does it */
	uint64_t copies;   /* each in, within and out */
	uint64_t bytes;    /* of a copy and of a fill */
	uint64_t fills;
	uint64_t graph_kernels;
	uint64_t graph_launches;
	uint64_t errors;  /* calls that fail */
	uint64_t gpus;    /* that get a context; the work is on the first */
	uint64_t workers; /* that are forked before CUDA starts, and do the launches */
	uint64_t rounds;  /* of a worker's: so often it launches and waits */
	uint64_t sleep_ms;
	uint64_t linger_ms; /* that an exit handler takes, after gputrace's or before it */
	uint64_t execs;     /* how often to start itself again at the end */
	int driver;         /* the driver API instead of the runtime's */
	int pinned;
	int no_sync;
	uint64_t user; /* to become before CUDA is used; 0: whoever started it */
	const char *end;
	const char *count_file; /* launches that returned, kept up to date in a mapped file */
};

static struct plan plan = {.names = 1, .gpus = 1, .rounds = 1, .bytes = 4096, .end = "return"};
static CUstream streams[MAX_STREAMS];
static CUcontext context;
static CUmodule module;
static atomic_ullong *launch_counter;
static atomic_ullong launched;

static const char *kernel_name(uint64_t index)
{
	static const char *const names[] = {
		"_Z6work_0PfS_i", "_Z6work_1PfS_i", "saxpy", "_ZN3app6work_3IfEEvPT_i",
		"work_4",         "work_5",         "a",     "a_kernel_with_a_longer_name",
	};

	return names[index % (sizeof(names) / sizeof(names[0]))];
}

static void start(void)
{
	if (!plan.driver) {
		MUST(cudaSetDevice, 0);
		(void)cuCtxGetCurrent(&context);
		return;
	}
	MUST(cuInit, 0);
	MUST(cuCtxCreate, &context, NULL, 0, 0);
	MUST(cuModuleLoadData, &module, "fake image");
}

static void use_other_gpus(void)
{
	for (uint64_t i = 1; i < plan.gpus; i++) {
		CUcontext other;

		MUST(cuDevicePrimaryCtxRetain, &other, (CUdevice)i);
	}
}

static void launch(const char *name, unsigned blocks, unsigned threads, CUstream stream)
{
	if (plan.driver) {
		CUfunction function;

		MUST(cuModuleGetFunction, &function, module, name);
		MUST(cuLaunchKernel, function, blocks, 1, 1, threads, 1, 1, 0, stream, NULL, NULL);
	} else {
		const dim3 grid = {blocks, 1, 1};
		const dim3 block = {threads, 1, 1};

		MUST(cudaLaunchKernel, name, grid, block, NULL, 0, stream);
	}
	atomic_fetch_add(&launched, 1);
	if (launch_counter)
		atomic_fetch_add(launch_counter, 1);
}

static void launch_all(void)
{
	for (uint64_t i = 0; i < plan.launches; i++) {
		CUstream stream = plan.streams ? streams[i % plan.streams] : NULL;

		launch(kernel_name(i % plan.names), 128 + (unsigned)(i % plan.names), 256, stream);
	}
}

static void *thread_main(void *unused)
{
	(void)unused;
	if (plan.driver)
		MUST(cuCtxSetCurrent, context);
	launch_all();
	return NULL;
}

static void launch_from_threads(void)
{
	pthread_t threads[MAX_THREADS];

	for (uint64_t i = 0; i < plan.threads; i++)
		if (pthread_create(&threads[i], NULL, thread_main, NULL))
			app_fail("pthread_create", errno);
	for (uint64_t i = 0; i < plan.threads; i++)
		(void)pthread_join(threads[i], NULL);
}

static void make_streams(void)
{
	for (uint64_t i = 0; i < plan.streams; i++) {
		if (plan.driver)
			MUST(cuStreamCreate, &streams[i], CU_STREAM_NON_BLOCKING);
		else
			MUST(cudaStreamCreate, &streams[i]);
	}
}

static void synchronise(void)
{
	if (plan.no_sync)
		return;
	if (plan.driver)
		MUST(cuCtxSynchronize, );
	else
		MUST(cudaDeviceSynchronize, );
}

/* In, within the device, out; the bytes that come back must be those that went in. */
static void copy_by_driver(unsigned char *host)
{
	CUdeviceptr first;
	CUdeviceptr second;

	MUST(cuMemAlloc, &first, plan.bytes);
	MUST(cuMemAlloc, &second, plan.bytes);
	for (uint64_t i = 0; i < plan.fills; i++)
		MUST(cuMemsetD8, second, 7, plan.bytes);
	for (uint64_t i = 0; i < plan.copies; i++) {
		memset(host, (int)i + 1, plan.bytes);
		MUST(cuMemcpyHtoD, first, host, plan.bytes);
		MUST(cuMemcpyDtoD, second, first, plan.bytes);
		memset(host, 0, plan.bytes);
		MUST(cuMemcpyDtoH, host, second, plan.bytes);
		if (host[0] != (unsigned char)(i + 1))
			app_fail("copied bytes", host[0]);
	}
	MUST(cuMemFree, second);
	MUST(cuMemFree, first);
}

static void copy_by_runtime(unsigned char *host)
{
	void *first = NULL;
	void *second = NULL;

	MUST(cudaMalloc, &first, plan.bytes);
	MUST(cudaMalloc, &second, plan.bytes);
	for (uint64_t i = 0; i < plan.fills; i++)
		MUST(cudaMemset, second, 7, plan.bytes);
	for (uint64_t i = 0; i < plan.copies; i++) {
		memset(host, (int)i + 1, plan.bytes);
		MUST(cudaMemcpy, first, host, plan.bytes, cudaMemcpyHostToDevice);
		MUST(cudaMemcpy, second, first, plan.bytes, cudaMemcpyDeviceToDevice);
		memset(host, 0, plan.bytes);
		MUST(cudaMemcpy, host, second, plan.bytes, cudaMemcpyDeviceToHost);
		if (host[0] != (unsigned char)(i + 1))
			app_fail("copied bytes", host[0]);
	}
	MUST(cudaFree, second);
	MUST(cudaFree, first);
}

static void copy_all(void)
{
	void *host = NULL;

	if (!plan.copies && !plan.fills)
		return;
	if (plan.pinned && plan.driver)
		MUST(cuMemAllocHost, &host, plan.bytes);
	else if (plan.pinned)
		MUST(cudaMallocHost, &host, plan.bytes);
	else
		host = malloc(plan.bytes);
	if (plan.driver)
		copy_by_driver(host);
	else
		copy_by_runtime(host);
	if (plan.pinned && plan.driver)
		MUST(cuMemFreeHost, host);
	else if (plan.pinned)
		MUST(cudaFreeHost, host);
	else
		free(host);
}

static void launch_graphs(void)
{
	CUDA_KERNEL_NODE_PARAMS node = {
		.gridDimX = 64,
		.gridDimY = 1,
		.gridDimZ = 1,
		.blockDimX = 128,
		.blockDimY = 1,
		.blockDimZ = 1,
	};
	CUgraph graph;
	CUgraphExec exec;
	CUgraphNode last = NULL;

	if (!plan.graph_launches)
		return;
	if (!module)
		MUST(cuModuleLoadData, &module, "fake image of the graph");
	MUST(cuModuleGetFunction, &node.func, module, "graph_kernel");
	MUST(cuGraphCreate, &graph, 0);
	for (uint64_t i = 0; i < plan.graph_kernels; i++)
		MUST(cuGraphAddKernelNode, &last, graph, &last, i ? 1 : 0, &node);
	MUST(cuGraphInstantiateWithFlags, &exec, graph, 0);
	for (uint64_t i = 0; i < plan.graph_launches; i++)
		MUST(cuGraphLaunch, exec, NULL);
	synchronise();
	MUST(cuGraphExecDestroy, exec);
	MUST(cuGraphDestroy, graph);
}

static void fail_on_purpose(void)
{
	for (uint64_t i = 0; i < plan.errors; i++) {
		const int result =
			plan.driver ? app_counted("cuMemFree", (int)cuMemFree((CUdeviceptr)64))
				    : app_counted("cudaFree", (int)cudaFree((void *)64));

		if (result != CUDA_ERROR_INVALID_VALUE)
			app_fail("a free that must fail", result);
	}
}

static void print_kernels(void)
{
	const uint64_t workers = plan.threads ? plan.threads : 1;
	const char *comma = "";

	printf("\"kernels\":{");
	for (uint64_t i = 0; i < plan.names; i++) {
		const uint64_t share =
			plan.launches / plan.names + (i < plan.launches % plan.names);

		if (share)
			printf("%s\"%s\":%llu", comma, kernel_name(i),
			       (unsigned long long)(share * workers));
		comma = share ? "," : comma;
	}
	if (plan.graph_launches)
		printf("%s\"graph_kernel\":%llu", comma,
		       (unsigned long long)(plan.graph_launches * plan.graph_kernels));
	printf("},");
}

static void print_facts(void)
{
	printf("{\"pid\":%d,\"launches\":%llu,\"graph_launches\":%llu,\"kernel_count\":%llu,",
	       (int)getpid(), atomic_load(&launched), (unsigned long long)plan.graph_launches,
	       atomic_load(&launched) +
	               (unsigned long long)(plan.graph_launches * plan.graph_kernels));
	print_kernels();
	printf("\"copies\":%llu,\"copy_bytes\":%llu,\"fills\":%llu,\"fill_bytes\":%llu,"
	       "\"errors\":%llu,",
	       (unsigned long long)plan.copies * 3,
	       (unsigned long long)(plan.copies * 3 * plan.bytes), (unsigned long long)plan.fills,
	       (unsigned long long)(plan.fills * plan.bytes), (unsigned long long)plan.errors);
	app_print_calls();
	printf("}\n");
	(void)fflush(stdout);
}

static void sleep_ms(uint64_t ms)
{
	struct timespec left = {
		.tv_sec = (time_t)(ms / 1000),
		.tv_nsec = (long)(ms % 1000) * 1000000,
	};

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

static void *spin_main(void *unused)
{
	(void)unused;
	if (plan.driver)
		MUST(cuCtxSetCurrent, context);
	for (;;)
		launch(kernel_name(0), 32, 64, NULL);
	return NULL;
}

/* An exit handler of the program that takes its time, with threads that go on meanwhile. */
static void linger(void)
{
	sleep_ms(plan.linger_ms);
}

/* Threads launch as fast as they can while the program ends. */
static int end_exit_spinning(void)
{
	for (uint64_t i = 0; i < (plan.threads ? plan.threads : 1); i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, spin_main, NULL))
			app_fail("pthread_create", errno);
	}
	sleep_ms(20);
	exit(0);
}

/* The child of a process that used CUDA launches; as with the driver that works only sometimes. */
static int end_forked_working(pid_t (*split)(void))
{
	int status = 0;
	const pid_t child = split();

	if (child == 0) {
		launch_all();
		synchronise();
		/* Behind fork() locks are free; behind clone another thread may have the loader's. */
		if (split == fork)
			exit(0);
		_exit(0);
	}
	(void)waitpid(child, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		app_fail("the child", status);
	return 0;
}

/* The child of a process that used CUDA: calls fail there, and nothing of it is recorded. */
static int end_forked(int call_cuda)
{
	int status = 0;
	const pid_t child = fork();

	if (child == 0) {
		if (call_cuda && cudaDeviceSynchronize() == cudaSuccess)
			exit(98);
		exit(0);
	}
	(void)waitpid(child, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		app_fail("the child", status);
	return 0;
}

/* As Python's multiprocessing has it: the worker is done when its work is, and says no goodbye. */
static _Noreturn void work(void)
{
	start();
	make_streams();
	for (uint64_t i = 0; i < plan.rounds; i++) {
		launch_all();
		synchronise();
	}
	_exit(0);
}

static void fork_workers(void)
{
	for (uint64_t i = 0; i < plan.workers; i++)
		if (fork() == 0)
			work();
	for (uint64_t i = 0; i < plan.workers; i++) {
		int status = 0;

		(void)wait(&status);
		if (!WIFEXITED(status) || WEXITSTATUS(status))
			app_fail("a worker", status);
	}
}

static int end_exec(char **argv)
{
	if (!plan.execs)
		return 0;
	for (size_t i = 1; argv[i]; i++)
		if (strcmp(argv[i], "--execs") == 0 && argv[i + 1]) {
			char left[32];

			(void)snprintf(left, sizeof(left), "%llu",
			               (unsigned long long)plan.execs - 1);
			argv[i + 1] = left;
			(void)execv("/proc/self/exe", argv);
		}
	app_fail("execv", errno);
	return 1;
}

static void end_spinning(void)
{
	for (uint64_t i = 0;; i++)
		launch(kernel_name(0), 32, 64, NULL);
}

static int end(char **argv)
{
	const char *value = strchr(plan.end, '=');
	const int status = value ? atoi(value + 1) : 0;

	if (strncmp(plan.end, "exit=", 5) == 0)
		exit(status);
	if (strncmp(plan.end, "_exit=", 6) == 0)
		_exit(status);
	if (strncmp(plan.end, "return=", 7) == 0)
		return status;
	if (strcmp(plan.end, "abort") == 0)
		abort();
	if (strcmp(plan.end, "segv") == 0)
		(void)raise(SIGSEGV);
	if (strcmp(plan.end, "kill") == 0)
		(void)raise(SIGKILL);
	if (strcmp(plan.end, "term") == 0)
		(void)raise(SIGTERM);
	if (strcmp(plan.end, "wait") == 0)
		(void)pause();
	if (strcmp(plan.end, "fork") == 0)
		return end_forked(0);
	if (strcmp(plan.end, "exit_spin") == 0)
		return end_exit_spinning();
	if (strcmp(plan.end, "fork_work") == 0)
		return end_forked_working(fork);
	if (strcmp(plan.end, "clone_work") == 0)
		return end_forked_working(app_clone);
	if (strcmp(plan.end, "fork_cuda") == 0)
		return end_forked(1);
	if (strcmp(plan.end, "exec") == 0)
		return end_exec(argv);
	if (strcmp(plan.end, "return") != 0)
		app_fail(plan.end, 0);
	return 0;
}

static void usage(void)
{
	(void)fputs("usage: app_work [--launches N] [--names N] [--streams N] [--threads N]\n"
	            "  [--copies N] [--bytes N] [--fills N] [--graph KERNELSxLAUNCHES]\n"
	            "  [--errors N] [--sleep-ms N] [--execs N] [--driver] [--pinned] [--no-sync]\n"
	            "  [--no-cuda] [--count-file FILE] [--end return=N|exit=N|_exit=N|abort|segv|\n"
	            "  kill|term|wait|spin|exit_spin|fork|fork_cuda|fork_work|clone_work|exec]\n"
	            "  [--user ID] [--linger-ms N] [--gpus N] [--workers N] [--rounds N]\n",
	            stderr);
	exit(2);
}

static void open_count_file(void)
{
	const int fd = open(plan.count_file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, sizeof(*launch_counter)))
		app_fail(plan.count_file, errno);
	launch_counter =
		mmap(NULL, sizeof(*launch_counter), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	(void)close(fd);
}

/* Returns whether the word was one that takes a number. */
static int read_number(const char *word, const char *value)
{
	static const struct {
		const char *name;
		uint64_t *field;
	} numbers[] = {
		{"--launches", &plan.launches}, {"--names", &plan.names},
		{"--streams", &plan.streams},   {"--threads", &plan.threads},
		{"--copies", &plan.copies},     {"--bytes", &plan.bytes},
		{"--fills", &plan.fills},       {"--errors", &plan.errors},
		{"--sleep-ms", &plan.sleep_ms}, {"--execs", &plan.execs},
		{"--user", &plan.user},         {"--linger-ms", &plan.linger_ms},
		{"--gpus", &plan.gpus},         {"--workers", &plan.workers},
		{"--rounds", &plan.rounds},
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (strcmp(word, numbers[i].name) == 0) {
			*numbers[i].field = strtoull(value, NULL, 10);
			return 1;
		}
	return 0;
}

static void read_arguments(int argc, char **argv, int *no_cuda)
{
	for (int i = 1; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : "";

		if (strcmp(argv[i], "--driver") == 0)
			plan.driver = 1;
		else if (strcmp(argv[i], "--pinned") == 0)
			plan.pinned = 1;
		else if (strcmp(argv[i], "--no-sync") == 0)
			plan.no_sync = 1;
		else if (strcmp(argv[i], "--no-cuda") == 0)
			*no_cuda = 1;
		else if (strcmp(argv[i], "--end") == 0 && ++i)
			plan.end = value;
		else if (strcmp(argv[i], "--count-file") == 0 && ++i)
			plan.count_file = value;
		else if (strcmp(argv[i], "--graph") == 0 && ++i)
			(void)sscanf(value, "%lux%lu", &plan.graph_kernels, &plan.graph_launches);
		else if (read_number(argv[i], value))
			i++;
		else
			usage();
	}
	if (plan.streams > MAX_STREAMS || plan.threads > MAX_THREADS || !plan.names)
		usage();
}

int main(int argc, char **argv)
{
	int no_cuda = 0;

	read_arguments(argc, argv, &no_cuda);
	if (plan.count_file)
		open_count_file();
	if (plan.linger_ms && atexit(linger))
		app_fail("atexit", errno);
	if (plan.user && setuid((uid_t)plan.user))
		app_fail("setuid", errno);
	fork_workers();
	if (!no_cuda) {
		start();
		use_other_gpus();
		make_streams();
		if (plan.threads)
			launch_from_threads();
		else
			launch_all();
		copy_all();
		fail_on_purpose();
		launch_graphs();
		synchronise();
	}
	sleep_ms(plan.sleep_ms);
	print_facts();
	if (strcmp(plan.end, "spin") == 0)
		end_spinning();
	return end(argv);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that launch a kernel that only counts, each on a stream of its own, in a program that
 * ends in the middle of it: ends FILE THREADS WAY MILLISECONDS [USER]
 *
 * FILE outlives the program: it is written through shared memory, so that it is right however the
 * program ends. It holds 64-bit numbers: the process id, then, for each thread, the launches that
 * were begun, that returned well and that were refused; the last row is the child's of WAY fork.
 *
 * WAY is what happens after so many milliseconds: end (the threads stop and are waited for), exit,
 * exit-in-thread, return, _exit, quick_exit, abort, segv, kill, exec, fork (a child launches too,
 * then the program ends as with end). With USER it becomes that user before it uses CUDA.
 */
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cuda_runtime.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_THREADS = 64, CHILD_LAUNCHES = 5, WAIT_US = 500, WAITED_US = 50000, PATIENCE = 20000 };

struct count {
	volatile uint64_t begun;
	volatile uint64_t returned;
	volatile uint64_t refused;
	volatile uint64_t finished; /* kernels: they write it */
};

struct counts {
	uint64_t pid;
	struct count threads[MAX_THREADS + 1]; /* one more for the child */
};

static struct counts *counts;
static struct counts *device_counts; /* the same as kernels see it; NULL: they do not */
static cudaStream_t streams[MAX_THREADS];
static std::atomic<bool> stop;

/* Those of one thread of the program run one after the other. */
__global__ void counted(volatile uint64_t *finished)
{
	if (finished && threadIdx.x == 0)
		*finished = *finished + 1;
}

static volatile uint64_t *finished_of(const struct count *count)
{
	return device_counts ? &device_counts->threads[count - counts->threads].finished : NULL;
}

static void launch(struct count *count, cudaStream_t stream)
{
	count->begun = count->begun + 1;
	counted<<<1, 32, 0, stream>>>(finished_of(count));
	if (cudaGetLastError() == cudaSuccess)
		count->returned = count->returned + 1;
	else
		count->refused = count->refused + 1;
}

static void *work(void *argument)
{
	struct count *count = (struct count *)argument;
	cudaStream_t stream = streams[count - counts->threads];

	while (!stop)
		launch(count, stream);
	return NULL;
}

static bool has_begun(int threads)
{
	for (int i = 0; i < threads; i++)
		if (counts->threads[i].returned)
			return true;
	return false;
}

static void *leave(void *)
{
	exit(3);
}

static void launch_in_child()
{
	const pid_t child = fork();

	if (child == 0) {
		for (int i = 0; i < CHILD_LAUNCHES; i++)
			launch(&counts->threads[MAX_THREADS], NULL);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static int end(pthread_t *threads, int number)
{
	stop = true;
	for (int i = 0; i < number; i++)
		pthread_join(threads[i], NULL);
	return cudaDeviceSynchronize() != cudaSuccess;
}

static void *become_other(void *)
{
	execl("/bin/true", "true", (char *)NULL);
	return NULL;
}

/* Until all kernels have finished, as they say; false: they do not come to it. */
static bool settle(int number)
{
	for (int tries = 0; tries < PATIENCE; tries++) {
		int left = 0;

		for (int i = 0; i < number; i++)
			left += counts->threads[i].finished != counts->threads[i].returned;
		if (left == 0)
			return true;
		usleep(WAIT_US);
	}
	return false;
}

/* Does what stands before the way; returns the way. */
static const char *come_to_rest(const char *way, pthread_t *threads, int number)
{
	const bool settled = strncmp(way, "settled:", 8) == 0;
	const bool waited = strncmp(way, "waited:", 7) == 0;

	if (!settled && !waited)
		return way;
	stop = true;
	for (int i = 0; i < number; i++)
		pthread_join(threads[i], NULL);
	if (waited) {
		cudaDeviceSynchronize();
		usleep(WAITED_US);
	} else if (!device_counts || !settle(number)) {
		fprintf(stderr, "ends: kernels do not say when they have finished\n");
		exit(2);
	}
	return strchr(way, ':') + 1;
}

/* Returns only where main is to return. */
static int leave_by(const char *way, pthread_t *threads, int number)
{
	pthread_t other;

	if (strcmp(way, "end") == 0)
		return end(threads, number);
	if (strcmp(way, "fork") == 0) {
		launch_in_child();
		return end(threads, number);
	}
	if (strcmp(way, "return") == 0)
		return 3;
	if (strcmp(way, "exit-in-thread") == 0) {
		pthread_create(&other, NULL, leave, NULL);
		pthread_join(other, NULL);
	}
	if (strcmp(way, "exit") == 0)
		exit(3);
	if (strcmp(way, "_exit") == 0)
		_exit(3);
	if (strcmp(way, "_Exit") == 0)
		_Exit(3);
	if (strcmp(way, "quick_exit") == 0)
		quick_exit(3);
	if (strcmp(way, "abort") == 0)
		abort();
	if (strcmp(way, "segv") == 0)
		raise(SIGSEGV);
	if (strcmp(way, "kill") == 0)
		raise(SIGKILL);
	if (strcmp(way, "exec") == 0)
		become_other(NULL);
	if (strcmp(way, "exec-in-thread") == 0) {
		pthread_create(&other, NULL, become_other, NULL);
		pthread_join(other, NULL);
	}
	fprintf(stderr, "ends: no way to end is called '%s'\n", way);
	return 2;
}

int main(int argc, char **argv)
{
	pthread_t threads[MAX_THREADS];
	const int number = argc > 4 ? atoi(argv[2]) : 0;
	const int file = argc > 4 ? open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0644) : -1;

	if (number < 1 || number > MAX_THREADS || file < 0 ||
	    ftruncate(file, sizeof(*counts)) < 0) {
		fprintf(stderr, "usage: ends FILE THREADS WAY MILLISECONDS [USER]\n");
		return 2;
	}
	counts = (struct counts *)mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED,
	                               file, 0);
	if (counts == MAP_FAILED || (argc > 5 && setuid((uid_t)atoi(argv[5])) < 0)) {
		perror("ends");
		return 2;
	}
	if (cudaFree(NULL) != cudaSuccess) {
		fprintf(stderr, "ends: CUDA does not start\n");
		return 2;
	}
	if (cudaHostRegister(counts, sizeof(*counts), cudaHostRegisterMapped) == cudaSuccess)
		cudaHostGetDevicePointer((void **)&device_counts, counts, 0);
	(void)cudaGetLastError();
	counts->pid = (uint64_t)getpid();
	for (int i = 0; i < number; i++)
		cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking);
	for (int i = 0; i < number; i++)
		pthread_create(&threads[i], NULL, work, &counts->threads[i]);
	/* Not for all of them: eight that launch can keep a ninth from the driver's lock for ever. */
	while (!has_begun(number))
		usleep(WAIT_US);
	usleep((useconds_t)atoi(argv[4]) * 1000);
	return leave_by(come_to_rest(argv[3], threads, number), threads, number);
}

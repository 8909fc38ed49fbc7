/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that closes every descriptor but the standard ones and puts its own file in their
 * place, round after round, while a thread of it launches: app_descriptors ROUNDS FILE.
 * It says in one line of JSON how often it launched and how many bytes are in its file, into which
 * it writes nothing.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cuda.h>

enum { FIRST = 3, MOST = 1024, LAUNCHES_A_TURN = 50 };

static CUcontext context;
static CUfunction kernel;
static atomic_bool over;
static atomic_long launches;

static void must(int done, const char *what)
{
	if (done)
		return;
	(void)fprintf(stderr, "app_descriptors: %s\n", what);
	exit(99);
}

static void *launch(void *unused)
{
	(void)unused;
	must(cuCtxSetCurrent(context) == CUDA_SUCCESS, "cuCtxSetCurrent");
	while (!atomic_load(&over)) {
		for (int i = 0; i < LAUNCHES_A_TURN; i++)
			must(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL) ==
			             CUDA_SUCCESS,
			     "cuLaunchKernel");
		atomic_fetch_add(&launches, LAUNCHES_A_TURN);
		must(cuCtxSynchronize() == CUDA_SUCCESS, "cuCtxSynchronize");
		usleep(1000);
	}
	return NULL;
}

/* Where libraries put descriptors: the lowest numbers, and high ones that keep out of the way. */
static void replace_all(const char *path)
{
	static const int places[][2] = {{FIRST, 24}, {500, 520}, {1000, MOST}};
	int fd;

	for (int i = FIRST; i < MOST; i++)
		close(i);
	fd = open(path, O_RDWR | O_APPEND);
	must(fd >= 0, path);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		for (int to = places[i][0]; to < places[i][1]; to++)
			must(to == fd || dup2(fd, to) == to, "dup2");
}

int main(int argc, char **argv)
{
	const long rounds = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
	const char *path = argv[argc - 1];
	struct stat status;
	CUmodule module;
	pthread_t thread;

	must(rounds > 0, "ROUNDS FILE");
	must(close(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600)) == 0, path);
	must(cuInit(0) == CUDA_SUCCESS, "cuInit");
	must(cuCtxCreate(&context, NULL, 0, 0) == CUDA_SUCCESS, "cuCtxCreate");
	must(cuModuleLoadData(&module, "fake image") == CUDA_SUCCESS, "cuModuleLoadData");
	must(cuModuleGetFunction(&kernel, module, "work") == CUDA_SUCCESS, "cuModuleGetFunction");
	must(pthread_create(&thread, NULL, launch, NULL) == 0, "pthread_create");
	for (long i = 0; i < rounds; i++)
		replace_all(path);
	atomic_store(&over, true);
	must(pthread_join(thread, NULL) == 0, "pthread_join");
	must(stat(path, &status) == 0, path);
	printf("{\"launches\": %ld, \"bytes\": %lld}\n", atomic_load(&launches),
	       (long long)status.st_size);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program in which several shared objects get memory; it says in one line of JSON which of them
 * asked for how much. app_askers FOLDER, with asker.so and asker_outer.so.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "fakes/apps/app_calls.h"
#include "fakes/fake.h"
#include "fakes/libraries/asker.h"
#include "fakes/libraries/runtime.h"

static void *open_library(const char *folder, const char *name)
{
	char path[512];
	void *library;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		fprintf(stderr, "app_askers: %s\n", dlerror());
		exit(1);
	}
	return library;
}

static asker *find(void *library, const char *name)
{
	asker *found = NULL;

	*(void **)&found = dlsym(library, name);
	return found;
}

static void ask(asker *by, size_t size)
{
	if (by(size) != CUDA_SUCCESS)
		app_fail("asker", 0);
}

/* On a thread of its own, which has a stack of its own. */
static void *elsewhere(void *by)
{
	asker *function = NULL;

	*(void **)&function = by;
	ask(function, 7000);
	return NULL;
}

int main(int argc, char **argv)
{
	const struct timespec pause = {.tv_nsec = 300000000};
	void *library = open_library(argv[argc - 1], "asker.so");
	asker *runtime = find(library, "asker_runtime");
	asker *driver = find(library, "asker_driver");
	CUdeviceptr memory = 0;
	pthread_t thread;
	void *runtimes = NULL;
	asker *outer_driver;
	CUcontext context;
	void *outer;
	CUresult (*through)(asker *, size_t) = NULL;

	MUST(cuInit, 0);
	MUST(cuCtxCreate, &context, NULL, 0, 0);
	MUST(cuMemAlloc, &memory, 1000);
	MUST(cudaMalloc, &runtimes, 2000);
	ask(driver, 3000);
	ask(runtime, 4000);
	outer = open_library(argv[argc - 1], "asker_outer.so");
	nanosleep(&pause, NULL); /* until the mappings have been read again */
	outer_driver = find(outer, "asker_driver");
	ask(outer_driver, 5000);
	*(void **)&through = dlsym(outer, "asker_outer");
	if (through(runtime, 6000) != CUDA_SUCCESS)
		app_fail("asker_outer", 0);
	(void)pthread_create(&thread, NULL, elsewhere, dlsym(library, "asker_runtime"));
	(void)pthread_join(thread, NULL);
	printf("{\"asked\": [[1000, \"app_askers\"], [2000, \"app_askers\"], [3000, \"asker.so\"], "
	       "[4000, \"asker.so\"], [5000, \"asker_outer.so\"], [6000, \"asker.so\"], "
	       "[6001, \"asker_outer.so\"], [7000, \"asker.so\"]]}\n");
	return 0;
}

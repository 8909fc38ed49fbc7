/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <nvtx3/nvToolsExt.h>

/*
 * A library that is preloaded and puts functions of its own before those of the system, which push
 * ranges. gputrace calls them too. The variable NVTX_PRELOAD says which one pushes.
 */

static void push_in(const char *function)
{
	const char *wanted = getenv("NVTX_PRELOAD");

	if (!wanted || strcmp(wanted, function) != 0)
		return;
	nvtxRangePushA(function);
	nvtxRangePop();
}

int mkdir(const char *path, mode_t mode)
{
	int (*next)(const char *, mode_t);

	*(void **)&next = dlsym(RTLD_NEXT, "mkdir");
	push_in("mkdir");
	return next(path, mode);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument)
{
	int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

	*(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
	push_in("pthread_create");
	return next(thread, attributes, run, argument);
}

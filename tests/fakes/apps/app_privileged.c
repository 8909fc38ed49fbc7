/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that may run with more rights than who starts it, and loads gputrace's library as CUDA
 * does: app_privileged LIBRARY. It says whether the system took it for one, in JSON.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <sys/auxv.h>

int main(int argc, char **argv)
{
	void *library = dlopen(argv[argc - 1], RTLD_NOW);
	int (*initialize)(void) = NULL;

	if (library)
		*(void **)&initialize = dlsym(library, "InitializeInjection");
	if (!initialize) {
		(void)fprintf(stderr, "app_privileged: %s\n", dlerror());
		return 99;
	}
	printf("{\"privileged\": %d, \"initialized\": %d}\n", getauxval(AT_SECURE) != 0,
	       initialize());
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that loads a module, of a cubin or of PTX, launches functions of it and unloads it
 * again, as often as it is told to, and says in one line of JSON what it did.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fakes/apps/app_calls.h"
#include "fakes/fake.h"

enum { MOST_BYTES = 8 << 20 };

static const char *const functions[] = {"_Z5scaleIfEvPT_S0_i", "plain"};

static uint64_t times = 1;    /* that it is loaded */
static uint64_t launches = 3; /* of each function, each time */
static int keep_loaded;
static int dies; /* at the end, without a word to anybody */
static char image[MOST_BYTES] = ".version 8.0\n.target sm_90\n";

static void read_image(const char *path)
{
	FILE *file = fopen(path, "rb");

	if (!file || fread(image, 1, sizeof(image) - 1, file) == 0)
		app_fail(path, errno);
	(void)fclose(file);
}

static void launch_all(CUmodule module)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		CUfunction function;

		MUST(cuModuleGetFunction, &function, module, functions[i]);
		for (uint64_t n = 0; n < launches; n++)
			MUST(cuLaunchKernel, function, 4, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL);
	}
	MUST(cuCtxSynchronize, );
}

static void usage(void)
{
	(void)fputs(
		"usage: app_modules [--cubin FILE] [--times N] [--launches N] [--keep] [--die]\n",
		stderr);
	exit(2);
}

static void read_words(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--keep") == 0)
			keep_loaded = 1;
		else if (strcmp(argv[i], "--die") == 0)
			dies = 1;
		else if (strcmp(argv[i], "--cubin") == 0 && i + 1 < argc)
			read_image(argv[++i]);
		else if (strcmp(argv[i], "--times") == 0 && i + 1 < argc)
			times = strtoull(argv[++i], NULL, 10);
		else if (strcmp(argv[i], "--launches") == 0 && i + 1 < argc)
			launches = strtoull(argv[++i], NULL, 10);
		else
			usage();
	}
}

int main(int argc, char **argv)
{
	CUcontext context;

	read_words(argc, argv);
	MUST(cuInit, 0);
	MUST(cuCtxCreate, &context, NULL, 0, 0);
	for (uint64_t i = 0; i < times; i++) {
		CUmodule module;

		MUST(cuModuleLoadData, &module, image);
		launch_all(module);
		if (!keep_loaded)
			MUST(cuModuleUnload, module);
	}
	printf("{\"pid\":%d,\"loaded\":%lu,\"launches\":%lu,", (int)getpid(), times,
	       2 * times * launches);
	app_print_calls();
	printf("}\n");
	(void)fflush(stdout);
	if (dies)
		(void)raise(SIGKILL);
	return 0;
}

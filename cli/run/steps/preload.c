/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/steps/steps.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "cli/doctor/elf_head.h"
#include "cli/doctor/program.h"
#include "cli/output/say.h"

#define LIBRARY     "libgputrace-end.so"
#define PRELOAD     "LD_PRELOAD"
#define ASAN        "ASAN_OPTIONS"
#define LINK_ORDER  "verify_asan_link_order"
#define CANNOT_NAME " \t\n:$" /* ends a path in LD_PRELOAD, or stands for something */

/* Beside the injection library; false: there is none. */
static bool find_library(const struct gt_environment *environment, char path[PATH_MAX])
{
	const char *injection = gt_environment_find(environment, "CUDA_INJECTION64_PATH");
	const char *slash = injection ? strrchr(injection, '/') : NULL;

	return slash &&
	       snprintf(path, PATH_MAX, "%.*s/" LIBRARY, (int)(slash - injection), injection) <
	               PATH_MAX &&
	       access(path, R_OK) == 0;
}

/*
 * The loader of the C library says so on stderr when it cannot load a library, and another C
 * library's ends the program. A static program has no loader, but may start programs that have one.
 */
static bool can_take_it(const char *name)
{
	struct gt_program program;

	gt_program_read(&program, name);
	return !strstr(program.elf.loader, "musl") &&
	       (program.elf.machine == 0 || program.elf.machine == gt_elf_machine_here());
}

/* Sets a variable to two texts with a colon between them. */
static void join(struct gt_environment *environment, const char *name, const char *first,
                 const char *second)
{
	const size_t size = strlen(first) + strlen(second) + 2;
	char *text = gt_allocate(size);

	snprintf(text, size, "%s:%s", first, second);
	gt_environment_set(environment, name, text);
	free(text);
}

static void put_first(struct gt_environment *environment, const char *path)
{
	const char *before = gt_environment_find(environment, PRELOAD);

	if (!before || !*before)
		gt_environment_set(environment, PRELOAD, path);
	else if (!strstr(before, path)) /* a run inside a run */
		join(environment, PRELOAD, path, before);
}

/* A program that is linked with gcc's address sanitizer does not start where that is not first. */
static void appease_sanitizer(struct gt_environment *environment)
{
	const char *before = gt_environment_find(environment, ASAN);

	if (!before || !*before)
		gt_environment_set(environment, ASAN, LINK_ORDER "=0");
	else if (!strstr(before, LINK_ORDER))
		join(environment, ASAN, before, LINK_ORDER "=0");
}

void gt_run_set_preload(struct gt_run *run)
{
	char path[PATH_MAX];

	if (run->args->no_preload || !find_library(&run->environment, path) ||
	    !can_take_it(run->program[0]))
		return;
	if (strpbrk(path, CANNOT_NAME)) {
		gt_say("%s is not preloaded: LD_PRELOAD cannot name it; install gputrace where no "
		       "blank, colon or dollar sign is in the path, or run with --no-preload",
		       path);
		return;
	}
	put_first(&run->environment, path);
	appease_sanitizer(&run->environment);
}

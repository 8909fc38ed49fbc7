/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/strangers.h"

#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"

/* A program that has a file called libcuda.so in memory: it is that file itself, a copy of cat. */

enum { PART = 4096 }; /* of a file of /proc that is read together */

static const char variable[] = "CUDA_INJECTION64_PATH=/injection.so";

static char folder[] = "/tmp/gputrace-strangers-XXXXXX";
static char program[64];

static void make(void)
{
	char command[128];

	cr_assert(ne(ptr, mkdtemp(folder), NULL));
	snprintf(program, sizeof(program), "%s/libcuda.so", folder);
	snprintf(command, sizeof(command), "cp \"$(command -v cat)\" %s", program);
	cr_assert(eq(int, system(command), 0));
}

static void drop(void)
{
	unlink(program);
	rmdir(folder);
}

TestSuite(strangers, .init = make, .fini = drop);

static size_t strangers_among(pid_t pid)
{
	struct gt_strangers strangers = {0};
	size_t count;

	gt_strangers_look(&strangers, pid);
	count = strangers.list.count;
	if (count)
		cr_expect(eq(u32, strangers.list.rows[0].pid, (uint32_t)pid));
	gt_array_release(&strangers.list);
	return count;
}

/* How many strangers there are while the program runs in that environment. */
static size_t strangers_with(char *const *environment)
{
	char *const argv[] = {program, NULL};
	posix_spawn_file_actions_t actions;
	char byte = 'x';
	int to[2];
	int from[2];
	size_t count;
	pid_t pid;

	cr_assert(pipe(to) == 0 && pipe(from) == 0);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
	posix_spawn_file_actions_addclose(&actions, to[1]);
	cr_assert(eq(int, posix_spawn(&pid, program, &actions, NULL, argv, environment), 0));
	posix_spawn_file_actions_destroy(&actions);
	/* Its answer shows that it is at work. */
	cr_assert(eq(long, (long)write(to[1], &byte, 1), 1));
	cr_assert(eq(long, (long)read(from[0], &byte, 1), 1));
	count = strangers_among(pid);
	kill(pid, SIGKILL);
	cr_assert(eq(int, waitpid(pid, NULL, 0), pid));
	close(to[0]);
	close(to[1]);
	close(from[0]);
	close(from[1]);
	return count;
}

Test(strangers, have_cuda_and_nothing_that_names_the_library)
{
	char other[] = "CUDA_INJECTION64=1";

	cr_expect(eq(sz, strangers_with((char *const[]){NULL}), 1));
	cr_expect(eq(sz, strangers_with((char *const[]){other, NULL}), 1));
	cr_expect(eq(sz, strangers_with((char *const[]){(char *)(uintptr_t)variable, NULL}), 0));
}

/* It is read in parts: the name may be cut anywhere. */
Test(strangers, are_none_wherever_the_variable_stands)
{
	const size_t name = strcspn(variable, "=") + 1;
	char long_one[PART];

	for (size_t before = 0; before <= name; before++) {
		memset(long_one, 'a', sizeof(long_one));
		long_one[1] = '=';
		long_one[PART - before - 1] = '\0';
		cr_expect(eq(sz,
		             strangers_with(
				     (char *const[]){long_one, (char *)(uintptr_t)variable, NULL}),
		             0),
		          "%zu bytes of the name before the end of a part", before);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <unistd.h>

/* A library that programs preload themselves: it says so where they end, and hands on. */

static void say(const char *text, size_t size)
{
	(void)!write(STDOUT_FILENO, text, size);
}

_Noreturn void _exit(int status)
{
	__attribute__((noreturn)) void (*next)(int);

	*(void **)&next = dlsym(RTLD_NEXT, "_exit");
	say("own _exit\n", sizeof("own _exit\n") - 1);
	next(status);
}

int execve(const char *path, char *const arguments[], char *const environment[])
{
	int (*next)(const char *, char *const[], char *const[]);

	*(void **)&next = dlsym(RTLD_NEXT, "execve");
	say("own execve\n", sizeof("own execve\n") - 1);
	return next(path, arguments, environment);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/end/end.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * libgputrace-end.so stands in front of the C library in each process of a run: functions that end
 * the process without its exit handlers, or make another program of it, first ask the injection
 * library, where that is, to fetch what CUPTI has finished. Then they do what they always do.
 *
 * Programs that never use CUDA have it too. It needs nothing of the C library but dlsym, takes no
 * memory and no lock, and starts no thread. It handles no signals: a handler would show in
 * sigaction and in /proc, and in who is said to have sent the signal.
 */

static _Atomic(void (*)(void)) fetch_last;

/* The next library's functions of these names. */
static struct {
	bool found;
	__attribute__((noreturn)) void (*exit_at_once)(int status);
	__attribute__((noreturn)) void (*exit_at_once_c)(int status);
	__attribute__((noreturn)) void (*exit_quickly)(int status);
	__attribute__((noreturn)) void (*abort)(void);
	int (*execv)(const char *path, char *const arguments[]);
	int (*execve)(const char *path, char *const arguments[], char *const environment[]);
	int (*execvp)(const char *file, char *const arguments[]);
	int (*execvpe)(const char *file, char *const arguments[], char *const environment[]);
	int (*fexecve)(int fd, char *const arguments[], char *const environment[]);
} next;

#define FIND(function, name) *(void **)&next.function = dlsym(RTLD_NEXT, name)

/*
 * When the library is loaded: at the end itself nothing may be looked for. Another library that is
 * initialised before may be the first to call one of the functions.
 */
__attribute__((constructor)) static void find(void)
{
	if (next.found)
		return;
	FIND(exit_at_once, "_exit");
	FIND(exit_at_once_c, "_Exit");
	FIND(exit_quickly, "quick_exit");
	FIND(abort, "abort");
	FIND(execv, "execv");
	FIND(execve, "execve");
	FIND(execvp, "execvp");
	FIND(execvpe, "execvpe");
	FIND(fexecve, "fexecve");
	next.found = true;
}

static void before_end(void)
{
	/* Pairs with the release in gputrace_end_register. */
	void (*fetch)(void) = atomic_load_explicit(&fetch_last, memory_order_acquire);

	if (fetch)
		fetch();
	find();
}

/* NOLINTBEGIN(readability-identifier-naming,readability-inconsistent-declaration-parameter-name):
 * names of the C library */

void gputrace_end_register(void (*fetch)(void))
{
	atomic_store_explicit(&fetch_last, fetch, memory_order_release);
}

void _exit(int status)
{
	before_end();
	next.exit_at_once(status);
}

void _Exit(int status)
{
	before_end();
	next.exit_at_once_c(status);
}

/* Before the handlers of at_quick_exit, not behind them: one of ours would take memory. */
void quick_exit(int status)
{
	before_end();
	next.exit_quickly(status);
}

_Noreturn void end_by_abort(void) __asm__("abort");

void end_by_abort(void)
{
	before_end();
	next.abort();
}

int execv(const char *path, char *const arguments[])
{
	before_end();
	return next.execv(path, arguments);
}

int execve(const char *path, char *const arguments[], char *const environment[])
{
	before_end();
	return next.execve(path, arguments, environment);
}

int execvp(const char *file, char *const arguments[])
{
	before_end();
	return next.execvp(file, arguments);
}

int execvpe(const char *file, char *const arguments[], char *const environment[])
{
	before_end();
	return next.execvpe(file, arguments, environment);
}

int fexecve(int fd, char *const arguments[], char *const environment[])
{
	before_end();
	return next.fexecve(fd, arguments, environment);
}

/* Bytes of the array of arguments, with the NULL that ends it. */
static size_t bytes_of(const char *first, va_list *others)
{
	size_t count = 1;

	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): the caller began it */
	for (const char *argument = first; argument; argument = va_arg(*others, char *))
		count++;
	return count * sizeof(char *);
}

static void fill(char **arguments, const char *first, va_list *others)
{
	union {
		const char *given;
		char *taken;
	} argument = {.given = first};

	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): likewise */
	for (; argument.given; argument.taken = va_arg(*others, char *))
		*arguments++ = argument.taken;
	*arguments = NULL;
}

/* On the stack, as in the C library: the caller may be a child of vfork. */
#define GATHER(arguments, first, others)                                                           \
	do {                                                                                       \
		va_start(others, first);                                                           \
		(arguments) = __builtin_alloca(bytes_of(first, &(others)));                        \
		va_end(others);                                                                    \
		va_start(others, first);                                                           \
		fill(arguments, first, &(others));                                                 \
	} while (0)

int execl(const char *path, const char *first, ...)
{
	char **arguments;
	va_list others;

	GATHER(arguments, first, others);
	va_end(others);
	return execv(path, arguments);
}

int execlp(const char *file, const char *first, ...)
{
	char **arguments;
	va_list others;

	GATHER(arguments, first, others);
	va_end(others);
	return execvp(file, arguments);
}

int execle(const char *path, const char *first, ...)
{
	char *const *environment;
	char **arguments;
	va_list others;

	GATHER(arguments, first, others);
	environment = va_arg(others, char *const *);
	va_end(others);
	return execve(path, arguments, environment);
}

/* NOLINTEND(readability-identifier-naming,readability-inconsistent-declaration-parameter-name) */

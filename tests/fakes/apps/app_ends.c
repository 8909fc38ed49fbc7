/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that all finish, and then one end of many: app_ends THREADS LAUNCHES WAY [WORD...]
 *
 * Each thread launches so many kernels on a stream of its own and lives on. The program prints one
 * line, and ends when all kernels have finished. Words: sync waits for them by a call of CUDA; fork
 * does all of it in a forked child, whose end the parent prints; close closes every descriptor but
 * the standard ones before; linger waits 300 ms more.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fakes/apps/app_calls.h"
#include "fakes/fake.h"

enum { MAX_THREADS = 32, SETTLED_US = 5000, LINGER_US = 300000 };

static CUcontext context;
static CUfunction function;
static int launches;
static pthread_barrier_t launched;
static char **words;

static bool is_told(const char *word)
{
	for (char **at = words; *at; at++)
		if (strcmp(*at, word) == 0)
			return true;
	return false;
}

static void *launch(void *unused)
{
	CUstream stream;

	(void)unused;
	MUST(cuCtxSetCurrent, context);
	MUST(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
	for (int i = 0; i < launches; i++)
		MUST(cuLaunchKernel, function, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL);
	(void)pthread_barrier_wait(&launched);
	for (;;)
		(void)pause();
	return NULL;
}

/* Until the kernels have finished, whether a call of CUDA hears of it or not. */
static void work(int threads)
{
	CUmodule module;

	MUST(cuInit, 0);
	MUST(cuCtxCreate, &context, NULL, 0, 0);
	MUST(cuModuleLoadData, &module, "fake image");
	MUST(cuModuleGetFunction, &function, module, "saxpy");
	(void)pthread_barrier_init(&launched, NULL, (unsigned)threads + 1);
	for (int i = 0; i < threads; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, launch, NULL))
			app_fail("pthread_create", errno);
	}
	(void)pthread_barrier_wait(&launched);
	if (is_told("sync"))
		MUST(cuCtxSynchronize, );
	(void)usleep(SETTLED_US);
	if (is_told("linger"))
		(void)usleep(LINGER_US);
}

static void leave_by_signal(int signal)
{
	(void)signal;
	_exit(6);
}

/* Calls go on, so that the signal may come in the middle of one. */
static void end_in_handler(void)
{
	const struct itimerval soon = {.it_value = {.tv_usec = 3000}};

	(void)signal(SIGALRM, leave_by_signal);
	(void)setitimer(ITIMER_REAL, &soon, NULL);
	for (;;)
		MUST(cuCtxSetCurrent, context);
}

/* Other programs print what they are given, so that it can be seen to arrive. */
#define SCRIPT "echo \"$0 $1 $WORD\"; exit 7"

static char *const arguments[] = {"sh", "-c", SCRIPT, "zero", "one", NULL};
static char *const environment[] = {"WORD=given", NULL};

static void *exec_in_thread(void *unused)
{
	(void)unused;
	(void)execv("/bin/sh", arguments);
	return NULL;
}

static void become(const char *way)
{
	pthread_t thread;

	if (strcmp(way, "execv") == 0)
		(void)execv("/bin/sh", arguments);
	if (strcmp(way, "execve") == 0)
		(void)execve("/bin/sh", arguments, environment);
	if (strcmp(way, "execvp") == 0)
		(void)execvp("sh", arguments);
	if (strcmp(way, "execvpe") == 0)
		(void)execvpe("sh", arguments, environment);
	if (strcmp(way, "fexecve") == 0)
		(void)fexecve(open("/bin/sh", O_RDONLY | O_CLOEXEC), arguments, environment);
	if (strcmp(way, "execl") == 0)
		(void)execl("/bin/sh", "sh", "-c", SCRIPT, "zero", "one", (char *)NULL);
	if (strcmp(way, "execlp") == 0)
		(void)execlp("sh", "sh", "-c", SCRIPT, "zero", "one", (char *)NULL);
	if (strcmp(way, "execle") == 0)
		(void)execle("/bin/sh", "sh", "-c", SCRIPT, "zero", "one", (char *)NULL,
		             environment);
	if (strcmp(way, "exec-in-thread") == 0 &&
	    pthread_create(&thread, NULL, exec_in_thread, NULL) == 0)
		(void)pthread_join(thread, NULL);
}

/* It has this process's memory until it is another program; the first try fails. */
static void start_child(void)
{
	int status = 0;
	const pid_t child = vfork();

	if (child == 0) {
		(void)execv("/nowhere/sh", arguments);
		(void)execv("/bin/sh", arguments);
		_exit(8);
	}
	(void)waitpid(child, &status, 0);
	printf("vfork: %d\n", WEXITSTATUS(status));
}

static void close_all(void)
{
	for (int fd = 3; fd < 1024; fd++)
		(void)close(fd);
}

static void end(const char *way)
{
	if (is_told("close"))
		close_all();
	if (strncmp(way, "vfork", strlen("vfork")) == 0)
		start_child();
	if (strcmp(way, "failed") == 0 && execv("/nowhere/sh", arguments) < 0)
		printf("execv: %s\n", strerror(errno));
	(void)fflush(stdout);
	if (strcmp(way, "exit") == 0)
		exit(3);
	if (strcmp(way, "_exit") == 0 || strcmp(way, "vfork") == 0 || strcmp(way, "failed") == 0)
		_exit(3);
	if (strcmp(way, "_Exit") == 0)
		_Exit(3);
	if (strcmp(way, "quick_exit") == 0)
		quick_exit(3);
	if (strcmp(way, "handler") == 0)
		end_in_handler();
	if (strcmp(way, "abort") == 0)
		abort();
	if (strcmp(way, "term") == 0)
		(void)raise(SIGTERM);
	if (strcmp(way, "kill") == 0 || strcmp(way, "vfork-kill") == 0)
		(void)raise(SIGKILL);
	become(way);
	app_fail(way, errno);
}

static void wait_for(pid_t child)
{
	int status = 0;

	(void)waitpid(child, &status, 0);
	printf("child: %d\n", status);
}

int main(int argc, char **argv)
{
	const int threads = argc > 3 ? atoi(argv[1]) : 0;
	pid_t child = 0;

	if (threads < 1 || threads > MAX_THREADS) {
		(void)fputs("usage: app_ends THREADS LAUNCHES WAY [sync] [fork] [close] [linger]\n",
		            stderr);
		return 2;
	}
	launches = atoi(argv[2]);
	words = argv + 4;
	if (is_told("fork"))
		child = fork();
	if (child > 0) {
		wait_for(child);
		return 0;
	}
	work(threads);
	printf("launches: %d\n", threads * launches);
	(void)fflush(stdout);
	end(argv[3]);
	return 1;
}

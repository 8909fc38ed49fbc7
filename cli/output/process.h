/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_OUTPUT_PROCESS_H
#define GT_CLI_OUTPUT_PROCESS_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct gt_error;

/* How a program ended. */
struct gt_ending {
	int exit_status; /* when it was not ended by a signal */
	int signal;      /* 0: it exited */
};

/* Who wants to look at the program while it runs. */
struct gt_onlooker {
	void (*look)(void *context, pid_t program); /* NULL: nobody */
	void *context;
	long interval_ns; /* less than a second; the first time after that long */
	int signal;       /* sent to us, is for hear and not for the program; 0: none is */
	void (*hear)(void *context);
};

/*
 * Runs a program (found along PATH, as a shell would) and waits for it as if it had been
 * started without us: standard streams, process group, signal mask and dispositions are its
 * own; signals sent to us go to it; when it is stopped from the keyboard we stop too, so that
 * the shell notices. Returns 0 when it ran, or a negative errno value: with not_run set, the
 * reason why it cannot be run (-ENOENT: there is no such program).
 */
int gt_process_run(char *const *argv, char *const *environment, const struct gt_onlooker *onlooker,
                   struct gt_ending *ending, bool *not_run, struct gt_error *err);

/*
 * Does work in a process of its own and waits for it, signals sent to us going to it: whatever
 * becomes of it, we are still there. It exits with what work returns. 0, or a negative errno
 * value: then nothing was done.
 */
int gt_process_apart(int (*work)(void *context), void *context, struct gt_ending *ending);

/*
 * Whether there is such a program and it may be run, before anything is changed for it: 0, or
 * what gt_process_run would say with not_run set. Looks along our own PATH.
 */
int gt_process_find(const char *program, struct gt_error *err);

/*
 * The file that would be run: along PATH, or the name itself where it holds a slash. 0, -ENOENT, or
 * -EACCES for one that may not be run; path then holds anything.
 */
int gt_process_path(const char *program, char path[PATH_MAX]);

/* Whether the name says that it is a script of Python's. */
bool gt_process_is_python(const char *program);

/* The exit status that tells a shell about the ending: 128 + N for signal N. */
int gt_ending_status(const struct gt_ending *ending);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_FAKES_APPS_APP_CLONE_H
#define GT_TESTS_FAKES_APPS_APP_CLONE_H

#include <signal.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* As fork(), by the system call: no handler that a library registered for forks runs. */
static inline pid_t app_clone(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "injection/services.h"
#include "injection/session.h"

/* The one session of the process; CUPTI's buffer callbacks carry no user pointer. */
static struct gt_session session;
static atomic_flag loaded = ATOMIC_FLAG_INIT;
static pid_t owner;

struct gt_session *gt_session_get(void)
{
	return &session;
}

static void at_exit(void)
{
	const int saved = errno;

	/* A child made without fork()'s handlers (clone) must not end its parent's recording. */
	if (getpid() == owner)
		gt_session_stop(&session);
	errno = saved;
}

static void in_child(void)
{
	gt_session_forget(&session);
}

/*
 * The CUDA driver calls this once, inside the program's first CUDA call, for the library that
 * CUDA_INJECTION64_PATH names. 1 means that all went well; the program never hears of trouble.
 */
/* NOLINTBEGIN(readability-identifier-naming): the driver looks for this name */
__attribute__((visibility("default"))) int InitializeInjection(void);

int InitializeInjection(void)
{
	const int saved = errno;

	if (atomic_flag_test_and_set(&loaded))
		return 1;
	owner = getpid();
	/* First: another thread may fork meanwhile, and its child has no arena. */
	if (pthread_atfork(NULL, NULL, in_child) == 0) {
		gt_session_start(&session, environ);
		atexit(at_exit);
	}
	errno = saved;
	return 1;
}
/* NOLINTEND(readability-identifier-naming) */

/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/session/begin.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "injection/session/forks.h"
#include "injection/session/services.h"
#include "injection/session/session.h"

/* Else: the thread id of who begins it. */
#define FRESH 0
#define BEGUN UINT32_MAX

/* The one session of the process; CUPTI's and NVTX's callbacks carry no user pointer. */
static struct gt_session session;
static _Atomic uint32_t begun; /* whether the session has been tried to begin */
static bool watches_forks;
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

static void before_fork(void)
{
	gt_forks_prepare(&session);
}

static void in_child(void)
{
	const bool anew = gt_forks_forget(&session);

	/* Another thread may have been at it in the parent: nobody is here. */
	owner = anew ? 0 : getpid();
	atomic_store_explicit(&begun, anew ? FRESH : BEGUN, memory_order_release);
}

/* First: another thread may fork meanwhile, and its child has no arena. */
static bool watch_forks(void)
{
	if (!watches_forks)
		watches_forks = pthread_atfork(before_fork, NULL, in_child) == 0;
	return watches_forks;
}

void gt_session_must_begin(bool with_cuda)
{
	const int saved = errno;
	uint32_t state = FRESH;
	bool is_inside;
	uint32_t self;

	/* Pairs with the release below: what has begun is there for all. */
	if (atomic_load_explicit(&begun, memory_order_acquire) == BEGUN)
		return;
	self = (uint32_t)syscall(SYS_gettid);
	if (atomic_compare_exchange_strong(&begun, &state, self)) {
		owner = getpid();
		if (watch_forks()) {
			gt_forks_wipe(&session);
			gt_session_begin(&session, environ, with_cuda);
			atexit(at_exit);
		}
		atomic_store_explicit(&begun, BEGUN, memory_order_release);
	}
	/* The beginning calls functions that the program may have put in place: they come here. */
	is_inside = state == self || gt_thread_is_ours();
	if (is_inside && !gt_is_recorded(&session))
		gt_note(&session, "nvtx",
		        "a library called NVTX or gputrace.h for the first time while gputrace "
		        "began, which called that library: what it tells is not recorded");
	while (!is_inside && atomic_load_explicit(&begun, memory_order_acquire) != BEGUN)
		sched_yield();
	errno = saved;
}

bool gt_session_is_clone(void)
{
	return atomic_load_explicit(&begun, memory_order_acquire) == BEGUN && getpid() != owner;
}

void gt_session_end_before(void)
{
	if (watches_forks)
		atexit(at_exit);
}

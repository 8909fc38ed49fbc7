/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session with threads that never stop launching: recording is switched off and on in the middle
 * of their calls, the process forks, and the session ends while they go on. Every call must return.
 */
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "injection/session/forks.h"
#include "injection/session/services.h"
#include "stress/session.h"

enum { THREADS = 3, ROUNDS = 4 };

#define LIMIT_NS 60000000000u

static struct stress_cuda cuda;
static _Atomic bool running = true;
static _Atomic uint64_t launched;

static void launch(void)
{
	launch_kernel(&cuda);
	MUST(cuCtxSynchronize() == CUDA_SUCCESS);
	atomic_fetch_add(&launched, 1);
}

static void *launch_on(void *unused)
{
	(void)unused;
	MUST(cuCtxSetCurrent(cuda.context) == CUDA_SUCCESS);
	while (atomic_load(&running))
		launch();
	return NULL;
}

/* The child has none of the threads; what it forgets is its own. */
static void fork_child(struct gt_session *session)
{
	int status = 0;
	pid_t child;

	gt_forks_prepare(session);
	child = fork();
	if (child == 0) {
		(void)gt_forks_forget(session);
		_exit(gt_session_is(session, GT_SESSION_FORGOTTEN) ? 0 : 1);
	}
	MUST(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

int main(void)
{
	struct gt_session *session = gt_session_get();
	char folder[] = "/tmp/gputrace-stress-XXXXXX";
	pthread_t threads[THREADS];
	uint64_t before;

	MUST(mkdtemp(folder));
	gt_forks_wipe(session);
	start_session(session, folder);
	cuda = use_cuda();
	for (int i = 0; i < THREADS; i++)
		MUST(pthread_create(&threads[i], NULL, launch_on, NULL) == 0);
	for (int i = 0; i < ROUNDS; i++) {
		before = atomic_load(&launched);
		MUST(gt_session_disarm(session, GT_CAUSE_COMMAND, LIMIT_NS));
		fork_child(session);
		MUST(gt_session_arm(session, GT_CAUSE_COMMAND, LIMIT_NS));
		fork_child(session);
		while (atomic_load(&launched) < before + THREADS)
			sched_yield();
	}
	gt_session_stop(session);
	before = atomic_load(&launched);
	while (atomic_load(&launched) < before + THREADS)
		sched_yield();
	atomic_store(&running, false);
	for (int i = 0; i < THREADS; i++)
		MUST(pthread_join(threads[i], NULL) == 0);
	MUST(atomic_load(&session->arena.header->ledger[GT_LEDGER_sources_failed]) == 0);
	remove_all(folder);
	return 0;
}

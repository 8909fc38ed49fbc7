/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole session on the fake libraries, with threads that launch, end and begin: callbacks through
 * the router, records through emit, the writer and the flusher beside them. First every call must
 * be in the ledger; then recording is switched off and on meanwhile, and no more may be there than
 * were made. Under the thread sanitizer it is the test of injection/'s own threads.
 */
#include <pthread.h>
#include <unistd.h>

#include "injection/session/services.h"
#include "stress/session.h"

enum {
	THREADS = 4,
	WAVES = 6,      /* of threads, one after the other */
	LAUNCHES = 700, /* by a thread: its slot is full more than once */
	SWITCHES = 20,
};

#define LIMIT_NS 20000000000u

static struct stress_cuda cuda;

/* On a thread that ends, so that all of its calls are counted before others are made. */
static void *begin_cuda(void *argument)
{
	(void)argument;
	cuda = use_cuda();
	return NULL;
}

static void *launch(void *argument)
{
	(void)argument;
	MUST(cuCtxSetCurrent(cuda.context) == CUDA_SUCCESS);
	for (int i = 0; i < LAUNCHES; i++)
		launch_kernel(&cuda);
	return NULL;
}

/* Returns when all have ended; so many launches were made then. */
static uint64_t launch_in_waves(void)
{
	pthread_t threads[THREADS];

	for (int wave = 0; wave < WAVES; wave++) {
		for (int i = 0; i < THREADS; i++)
			MUST(pthread_create(&threads[i], NULL, launch, NULL) == 0);
		for (int i = 0; i < THREADS; i++)
			MUST(pthread_join(threads[i], NULL) == 0);
	}
	return (uint64_t)WAVES * THREADS * LAUNCHES;
}

static void *switch_off_and_on(void *argument)
{
	struct gt_session *session = argument;

	for (int i = 0; i < SWITCHES; i++) {
		MUST(gt_session_disarm(session, GT_CAUSE_COMMAND, LIMIT_NS));
		MUST(gt_session_arm(session, GT_CAUSE_COMMAND, LIMIT_NS));
	}
	return NULL;
}

static uint64_t ledger(const struct gt_session *session, enum gt_ledger_id id)
{
	return atomic_load(&session->arena.header->ledger[id]);
}

int main(void)
{
	struct gt_session *session = gt_session_get();
	char folder[] = "/tmp/gputrace-stress-XXXXXX";
	pthread_t switcher;
	uint64_t before;
	uint64_t made;

	MUST(mkdtemp(folder));
	start_session(session, folder);
	MUST(pthread_create(&switcher, NULL, begin_cuda, NULL) == 0);
	MUST(pthread_join(switcher, NULL) == 0);
	before = calls_of_session(session, LIMIT_NS);
	made = launch_in_waves();
	MUST(calls_of_session(session, LIMIT_NS) == before + made);
	MUST(ledger(session, GT_LEDGER_api_lost) == 0);

	before = ledger(session, GT_LEDGER_api_calls);
	MUST(pthread_create(&switcher, NULL, switch_off_and_on, session) == 0);
	made = launch_in_waves();
	MUST(pthread_join(switcher, NULL) == 0);
	gt_session_stop(session);
	MUST(ledger(session, GT_LEDGER_api_calls) <= before + made);
	remove_all(folder);
	return 0;
}

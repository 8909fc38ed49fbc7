/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/session/flusher.h"

#include <errno.h>

#include "injection/process/thread.h"
#include "injection/process/wait.h"
#include "injection/session/services.h"
#include "injection/session/session.h"
#include "injection/usdt/records.h"

#define LIMIT_NS    5000000000u /* a flush that takes longer is given up */
#define HELD_NS     6000000000u /* more than a source's thread may take at the end */
#define LOOK_NS     10000000u
#define GIVEN_UP_NS 1000000000u /* and one this long is not waited for again */

void gt_flusher_init(struct gt_flusher *flusher)
{
	sem_init(&flusher->work, 0, 0);
	sem_init(&flusher->flushed, 0, 0);
	sem_init(&flusher->done, 0, 0);
}

static void flush(struct gt_session *session, uint32_t flag)
{
	struct gt_flusher *flusher = &session->flusher;
	size_t dropped = 0;

	if (!gt_session_cuda_is_up(session))
		return;
	atomic_store_explicit(&flusher->began_ns, gt_now(), memory_order_relaxed);
	(void)session->cupti.cuptiActivityFlushAll(flag);
	/* Records dropped since the last buffer came back: no other may come. */
	if (session->cupti.cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped) == CUPTI_SUCCESS &&
	    dropped) {
		gt_count(session, GT_LEDGER_dropped_by_cupti, dropped);
		gt_probe_dropped(dropped);
	}
	atomic_store_explicit(&flusher->began_ns, 0, memory_order_relaxed);
	sem_post(&session->writer_thread.work);
}

/* A flush also for those that ask until it begins. Whoever asks later has posted work again. */
static void flush_for_all(struct gt_session *session, uint32_t flag)
{
	struct gt_flusher *flusher = &session->flusher;
	const uint32_t asked = atomic_load(&flusher->asked);

	atomic_store(&flusher->soon, false);
	flush(session, flag);
	if (gt_replays_may_be_forced(session)) {
		flush(session, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
		gt_replays_forget(session);
	}
	atomic_store(&flusher->answered, asked);
	for (uint32_t waiting = atomic_load(&flusher->waiting); waiting > 0; waiting--)
		sem_post(&flusher->flushed);
}

void gt_hold_last_flush(struct gt_session *session)
{
	atomic_fetch_add(&session->flusher.held, 1);
}

void gt_release_last_flush(struct gt_session *session)
{
	atomic_fetch_sub(&session->flusher.held, 1);
	sem_post(&session->flusher.work);
}

/* Threads of ours may be at their last work, which takes what it may take and no more. */
static void wait_for_others(struct gt_flusher *flusher)
{
	const uint64_t began_ns = gt_now();

	while (atomic_load(&flusher->held) > 0 && gt_now() - began_ns < HELD_NS)
		(void)gt_wait(&flusher->work, LOOK_NS);
}

/* Until somebody asks for a flush, the interval is over, or the program has waited for its work. */
static void wait_for_work(struct gt_session *session)
{
	struct gt_flusher *flusher = &session->flusher;
	const struct gt_settings *settings = &session->settings;
	const uint64_t began_ns = gt_now();
	const uint64_t end_ns = began_ns + settings->flush_interval_ns;
	const uint64_t soon_ns = began_ns + settings->wait_flush_ns;

	while (gt_session_is_running(session) &&
	       atomic_load(&flusher->asked) == atomic_load(&flusher->answered)) {
		const uint64_t now_ns = gt_now();
		bool soon = atomic_load(&flusher->soon);
		uint64_t due_ns;

		/* Either this sees what a thread asks for, or the thread sees that it sleeps. */
		atomic_store(&flusher->asleep, !soon);
		soon |= atomic_load(&flusher->soon);
		due_ns = soon && soon_ns < end_ns ? soon_ns : end_ns;
		if (now_ns >= due_ns)
			break;
		(void)gt_wait(&flusher->work, due_ns - now_ns);
	}
	atomic_store(&flusher->asleep, false);
}

void gt_fetch_soon(struct gt_session *session)
{
	struct gt_flusher *flusher = &session->flusher;

	/* Where it is set, the flush that clears it has not begun. */
	if (atomic_load_explicit(&flusher->soon, memory_order_relaxed) ||
	    !session->settings.wait_flush_ns)
		return;
	atomic_store(&flusher->soon, true);
	if (atomic_load(&flusher->asleep) && atomic_exchange(&flusher->asleep, false))
		sem_post(&flusher->work);
}

static void *run(void *context)
{
	struct gt_session *session = context;
	struct gt_flusher *flusher = &session->flusher;

	gt_thread_enter(GT_THREAD_FLUSHER);
	while (gt_session_is_running(session)) {
		wait_for_work(session);
		if (gt_session_is_running(session))
			flush_for_all(session, 0);
	}
	/* Once, at the very end: hands over unfinished records too, without times. */
	if (gt_session_is_ending(session))
		wait_for_others(flusher);
	if (gt_session_is_ending(session))
		flush_for_all(session, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	sem_post(&flusher->done);
	return NULL;
}

int gt_flusher_start(struct gt_session *session)
{
	return gt_thread_start(&session->flusher.thread, run, session);
}

void gt_flusher_cancel(struct gt_session *session)
{
	sem_post(&session->flusher.work);
	(void)pthread_join(session->flusher.thread, NULL);
}

void gt_flusher_watch(struct gt_session *session)
{
	struct gt_flusher *flusher = &session->flusher;
	const uint64_t began = atomic_load_explicit(&flusher->began_ns, memory_order_relaxed);

	if (!began) {
		flusher->given_up = false;
		return;
	}
	if (flusher->given_up || gt_now() - began < LIMIT_NS ||
	    atomic_load(&session->replays.under_way))
		return;
	flusher->given_up = true;
	gt_count(session, GT_LEDGER_flush_timeouts, 1);
	gt_note(session, "activity",
	        "cuptiActivityFlushAll did not come back within 5 s: GPU activity after that "
	        "may be missing");
}

void gt_flusher_excuse(struct gt_session *session)
{
	_Atomic uint64_t *began_ns = &session->flusher.began_ns;
	uint64_t began = atomic_load_explicit(began_ns, memory_order_relaxed);

	if (began)
		(void)atomic_compare_exchange_strong_explicit(
			began_ns, &began, gt_now(), memory_order_relaxed, memory_order_relaxed);
}

/*
 * Until a flush that began after this call is done. A post for another thread, or for a call that
 * did not wait long enough, wakes this one too early: then it waits on.
 */
static void wait_for_flush(struct gt_flusher *flusher, uint64_t limit_ns)
{
	const uint64_t end_ns = gt_now() + limit_ns;
	uint64_t left_ns = limit_ns;
	uint32_t ticket;

	atomic_fetch_add(&flusher->waiting, 1);
	ticket = atomic_fetch_add(&flusher->asked, 1) + 1;
	sem_post(&flusher->work);
	/* The difference, as the numbers may start again from 0. */
	while ((int32_t)(atomic_load(&flusher->answered) - ticket) < 0 && left_ns > 0) {
		const uint64_t now_ns = gt_wait(&flusher->flushed, left_ns) ? gt_now() : end_ns;

		left_ns = now_ns < end_ns ? end_ns - now_ns : 0;
	}
	atomic_fetch_sub(&flusher->waiting, 1);
}

void gt_fetch(struct gt_session *session, uint64_t limit_ns)
{
	struct gt_flusher *flusher = &session->flusher;
	const uint64_t began = atomic_load_explicit(&flusher->began_ns, memory_order_relaxed);
	const int saved = errno;

	if (began && gt_now() - began > GIVEN_UP_NS)
		return; /* the flusher hangs: waiting for it again would only cost the program */
	if (!gt_session_cuda_is_up(session))
		return;
	wait_for_flush(flusher, limit_ns);
	errno = saved;
}

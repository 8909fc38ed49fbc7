/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/session/flusher.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include "injection/process/thread.h"
#include "injection/recorder.h"
#include "injection/session/replays.h"
#include "injection/session/services.h"

/* The thread that fetches from CUPTI, on a CUPTI that only counts. */

#define LONG_NS  20000000000u
#define SHORT_NS 200000000u
#define HOUR_NS  3600000000000u

static struct recorder recorder;
static _Atomic uint32_t flushes;
static _Atomic uint32_t last_flag;
static _Atomic uint32_t dropped;
static _Atomic bool hangs;
static sem_t entered;

static CUptiResult flush_all(uint32_t flag)
{
	atomic_store(&last_flag, flag);
	atomic_fetch_add(&flushes, 1);
	sem_post(&entered);
	while (atomic_load(&hangs))
		usleep(1000);
	return CUPTI_SUCCESS;
}

static CUptiResult take_dropped(CUcontext context, uint32_t stream, size_t *count)
{
	(void)context;
	(void)stream;
	*count = atomic_exchange(&dropped, 0);
	return CUPTI_SUCCESS;
}

static void make(void)
{
	recorder_init(&recorder);
	sem_init(&entered, 0, 0);
	recorder.session->cupti.cuptiActivityFlushAll = flush_all;
	recorder.session->cupti.cuptiActivityGetNumDroppedRecords = take_dropped;
	recorder.session->settings.flush_interval_ns = HOUR_NS;
	atomic_store(&recorder.session->cuda_up, true);
	atomic_store(&recorder.session->phase, GT_SESSION_RECORDING);
	cr_assert(eq(int, gt_flusher_start(recorder.session), 0));
}

TestSuite(flusher, .init = make);

/* The end of the program; true when the flusher is done with it. */
static bool end(void)
{
	atomic_store(&recorder.session->phase, GT_SESSION_STOPPING);
	sem_post(&recorder.session->flusher.work);
	for (int i = 0; i < 2000; i++) {
		if (sem_trywait(&recorder.session->flusher.done) == 0)
			return true;
		usleep(10000);
	}
	return false;
}

Test(flusher, has_fetched_when_a_fetch_comes_back)
{
	errno = EDOM;
	gt_fetch(recorder.session, LONG_NS);
	cr_expect(eq(u32, flushes, 1));
	gt_fetch(recorder.session, LONG_NS);
	cr_expect(eq(u32, flushes, 2));
	cr_expect(eq(u32, last_flag, 0));
	cr_expect(eq(int, errno, EDOM));
}

Test(flusher, forces_out_what_is_unfinished_once_at_the_end)
{
	gt_fetch(recorder.session, LONG_NS);
	cr_assert(end());
	cr_expect(eq(u32, flushes, 2));
	cr_expect(eq(u32, last_flag, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
}

Test(flusher, counts_what_cupti_dropped_since_the_last_buffer)
{
	atomic_store(&dropped, 7);
	gt_fetch(recorder.session, LONG_NS);
	atomic_store(&dropped, 30);
	gt_fetch(recorder.session, LONG_NS);
	gt_fetch(recorder.session, LONG_NS);
	cr_expect(eq(u64, recorder_count(&recorder, GT_LEDGER_dropped_by_cupti), 37));
}

static void *fetch(void *unused)
{
	(void)unused;
	gt_fetch(recorder.session, LONG_NS);
	return NULL;
}

Test(flusher, answers_all_that_wait_for_it)
{
	pthread_t threads[8];
	const uint64_t began_ns = gt_now();

	for (int i = 0; i < 200; i++) {
		for (int j = 0; j < 8; j++)
			cr_assert(eq(int, pthread_create(&threads[j], NULL, fetch, NULL), 0));
		for (int j = 0; j < 8; j++)
			pthread_join(threads[j], NULL);
	}
	cr_expect(lt(u64, gt_now() - began_ns, LONG_NS), "one was not answered");
}

/* One that began before is not enough: it may not have what came meanwhile. */
Test(flusher, that_was_begun_before_does_not_answer_a_fetch)
{
	pthread_t thread;

	atomic_store(&hangs, true);
	cr_assert(eq(int, pthread_create(&thread, NULL, fetch, NULL), 0));
	sem_wait(&entered);
	gt_fetch(recorder.session, SHORT_NS);
	cr_expect(eq(u32, flushes, 1));
	atomic_store(&hangs, false);
	gt_fetch(recorder.session, LONG_NS);
	cr_expect(ge(u32, flushes, 2));
	pthread_join(thread, NULL);
}

Test(flusher, is_not_waited_for_longer_than_the_limit)
{
	uint64_t began_ns;

	atomic_store(&hangs, true);
	began_ns = gt_now();
	gt_fetch(recorder.session, SHORT_NS);
	cr_expect(ge(u64, gt_now() - began_ns, SHORT_NS));
	cr_expect(lt(u64, gt_now() - began_ns, LONG_NS));
	atomic_store(&hangs, false);
	/* The late answer to that fetch is none to the next one. */
	gt_fetch(recorder.session, LONG_NS);
	cr_expect(ge(u32, flushes, 2));
	cr_assert(end());
}

Test(flusher, that_hangs_is_not_waited_for_again)
{
	uint64_t began_ns;

	atomic_store(&hangs, true);
	gt_fetch(recorder.session, SHORT_NS);
	usleep(1000000);
	began_ns = gt_now();
	gt_fetch(recorder.session, LONG_NS);
	cr_expect(lt(u64, gt_now() - began_ns, LONG_NS / 4));
	atomic_store(&hangs, false);
	cr_assert(end());
}

static void wait_for_flushes(uint32_t count)
{
	for (int i = 0; i < 2000 && atomic_load(&flushes) < count; i++)
		usleep(5000);
	cr_assert(ge(u32, flushes, count));
}

Test(flusher, fetches_soon_after_the_program_has_waited)
{
	recorder.session->settings.wait_flush_ns = 1000000;
	for (uint32_t i = 1; i <= 3; i++) {
		gt_fetch_soon(recorder.session);
		wait_for_flushes(i);
		cr_expect(eq(u32, flushes, i));
	}
}

Test(flusher, fetches_for_waits_no_more_often_than_it_may)
{
	const uint64_t began_ns = gt_now();
	uint64_t took_ns = 0;

	recorder.session->settings.wait_flush_ns = SHORT_NS / 10;
	while (took_ns < 2 * (uint64_t)SHORT_NS) {
		gt_fetch_soon(recorder.session);
		took_ns = gt_now() - began_ns;
	}
	cr_expect(ge(u32, flushes, 1));
	cr_expect(le(u64, flushes, took_ns / (SHORT_NS / 10) + 1));
}

Test(flusher, fetches_for_no_waits_where_that_is_off)
{
	recorder.session->settings.wait_flush_ns = 0;
	gt_fetch_soon(recorder.session);
	usleep(SHORT_NS / 4000);
	cr_expect(eq(u32, flushes, 0));
}

Test(flusher, may_wait_for_a_replayed_launch_longer_than_it_may_hang)
{
	atomic_store(&recorder.session->flusher.began_ns, gt_now() - LONG_NS);
	gt_replay_begins(recorder.session);
	gt_flusher_watch(recorder.session);
	gt_replay_ends(recorder.session, 0);
	gt_flusher_watch(recorder.session);
	cr_expect(eq(u64, recorder_count(&recorder, GT_LEDGER_flush_timeouts), 0));
	atomic_store(&recorder.session->flusher.began_ns, gt_now() - LONG_NS);
	gt_flusher_watch(recorder.session);
	cr_expect(eq(u64, recorder_count(&recorder, GT_LEDGER_flush_timeouts), 1));
}

/* Launches that were replayed, each of which leaves a buffer with CUPTI. */
static void replay(uint32_t first, uint32_t count)
{
	for (uint32_t i = first; i < first + count; i++) {
		cr_assert(ne(ptr, gt_buffer_lend(recorder.session).bytes, NULL));
		gt_replay_begins(recorder.session);
		gt_replay_ends(recorder.session, i);
	}
}

static uint32_t activity_slots(void)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < recorder.arena->header->slot_count; i++)
		count += recorder.arena->slots[i].kind == GT_SLOT_ACTIVITY;
	return count;
}

Test(flusher, forces_out_replayed_launches_when_they_have_a_quarter_of_the_buffers)
{
	const uint32_t quarter = (activity_slots() + 3) / 4;

	replay(1, quarter - 1);
	cr_expect(eq(u32, flushes, 0));
	replay(quarter, 1);
	cr_expect(eq(u32, flushes, 2)); /* what is finished, then all */
	cr_expect(eq(u32, last_flag, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	cr_expect(eq(u32, recorder.session->replays.count, 0));
}

Test(flusher, asks_nothing_before_cuda_is_up)
{
	atomic_store(&recorder.session->cuda_up, false);
	gt_fetch(recorder.session, LONG_NS);
	cr_assert(end());
	cr_expect(eq(u32, flushes, 0));
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/process/wait.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "injection/process/now.h"
#include "injection/process/thread.h"
#include "support/check.h"

static sem_t semaphore;

Test(wait, ends_when_the_semaphore_is_posted)
{
	const uint64_t began_ns = gt_now();

	sem_init(&semaphore, 0, 1);
	cr_expect(gt_wait(&semaphore, 3600000000000));
	cr_expect(lt(u64, gt_now() - began_ns, 1000000000));
}

Test(wait, ends_when_the_time_is_over)
{
	const uint64_t began_ns = gt_now();

	sem_init(&semaphore, 0, 0);
	cr_expect(not(gt_wait(&semaphore, 2000000)));
	cr_expect(ge(u64, gt_now() - began_ns, 2000000));
}

Test(wait, keeps_errno)
{
	sem_init(&semaphore, 0, 0);
	errno = EDOM;
	cr_expect(not(gt_wait(&semaphore, 1000)));
	cr_expect(eq(int, errno, EDOM));
}

static sem_t waiting;
static atomic_int got_through;

/* Cancelled while it waits, it still comes out of the wait, and ends where it may. */
static void *wait_and_go_on(void *context)
{
	int cancel;

	(void)context;
	sem_post(&waiting);
	(void)gt_wait(&semaphore, 3600000000000);
	atomic_store(&got_through, 1);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &cancel);
	cr_expect(eq(int, cancel, PTHREAD_CANCEL_ENABLE));
	pthread_testcancel();
	atomic_store(&got_through, 2);
	return NULL;
}

Test(wait, is_no_place_to_be_cancelled_at)
{
	pthread_t thread;
	void *result;

	sem_init(&semaphore, 0, 0);
	sem_init(&waiting, 0, 0);
	cr_assert(eq(int, pthread_create(&thread, NULL, wait_and_go_on, NULL), 0));
	sem_wait(&waiting);
	pthread_cancel(thread);
	sem_post(&semaphore);
	pthread_join(thread, &result);
	cr_expect(eq(ptr, result, PTHREAD_CANCELED));
	cr_expect(eq(int, atomic_load(&got_through), 1));
}

static void *look_at_signals(void *blocked)
{
	pthread_sigmask(SIG_SETMASK, NULL, blocked);
	return NULL;
}

Test(wait, our_threads_take_no_signal_of_the_programs)
{
	sigset_t blocked;
	sigset_t own;
	pthread_t thread;

	sigemptyset(&blocked);
	cr_assert(eq(int, gt_thread_start(&thread, look_at_signals, &blocked), 0));
	pthread_join(thread, NULL);
	pthread_sigmask(SIG_SETMASK, NULL, &own);
	cr_expect(eq(int, sigismember(&blocked, SIGINT), 1));
	cr_expect(eq(int, sigismember(&blocked, SIGUSR1), 1));
	cr_expect(eq(int, sigismember(&own, SIGUSR1), 0));
}

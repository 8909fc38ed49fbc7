/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/pools/readings.h"

#include <pthread.h>

#include "injection/recorder.h"
#include "support/check.h"

/* With a driver of the test's own: which pools are asked, and when no more. */

enum { POOL = 0x9000, GONE = 0xdead };

static struct recorder recorder;
static struct gt_pool_readings *readings;

static struct {
	_Atomic uint64_t asked; /* the pool that was asked last */
	_Atomic bool is_inside; /* of a call of the driver */
	_Atomic bool may_go_on; /* which ends only then */
	_Atomic bool waits;     /* whether it waits for that */
	uint64_t used;
} driver;

static CUresult ask(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
	atomic_store(&driver.asked, (uintptr_t)pool);
	atomic_store(&driver.is_inside, true);
	while (atomic_load(&driver.waits) && !atomic_load(&driver.may_go_on))
		;
	atomic_store(&driver.is_inside, false);
	memcpy(value, &driver.used, sizeof(driver.used));
	return attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD ? CUDA_ERROR_INVALID_VALUE
	                                                      : CUDA_SUCCESS;
}

static CUresult default_pool(CUmemoryPool *pool, CUdevice device)
{
	*pool = (CUmemoryPool)(uintptr_t)(POOL + 100 + device);
	return CUDA_SUCCESS;
}

static void make(void)
{
	recorder_init(&recorder);
	readings = zeroed(sizeof(*readings));
	readings->ask = ask;
	readings->default_pool = default_pool;
	driver.used = 4096;
}

TestSuite(pool_readings, .init = make);

static size_t count_of(enum gt_record_kind kind)
{
	size_t count;

	recorder_drain(&recorder);
	free(recorder_records(&recorder, kind, &count));
	return count;
}

Test(pool_readings, announce_a_pool_once_and_only_when_it_was_used)
{
	driver.used = 0;
	gt_pool_readings_add(readings, POOL, 1);
	gt_pool_readings_take(recorder.session, readings);
	cr_expect(eq(sz, count_of(GT_RECORD_cuda_pool), 0));
	driver.used = 4096;
	for (int i = 0; i < 3; i++) {
		gt_pool_readings_take(recorder.session, readings);
		gt_pool_readings_take_of(recorder.session, readings, 3);
	}
	cr_expect(eq(sz, count_of(GT_RECORD_cuda_pool), 2));
	cr_expect(eq(u64, atomic_load(&driver.asked), POOL + 103));
}

Test(pool_readings, ask_no_pool_that_was_destroyed)
{
	gt_pool_readings_add(readings, POOL, 1);
	gt_pool_readings_add(readings, POOL + 1, 1);
	gt_pool_readings_end(readings, POOL + 1);
	atomic_store(&driver.asked, GONE);
	gt_pool_readings_take(recorder.session, readings);
	cr_expect(eq(u64, atomic_load(&driver.asked), POOL));
	gt_pool_readings_end_all(readings);
	atomic_store(&driver.asked, GONE);
	gt_pool_readings_take(recorder.session, readings);
	cr_expect(eq(u64, atomic_load(&driver.asked), GONE));
}

static void *destroy(void *unused)
{
	(void)unused;
	gt_pool_readings_end(readings, POOL);
	cr_expect(not(atomic_load(&driver.is_inside)), "the pool is being asked");
	return NULL;
}

static void *take(void *unused)
{
	(void)unused;
	gt_pool_readings_take(recorder.session, readings);
	return NULL;
}

Test(pool_readings, hold_up_the_end_of_a_pool_while_it_is_asked)
{
	pthread_t asks;
	pthread_t ends;

	atomic_store(&driver.waits, true);
	gt_pool_readings_add(readings, POOL, 1);
	cr_assert(eq(int, pthread_create(&asks, NULL, take, NULL), 0));
	while (!atomic_load(&driver.is_inside))
		;
	cr_assert(eq(int, pthread_create(&ends, NULL, destroy, NULL), 0));
	atomic_store(&driver.waits, false);
	(void)pthread_join(ends, NULL);
	(void)pthread_join(asks, NULL);
}

/* It hangs: the program goes on. */
Test(pool_readings, hold_it_up_for_a_moment_alone)
{
	pthread_t asks;

	atomic_store(&driver.waits, true);
	gt_pool_readings_add(readings, POOL, 1);
	cr_assert(eq(int, pthread_create(&asks, NULL, take, NULL), 0));
	while (!atomic_load(&driver.is_inside))
		;
	gt_pool_readings_end(readings, POOL);
	cr_expect(atomic_load(&driver.is_inside));
	atomic_store(&driver.may_go_on, true);
	(void)pthread_join(asks, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/readings.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#define LONG_NS UINT64_C(60000000000)

static struct gt_readings readings;

static void make(void)
{
	memset(&readings, 0, sizeof(readings));
	gt_readings_init(&readings);
}

TestSuite(readings, .init = make);

/* Asks, and waits for the reading. */
static void *ask(void *unused)
{
	(void)unused;
	if (gt_readings_ask_to_wait(&readings))
		gt_readings_wait(&readings, LONG_NS);
	return NULL;
}

Test(readings, are_waited_for_until_they_are_told)
{
	pthread_t threads[3];
	uint32_t told = 0;

	gt_readings_serve(&readings, true);
	for (int i = 0; i < 3; i++)
		cr_assert(zero(int, pthread_create(&threads[i], NULL, ask, NULL)));
	while (told < 3) {
		uint32_t waiting;

		if (gt_readings_take(&readings, &waiting))
			gt_readings_tell(&readings, waiting);
		told += waiting;
		sched_yield();
	}
	for (int i = 0; i < 3; i++)
		cr_assert(zero(int, pthread_join(threads[i], NULL)));
	cr_expect(eq(u32, told, 3));
}

Test(readings, are_not_waited_for_where_nobody_reads)
{
	uint32_t waiting;

	cr_expect(not(gt_readings_ask_to_wait(&readings)));
	cr_expect(not(gt_readings_take(&readings, &waiting)));
}

Test(readings, that_were_late_once_are_not_waited_for_again)
{
	uint32_t waiting;

	gt_readings_serve(&readings, true);
	cr_assert(gt_readings_ask_to_wait(&readings));
	gt_readings_wait(&readings, 1);
	cr_expect(not(gt_readings_ask_to_wait(&readings)));
	cr_expect(gt_readings_take(&readings, &waiting));
}

Test(readings, hold_up_nobody_for_ever)
{
	uint32_t waiting;
	int waited = 0;

	gt_readings_serve(&readings, true);
	while (waited < 1000 && gt_readings_ask_to_wait(&readings)) {
		cr_assert(gt_readings_take(&readings, &waiting));
		gt_readings_tell(&readings, waiting);
		gt_readings_wait(&readings, LONG_NS);
		waited++;
	}
	cr_expect(eq(int, waited, 64));
}

Test(readings, end_with_who_reads)
{
	pthread_t thread;

	gt_readings_serve(&readings, true);
	cr_assert(zero(int, pthread_create(&thread, NULL, ask, NULL)));
	while (!atomic_load(&readings.waiting))
		sched_yield();
	gt_readings_serve(&readings, false);
	cr_expect(zero(int, pthread_join(thread, NULL)));
}

Test(readings, are_asked_for_without_waiting_only_so_often)
{
	uint32_t waiting;

	cr_expect(gt_readings_ask(&readings));
	cr_expect(not(gt_readings_ask(&readings)));
	cr_expect(gt_readings_take(&readings, &waiting));
	cr_expect(zero(u32, waiting));
}

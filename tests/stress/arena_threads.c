/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads take slots of an arena, fill them and hand them over, as threads of a traced program
 * and of CUPTI do, while one drains them: at the end the capture holds every record exactly once.
 * There are fewer slots than threads want, so that they also find none.
 */
#include <pthread.h>
#include <sched.h>

#include "stress/stress.h"
#include "support/capture.h"

enum {
	CALLERS = 6,     /* threads with API calls */
	DEVICES = 3,     /* threads with raw activity records */
	RECORDS = 40000, /* of each */
	ACTIVITY_SLOTS = 2,
	ACTIVITY_BYTES = 1 << 14,
	CALL_BYTES = sizeof(struct gt_entry) + sizeof(struct gt_record_api_call),
};

struct stress {
	struct test_arena arena;
	struct capture capture;
	struct gt_drain *drain;
	_Atomic uint32_t working; /* threads that still hand slots over */
	_Atomic uint64_t refused; /* times that there was no slot */
};

struct thread {
	pthread_t id;
	struct stress *stress;
	uint32_t number;
};

static struct gt_slot *take(struct stress *stress, enum gt_slot_kind kind)
{
	struct gt_slot *slot;

	while (!(slot = gt_arena_take(&stress->arena.arena, kind))) {
		atomic_fetch_add_explicit(&stress->refused, 1, memory_order_relaxed);
		sched_yield();
	}
	MUST(atomic_load_explicit(&slot->used, memory_order_relaxed) == 0);
	return slot;
}

/* Slots of odd fillings, down to none at all. */
static void *call(void *context)
{
	const struct thread *self = context;
	struct stress *stress = self->stress;
	uint64_t random = self->number;

	for (uint32_t done = 0; done < RECORDS;) {
		struct gt_slot *slot = take(stress, GT_SLOT_RECORDS);
		uint8_t *bytes = gt_slot_memory(&stress->arena.arena, slot);
		const uint32_t room = (uint32_t)(next_random(&random) % (slot->size / CALL_BYTES));
		uint32_t used = 0;

		slot->tid = self->number;
		for (uint32_t i = 0; i < room && done < RECORDS; i++, used += CALL_BYTES) {
			const struct gt_record_api_call record = {
				.start_ns = done, .correlation = self->number * RECORDS + done};

			put_call(bytes + used, &record);
			done++;
		}
		gt_slot_hand_over(slot, used);
	}
	atomic_fetch_sub_explicit(&stress->working, 1, memory_order_release);
	return NULL;
}

static void *work(void *context)
{
	const struct thread *self = context;
	struct stress *stress = self->stress;
	const uint32_t size = stress->arena.arena.header->layout.sizes[GT_ACTIVITY_kernel];

	for (uint32_t done = 0; done < RECORDS;) {
		struct gt_slot *slot = take(stress, GT_SLOT_ACTIVITY);
		uint32_t used = 0;

		for (; done < RECORDS && used + size <= slot->size; used += size)
			add_raw_kernel(&stress->arena, slot, self->number * RECORDS + done++, 0);
		gt_slot_hand_over(slot, used);
	}
	atomic_fetch_sub_explicit(&stress->working, 1, memory_order_release);
	return NULL;
}

static void *drain(void *context)
{
	struct stress *stress = context;
	bool last;

	do {
		/* Pairs with the releases above: what was handed over before is seen. */
		last = atomic_load_explicit(&stress->working, memory_order_acquire) == 0;
		if (drain_full(stress->drain, &stress->arena.arena) == 0)
			sched_yield();
	} while (!last);
	return NULL;
}

static void check(const struct stress *stress, uint32_t kind, uint32_t threads,
                  enum gt_ledger_id counter)
{
	const uint32_t total = threads * RECORDS;
	uint32_t *counts = calloc(total + 1, sizeof(*counts));

	MUST(counts);
	count_ids(stress->capture.bytes, stress->capture.size, kind, counts, total);
	for (uint32_t id = 0; id < total; id++)
		MUST(counts[id] == 1);
	MUST(counts[total] == 0);
	MUST(atomic_load(&stress->arena.arena.header->ledger[counter]) == total);
	free(counts);
}

static void start(struct stress *stress, struct thread *thread, uint32_t number,
                  void *(*run)(void *))
{
	*thread = (struct thread){.stress = stress, .number = number};
	MUST(pthread_create(&thread->id, NULL, run, thread) == 0);
}

int main(void)
{
	struct stress stress = {.working = CALLERS + DEVICES};
	struct thread threads[CALLERS + DEVICES];
	pthread_t drainer;

	test_arena_init(&stress.arena, ACTIVITY_SLOTS, ACTIVITY_BYTES, "host-1-2.capture");
	capture_begin(&stress.capture, CAPTURE_UNLIMITED);
	stress.drain = new_drain(&stress.arena.arena, &stress.capture.writer);
	MUST(pthread_create(&drainer, NULL, drain, &stress) == 0);
	for (uint32_t i = 0; i < CALLERS; i++)
		start(&stress, &threads[i], i, call);
	for (uint32_t i = 0; i < DEVICES; i++)
		start(&stress, &threads[CALLERS + i], i, work);
	for (uint32_t i = 0; i < CALLERS + DEVICES; i++)
		MUST(pthread_join(threads[i].id, NULL) == 0);
	MUST(pthread_join(drainer, NULL) == 0);
	check(&stress, GT_RECORD_api_call, CALLERS, GT_LEDGER_api_calls);
	check(&stress, GT_RECORD_kernel, DEVICES, GT_LEDGER_activity_records);
	printf("%u records, %llu slots lent, none to be had %llu times\n",
	       (CALLERS + DEVICES) * RECORDS,
	       (unsigned long long)atomic_load(&stress.arena.arena.header->sequence),
	       (unsigned long long)atomic_load(&stress.refused));
	free(stress.drain);
	capture_release(&stress.capture);
	test_arena_release(&stress.arena);
	return 0;
}

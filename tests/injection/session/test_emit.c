/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/session/emit.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "injection/process/thread.h"
#include "injection/recorder.h"

enum {
	CALL_BYTES = sizeof(struct gt_entry) + sizeof(struct gt_record_api_call),
	CALLS_OF_A_SLOT = GT_RECORD_BYTES / CALL_BYTES,
};

static struct recorder recorder;

static void make(void)
{
	recorder_init(&recorder);
	atomic_store(&recorder.session->phase, GT_SESSION_RECORDING);
}

TestSuite(emit, .init = make);

static struct gt_record_api_call *begin(void)
{
	return gt_emit_begin(recorder.session, GT_RECORD_api_call,
	                     sizeof(struct gt_record_api_call));
}

static void emit(uint32_t correlation)
{
	struct gt_record_api_call *call = begin();

	cr_assert(ne(ptr, call, NULL));
	call->start_ns = 100 + correlation;
	call->end_ns = 200 + correlation;
	call->correlation = correlation;
	gt_emit_commit();
}

static struct gt_record_api_call *emit_open(uint32_t correlation)
{
	struct gt_record_api_call *call = begin();

	cr_assert(ne(ptr, call, NULL));
	call->start_ns = 100 + correlation;
	call->correlation = correlation;
	gt_emit_commit_open();
	return call;
}

/* The n-th slot for records that was ever lent. */
static struct gt_slot *lent(uint64_t sequence)
{
	for (uint32_t i = 0; i < recorder.arena->header->slot_count; i++)
		if (recorder.arena->slots[i].sequence == sequence)
			return &recorder.arena->slots[i];
	cr_assert(false, "no slot was lent so often");
	return NULL;
}

Test(emit, a_record_is_there_from_its_commit_on)
{
	struct gt_record_api_call *call = begin();
	struct gt_slot *slot = lent(1);

	cr_expect(eq(u32, slot->used, 0));
	call->correlation = 7;
	gt_emit_commit();
	cr_expect(eq(u32, slot->used, CALL_BYTES));
	cr_expect(eq(u32, slot->state, GT_SLOT_LENT));
	cr_expect(eq(u32, slot->tid, (uint32_t)gettid()));
}

Test(emit, a_full_slot_goes_to_the_writer)
{
	size_t count;
	struct gt_record_api_call *calls;

	for (uint32_t i = 0; i < CALLS_OF_A_SLOT; i++)
		emit(i);
	cr_expect(eq(u32, lent(1)->state, GT_SLOT_LENT));
	emit(CALLS_OF_A_SLOT);
	cr_expect(eq(u32, lent(1)->state, GT_SLOT_FULL));
	cr_expect(eq(u32, lent(1)->used, CALLS_OF_A_SLOT * CALL_BYTES));
	cr_expect(eq(u32, lent(2)->used, CALL_BYTES));
	recorder_drain(&recorder);
	calls = recorder_records(&recorder, GT_RECORD_api_call, &count);
	cr_assert(eq(sz, count, CALLS_OF_A_SLOT + 1));
	for (uint32_t i = 0; i < count; i++)
		cr_expect(eq(u32, calls[i].correlation, i));
	free(calls);
}

Test(emit, errno_stays_what_it_was_when_a_slot_is_full)
{
	/* The writer cannot be told any more: sem_post fails and says so in errno. */
	sem_init(&recorder.session->writer_thread.work, 0, SEM_VALUE_MAX);
	errno = EDOM;
	for (uint32_t i = 0; i <= (GT_UNHURRIED_SLOTS + 1) * CALLS_OF_A_SLOT; i++)
		emit(i);
	cr_expect(eq(int, errno, EDOM));
}

static int posts(void)
{
	int value = 0;

	(void)sem_getvalue(&recorder.session->writer_thread.work, &value);
	return value;
}

Test(emit, the_writer_is_woken_when_many_slots_are_full)
{
	const int before = posts();

	/* The record that finds a slot full hands that one over. */
	for (uint32_t i = 0; i <= GT_UNHURRIED_SLOTS * CALLS_OF_A_SLOT; i++)
		emit(i);
	cr_expect(eq(int, posts(), before));
	for (uint32_t i = 0; i < CALLS_OF_A_SLOT; i++)
		emit(i);
	cr_expect(eq(int, posts(), before + 1));
}

Test(emit, a_slot_stays_while_a_record_in_it_is_open)
{
	struct gt_record_api_call *call = emit_open(1);

	for (uint32_t i = 0; i < CALLS_OF_A_SLOT; i++)
		emit(2 + i);
	cr_expect(eq(u32, lent(1)->state, GT_SLOT_LENT));
	cr_expect(eq(u32, lent(2)->used, CALL_BYTES));
	call->end_ns = 300;
	gt_emit_close(recorder.session, call);
	cr_expect(eq(u32, lent(1)->state, GT_SLOT_FULL));
	cr_expect(eq(u32, lent(1)->used, CALLS_OF_A_SLOT * CALL_BYTES));
	cr_expect(eq(u32, lent(2)->state, GT_SLOT_LENT));
}

Test(emit, the_last_open_record_lets_its_slot_go)
{
	struct gt_record_api_call *const first = emit_open(1);
	struct gt_record_api_call *const second = emit_open(2);
	struct gt_record_api_call *third;

	for (uint32_t i = 0; i < CALLS_OF_A_SLOT; i++)
		emit(3 + i);
	third = emit_open(9); /* in the second slot */
	gt_emit_close(recorder.session, second);
	cr_expect(eq(u32, lent(1)->state, GT_SLOT_LENT));
	gt_emit_close(recorder.session, third);
	cr_expect(eq(u32, lent(1)->state, GT_SLOT_LENT));
	gt_emit_close(recorder.session, first);
	cr_expect(eq(u32, lent(1)->state, GT_SLOT_FULL));
}

Test(emit, too_many_slots_with_open_records_cost_records)
{
	struct gt_record_api_call *open[GT_HELD_SLOTS + 1];

	for (int slot = 0; slot <= GT_HELD_SLOTS; slot++) {
		open[slot] = emit_open((uint32_t)slot);
		for (uint32_t i = 1; i < CALLS_OF_A_SLOT; i++)
			emit(100);
	}
	cr_expect(eq(ptr, begin(), NULL));
	cr_expect(eq(u64, recorder_count(&recorder, GT_LEDGER_api_lost), 1));
	gt_emit_close(recorder.session, open[0]);
	emit(5);
	cr_expect(eq(u64, recorder_count(&recorder, GT_LEDGER_api_lost), 1));
	for (int slot = 1; slot <= GT_HELD_SLOTS; slot++)
		gt_emit_close(recorder.session, open[slot]);
	for (int slot = 0; slot <= GT_HELD_SLOTS; slot++)
		cr_expect(eq(u32, lent(1 + (uint64_t)slot)->state, GT_SLOT_FULL));
}

Test(emit, what_finds_no_slot_is_counted)
{
	while (gt_arena_take(recorder.arena, GT_SLOT_RECORDS))
		;
	cr_expect(eq(ptr, begin(), NULL));
	cr_expect(eq(ptr, begin(), NULL));
	cr_expect(eq(ptr, gt_emit_begin(recorder.session, GT_RECORD_query, 8), NULL));
	cr_expect(eq(u64, recorder_count(&recorder, GT_LEDGER_api_lost), 2));
	cr_expect(eq(u64, recorder_count(&recorder, GT_LEDGER_records_lost), 1));
	gt_slot_hand_over(lent(1), 0);
	lent(1)->state = GT_SLOT_FREE;
	emit(1);
	cr_expect(eq(u64, recorder_count(&recorder, GT_LEDGER_api_lost), 2));
}

Test(emit, what_is_too_large_is_counted)
{
	cr_expect(ne(ptr, gt_emit_begin(recorder.session, GT_RECORD_SERIES, GT_ENTRY_MAX_BYTES),
	             NULL));
	cr_expect(
		eq(ptr, gt_emit_begin(recorder.session, GT_RECORD_SERIES, GT_RECORD_BYTES), NULL));
	cr_expect(eq(u64, recorder_count(&recorder, GT_LEDGER_records_lost), 1));
}

Test(emit, a_text_lies_behind_its_record)
{
	static const char text[] = "a stage of the program";
	struct gt_record_context *context =
		gt_emit_begin(recorder.session, GT_RECORD_counter,
	                      sizeof(struct gt_record_counter) + GT_TEXT_BYTES(sizeof(text) - 1));
	struct gt_record_counter *counter = (struct gt_record_counter *)context;
	uint32_t offset = 0;
	const char *found = NULL;
	uint32_t size = 0;
	size_t count;

	counter->name = gt_emit_text(counter, sizeof(*counter), text, sizeof(text) - 1);
	gt_emit_commit();
	recorder_drain(&recorder);
	counter = recorder_records(&recorder, GT_RECORD_counter, &count);
	cr_assert(eq(sz, count, 1));
	for (uint32_t id = 0; id < counter->name; id++)
		cr_assert(gt_arena_next_string(recorder.arena, &offset, &found, &size));
	cr_assert(eq(u32, size, sizeof(text) - 1));
	cr_expect(memcmp(found, text, size) == 0);
	free(counter);
}

Test(emit, a_sample_takes_its_values_along)
{
	union {
		struct gt_sample sample;
		uint8_t bytes[sizeof(struct gt_sample) + 2 * sizeof(double)];
	} sample = {.sample = {.time_ns = 5, .series = 3, .columns = 2}};
	const struct gt_entry *entry;
	const struct gt_sample *there;

	sample.sample.values[0] = 1.5;
	sample.sample.values[1] = -2;
	gt_emit_sample(recorder.session, &sample.sample);
	entry = (const struct gt_entry *)gt_slot_memory(recorder.arena, lent(1));
	there = (const struct gt_sample *)(entry + 1);
	cr_expect(eq(u16, entry->kind, GT_RECORD_SERIES));
	cr_expect(eq(u16, entry->bytes, sizeof(sample)));
	cr_expect(eq(u32, lent(1)->used, sizeof(*entry) + sizeof(sample)));
	cr_expect(eq(u64, there->time_ns, 5));
	cr_expect(eq(u16, there->series, 3));
	cr_expect(eq(dbl, there->values[0], 1.5));
	cr_expect(eq(dbl, there->values[1], -2));
}

static void *call_and_end(void *context)
{
	uint32_t *tid = context;

	*tid = (uint32_t)gettid();
	prctl(PR_SET_NAME, "worker-17");
	emit(1);
	return NULL;
}

Test(emit, a_thread_that_ends_hands_its_slot_over)
{
	uint32_t tid;
	pthread_t thread;

	cr_assert(eq(int, pthread_create(&thread, NULL, call_and_end, &tid), 0));
	pthread_join(thread, NULL);
	cr_expect(eq(u32, lent(1)->state, GT_SLOT_FULL));
	cr_expect(eq(u32, lent(1)->used, CALL_BYTES));
	cr_expect(eq(u32, lent(1)->tid, tid));
	expect_text(lent(1)->thread_name, "worker-17");
}

static void *end_in_a_call(void *context)
{
	(void)context;
	emit_open(1);
	for (uint32_t i = 1; i < CALLS_OF_A_SLOT; i++)
		emit(1 + i);
	emit_open(2);
	return NULL;
}

Test(emit, a_thread_that_ends_in_a_call_hands_all_its_slots_over)
{
	struct gt_record_api_call *calls;
	pthread_t thread;
	size_t count;

	cr_assert(eq(int, pthread_create(&thread, NULL, end_in_a_call, NULL), 0));
	pthread_join(thread, NULL);
	cr_expect(eq(u32, lent(1)->state, GT_SLOT_FULL));
	cr_expect(eq(u32, lent(2)->state, GT_SLOT_FULL));
	recorder_drain(&recorder);
	calls = recorder_records(&recorder, GT_RECORD_api_call, &count);
	cr_assert(eq(sz, count, CALLS_OF_A_SLOT + 1));
	cr_expect(eq(u32, calls[0].flags, GT_RECORD_UNFINISHED));
	cr_expect(eq(u32, calls[1].flags, 0));
	cr_expect(eq(u32, calls[CALLS_OF_A_SLOT].flags, GT_RECORD_UNFINISHED));
	free(calls);
}

static void *emit_as_ours(void *context)
{
	(void)context;
	gt_thread_enter(GT_THREAD_SOURCE);
	emit(1);
	return NULL;
}

Test(emit, a_thread_of_ours_is_none_of_the_programs)
{
	pthread_t thread;
	size_t count;

	cr_assert(eq(int, pthread_create(&thread, NULL, emit_as_ours, NULL), 0));
	pthread_join(thread, NULL);
	recorder_drain(&recorder);
	free(recorder_records(&recorder, GT_RECORD_thread, &count));
	cr_expect(eq(sz, count, 0));
	free(recorder_records(&recorder, GT_RECORD_api_call, &count));
	cr_expect(eq(sz, count, 1));
}

Test(emit, the_writer_gets_what_is_handed_over_on_purpose)
{
	gt_emit_hand_over(recorder.session); /* nothing */
	emit(1);
	gt_emit_hand_over(recorder.session);
	cr_expect(eq(u32, lent(1)->state, GT_SLOT_FULL));
	emit_open(2);
	gt_emit_hand_over(recorder.session);
	cr_expect(eq(u32, lent(2)->state, GT_SLOT_LENT));
}

Test(emit, what_is_abandoned_holds_no_slot)
{
	struct gt_record_api_call *const call = emit_open(1);

	for (uint32_t i = 0; i < CALLS_OF_A_SLOT; i++)
		emit(2 + i);
	emit_open(3);
	gt_emit_abandon(recorder.session);
	cr_expect(eq(u32, lent(1)->state, GT_SLOT_FULL));
	gt_emit_close(recorder.session, call); /* does nothing */
	gt_emit_hand_over(recorder.session);
	cr_expect(eq(u32, lent(2)->state, GT_SLOT_FULL));
}

Test(emit, the_child_of_a_fork_emits_nothing)
{
	atomic_store(&recorder.session->phase, GT_SESSION_FORGOTTEN);
	cr_expect(eq(ptr, begin(), NULL));
	cr_expect(eq(u64, recorder_count(&recorder, GT_LEDGER_api_lost), 0));
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/output/names.h"

#include "injection/recorder.h"
#include "injection/session/writer_thread.h"

/* Names of kernels that have not ended: they are kept while CUPTI still has their records. */

static struct recorder recorder;

static CUptiResult next_record(uint8_t *bytes, size_t size, CUpti_Activity **record)
{
	(void)bytes;
	(void)size;
	(void)record;
	return CUPTI_ERROR_MAX_LIMIT_REACHED;
}

static void make(void)
{
	recorder_init(&recorder);
	recorder.session->cupti.cuptiActivityGetNextRecord = next_record;
	atomic_store(&recorder.session->phase, GT_SESSION_RECORDING);
}

TestSuite(names, .init = make);

static void keep(void)
{
	gt_names_keep(&(struct gt_kept_names){recorder.arena, &recorder.session->interner,
	                                      recorder.session->scratch.text,
	                                      sizeof(recorder.session->scratch.text)});
}

static bool is_kept(const char *name)
{
	const struct gt_name *there = gt_arena_name(recorder.arena, (uintptr_t)name);

	return there && there->pointer == (uintptr_t)name;
}

static void add(struct gt_slot *slot, const char *name)
{
	add_raw_kernel(&recorder.memory, slot, 1, (uintptr_t)name);
}

Test(names, of_a_buffer_that_cupti_has_are_kept)
{
	static const char first[] = "first";
	static const char second[] = "second";
	struct gt_slot *slot = gt_arena_take(recorder.arena, GT_SLOT_ACTIVITY);

	add(slot, first);
	keep();
	cr_expect(is_kept(first));
	cr_expect(not(is_kept(second)));
	add(slot, second);
	keep();
	cr_expect(is_kept(second));
}

/* It is looked through from its begin again. */
Test(names, of_a_buffer_that_is_used_again_are_kept)
{
	static const char before[] = "before";
	static const char after[] = "after";
	struct gt_slot *slot = gt_arena_take(recorder.arena, GT_SLOT_ACTIVITY);
	struct gt_slot *again;

	add(slot, before);
	add(slot, before);
	keep();
	gt_slot_hand_over(slot, slot->used);
	gt_writer_thread_drain(recorder.session);
	again = gt_arena_take(recorder.arena, GT_SLOT_ACTIVITY);
	cr_assert(eq(ptr, again, slot));
	add(again, after);
	keep();
	cr_expect(is_kept(after));
}

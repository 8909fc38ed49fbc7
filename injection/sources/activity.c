/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdio.h>

#include "injection/session.h"
#include "injection/source.h"

/* What the GPU did, from CUPTI's activity records, in buffers that are slots of the arena. */

static const struct {
	CUpti_ActivityKind kind;
	const char *name;
} kinds[] = {
	{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "kernels"},
	{CUPTI_ACTIVITY_KIND_MEMCPY, "copies"},
	{CUPTI_ACTIVITY_KIND_MEMCPY2, "copies between GPUs"},
	{CUPTI_ACTIVITY_KIND_MEMSET, "fills"},
	{CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, "synchronization"},
	{CUPTI_ACTIVITY_KIND_OVERHEAD, "overhead"},
	{CUPTI_ACTIVITY_KIND_DEVICE, "devices"},
	{CUPTI_ACTIVITY_KIND_CONTEXT, "contexts"},
	{CUPTI_ACTIVITY_KIND_STREAM, "streams"},
};

#define CUDA_12_9 27 /* cuptiGetVersion */

enum { KIND_COUNT = sizeof(kinds) / sizeof(kinds[0]) };

/*
 * CUPTI's thread or the program's, never blocking. When even the discard buffers are in use,
 * CUPTI is given none and counts what it drops itself; before CUDA 12.9 that could crash it, so
 * that there it gets memory that nobody reads.
 */
static void CUPTIAPI request(uint8_t **buffer, size_t *size, size_t *max_records)
{
	struct gt_session *session = gt_session_get();
	struct gt_slot *slot = NULL;
	/* In the child of a fork there is no arena. */
	const bool recording = atomic_load_explicit(&session->armed, memory_order_acquire) ||
	                       atomic_load_explicit(&session->stopping, memory_order_acquire);

	*max_records = 0; /* as many as fit */
	if (recording) {
		slot = gt_arena_take(&session->arena, GT_SLOT_ACTIVITY);
		if (!slot)
			slot = gt_arena_take(&session->arena, GT_SLOT_DISCARD);
	}
	if (slot) {
		*buffer = gt_slot_memory(&session->arena, slot);
		*size = slot->size;
	} else {
		const bool none = session->cupti.version >= CUDA_12_9;

		if (!none && recording)
			gt_ledger_add(&session->arena, GT_LEDGER_discarded_uncounted, 1);
		*buffer = none ? NULL : session->last_resort;
		*size = none ? 0 : GT_DISCARD_BYTES;
	}
	if (!atomic_exchange_explicit(&session->activity_seen, true, memory_order_acq_rel))
		sem_post(&session->writer_work); /* CUDA is up: devices can be asked for */
}

static void CUPTIAPI complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                              size_t valid)
{
	struct gt_session *session = gt_session_get();
	struct gt_slot *slot;
	size_t dropped = 0;

	(void)size;
	/* In the child of a fork there is no arena. */
	if (!atomic_load_explicit(&session->armed, memory_order_acquire) &&
	    !atomic_load_explicit(&session->stopping, memory_order_acquire))
		return;
	slot = gt_arena_slot_at(&session->arena, buffer);
	if (!slot)
		return;
	/* The counter starts again at 0 with each reading. */
	if (session->cupti.cuptiActivityGetNumDroppedRecords(context, stream, &dropped) ==
	            CUPTI_SUCCESS &&
	    dropped)
		gt_ledger_add(&session->arena, GT_LEDGER_dropped_by_cupti, dropped);
	gt_slot_hand_over(slot, (uint32_t)valid);
	sem_post(&session->writer_work);
}

/* Attributes must be set before CUDA makes a context; one that is not known is left as it is. */
static void set_attributes(struct gt_session *session)
{
	uint8_t yes = 1;
	size_t size = sizeof(yes);

	/* Slots are zero when they are handed out: CUPTI need not do it on the program's thread. */
	(void)session->cupti.cuptiActivitySetAttribute(
		CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size, &yes);
}

static int enable(struct gt_session *session, char *why, size_t why_size)
{
	int enabled = 0;

	for (size_t i = 0; i < KIND_COUNT; i++) {
		const CUptiResult result = session->cupti.cuptiActivityEnable(kinds[i].kind);
		char text[256];

		if (result == CUPTI_SUCCESS) {
			enabled++;
			continue;
		}
		snprintf(text, sizeof(text), "%s are not recorded: cuptiActivityEnable says %s",
		         kinds[i].name, gt_cupti_text(&session->cupti, result));
		gt_ledger_add(&session->arena, GT_LEDGER_sources_failed, 1);
		gt_session_note(session, "activity", text);
	}
	if (enabled)
		return 0;
	snprintf(why, why_size, "CUPTI refused every kind of activity");
	return -1;
}

static int start(struct gt_session *session, char *why, size_t why_size)
{
	CUptiResult result;

	set_attributes(session);
	result = session->cupti.cuptiActivityRegisterCallbacks(request, complete);
	if (result != CUPTI_SUCCESS) {
		snprintf(why, why_size, "cuptiActivityRegisterCallbacks failed: %s",
		         gt_cupti_text(&session->cupti, result));
		return -1;
	}
	return enable(session, why, why_size);
}

const struct gt_source gt_source_activity = {.name = "activity", .start = start};

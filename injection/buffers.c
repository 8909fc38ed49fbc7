/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/services.h"
#include "injection/session.h"

/* The arena's activity slots as CUPTI has them: memory that is lent and taken back. */

struct gt_buffer gt_buffer_lend(struct gt_session *session)
{
	struct gt_slot *slot = NULL;

	if (gt_session_has_arena(session)) {
		slot = gt_arena_take(&session->arena, GT_SLOT_ACTIVITY);
		if (!slot)
			slot = gt_arena_take(&session->arena, GT_SLOT_DISCARD);
	}
	if (!slot)
		return (struct gt_buffer){0};
	return (struct gt_buffer){gt_slot_memory(&session->arena, slot), slot->size};
}

bool gt_buffer_take_back(struct gt_session *session, const uint8_t *bytes, size_t used)
{
	struct gt_slot *slot = NULL;

	if (gt_session_has_arena(session))
		slot = gt_arena_slot_at(&session->arena, bytes);
	if (!slot)
		return false;
	gt_slot_hand_over(slot, (uint32_t)used);
	sem_post(&session->writer_thread.work);
	return true;
}

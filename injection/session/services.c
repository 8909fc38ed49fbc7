/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/session/services.h"

#include <string.h>

#include "injection/calls/api.h"
#include "injection/cupti/cupti.h"
#include "injection/session/session.h"

const struct gt_settings *gt_settings_of(const struct gt_session *session)
{
	return &session->settings;
}

enum gt_captured gt_captured_work(const struct gt_session *session)
{
	const struct gt_settings *settings = &session->settings;

	if (*settings->kernel_counters || (*settings->capture_kernels && settings->capture_graphs))
		return GT_CAPTURED_NOTHING;
	if (settings->capture_graphs)
		return GT_CAPTURED_GRAPHS;
	if (*settings->capture_kernels)
		return GT_CAPTURED_KERNELS;
	return *settings->capture_sequence ? GT_CAPTURED_SEQUENCES : GT_CAPTURED_NOTHING;
}

void gt_share(struct gt_session *session, enum gt_shared what, void *object)
{
	/* Pairs with the acquire in gt_shared: threads of the program may ask at any time. */
	atomic_store_explicit(&session->shared[what], object, memory_order_release);
}

void *gt_shared(struct gt_session *session, enum gt_shared what)
{
	return atomic_load_explicit(&session->shared[what], memory_order_acquire);
}

const struct gt_cupti *gt_cupti_of(const struct gt_session *session)
{
	return &session->cupti;
}

bool gt_is_worker(const struct gt_session *session)
{
	return session->is_worker;
}

void gt_each_call(struct gt_session *session, gt_use_call *use)
{
	static const CUpti_CallbackDomain domains[] = {CUPTI_CB_DOMAIN_RUNTIME_API,
	                                               CUPTI_CB_DOMAIN_DRIVER_API};

	for (size_t i = 0; i < sizeof(domains) / sizeof(domains[0]); i++) {
		for (uint32_t id = 1; id < GT_ROUTER_IDS; id++) {
			const char *name = NULL;

			if (session->cupti.cuptiGetCallbackName(domains[i], id, &name) ==
			            CUPTI_SUCCESS &&
			    name)
				use(session, domains[i], id, name);
		}
	}
}

uint32_t gt_intern(struct gt_session *session, const char *text)
{
	return gt_interner_add(&session->interner, text, strlen(text));
}

void gt_count(struct gt_session *session, enum gt_ledger_id id, uint64_t value)
{
	gt_ledger_add(&session->arena, id, value);
}

void gt_want_nodes(struct gt_session *session, uint32_t correlation)
{
	gt_graph_samples_mark(&session->arena.header->graph_samples, correlation);
}

bool gt_is_over(const struct gt_session *session)
{
	return gt_session_is_ending(session) || gt_session_is(session, GT_SESSION_FORGOTTEN);
}

static bool is_launch(const char *function)
{
	const struct gt_api_call_line *line = function ? gt_api_call_find(function) : NULL;

	return line && strcmp(line->kind, "LAUNCH") == 0;
}

void gt_own_call_enter(struct gt_session *session, uint32_t correlation)
{
	struct gt_record_own_call *record =
		gt_emit_begin(session, GT_RECORD_own_call, sizeof(*record));

	if (!record)
		return;
	record->correlation = correlation;
	gt_emit_commit();
}

void gt_own_call_leave(struct gt_session *session, const char *function)
{
	if (gt_session_has_arena(session) && is_launch(function))
		gt_count(session, GT_LEDGER_own_launches, 1);
}

void gt_count_unrecorded(struct gt_session *session, const char *function)
{
	gt_roll_add(&session->output, gt_session_has_arena(session) ? GT_ROLL_LATE : GT_ROLL_FORKED,
	            is_launch(function));
}

void gt_add_clock(struct gt_session *session, const struct gt_record_clock *clock)
{
	struct gt_arena_header *header = session->arena.header;
	const uint32_t count = atomic_load_explicit(&header->clock_count, memory_order_relaxed);

	header->clocks[count % GT_ARENA_CLOCKS] = *clock;
	/* Pairs with the acquire in format/arena/drain.c of a salvager. */
	atomic_store_explicit(&header->clock_count, count + 1, memory_order_release);
}

void gt_tell_activities(struct gt_session *session, uint32_t activities)
{
	atomic_store_explicit(&session->activities, activities, memory_order_relaxed);
}

bool gt_is_activity_recorded(const struct gt_session *session, unsigned activity)
{
	return atomic_load_explicit(&session->activities, memory_order_relaxed) >> activity & 1;
}

void gt_tell_cuda_is_up(struct gt_session *session)
{
	if (atomic_load_explicit(&session->cuda_up, memory_order_relaxed))
		return;
	if (!atomic_exchange_explicit(&session->cuda_up, true, memory_order_acq_rel))
		sem_post(&session->writer_thread.work);
}

#define ASKED_NS UINT64_C(10000000)

void gt_ask_reading(struct gt_session *session)
{
	const uint64_t now_ns = gt_now();
	const uint64_t asked_ns =
		atomic_load_explicit(&session->reading_asked_ns, memory_order_relaxed);

	if (now_ns - asked_ns < ASKED_NS)
		return;
	atomic_store_explicit(&session->reading_asked_ns, now_ns, memory_order_relaxed);
	atomic_store_explicit(&session->reading_asked, true, memory_order_release);
	gt_sources_wake(session);
}

bool gt_is_reading_asked(struct gt_session *session)
{
	return atomic_load_explicit(&session->reading_asked, memory_order_relaxed) &&
	       atomic_exchange_explicit(&session->reading_asked, false, memory_order_acquire);
}

#define ASK_LIMIT_NS 1000000000u

void gt_ask_recording(struct gt_session *session, bool records, enum gt_control_cause cause)
{
	if (records)
		(void)gt_session_arm(session, cause, ASK_LIMIT_NS);
	else
		(void)gt_session_disarm(session, cause, ASK_LIMIT_NS);
}

bool gt_is_recording(const struct gt_session *session)
{
	return gt_session_is(session, GT_SESSION_RECORDING);
}

bool gt_is_recorded(const struct gt_session *session)
{
	return gt_session_has_arena(session);
}

/* ---- memory for CUPTI: the activity slots of the arena ---- */

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

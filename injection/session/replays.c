/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/session/replays.h"

#include <semaphore.h>
#include <string.h>

#include "format/arena/translate.h"
#include "injection/process/wait.h"
#include "injection/session/services.h"
#include "injection/session/session.h"

#define FETCH_NS   500000000u /* for one flush */
#define BRIEFLY_NS 10000000u  /* for other work, while there are buffers */
/*
 * And while hardly any is left. CUPTI 13.0 writes no times of work behind a replayed launch until a
 * forced flush, so that its records stay open, and then has them all (H100, driver 580.159.04,
 * 2026-11-24: 7,688 of 7,688 launches, 3,000 of them profiled).
 */
#define PATIENCE_NS 200000000u
#define NAP_NS      500000u

enum { FETCH_EIGHTHS = 2, SHORT_EIGHTHS = 6 };

/* ---- which records are open ---- */

static bool is_replay(const struct gt_replays *replays, uint32_t correlation)
{
	const uint32_t count = atomic_load_explicit(&replays->count, memory_order_acquire);

	for (uint32_t i = 0; i < count && i < GT_REPLAYS; i++)
		if (atomic_load_explicit(&replays->correlations[i], memory_order_relaxed) ==
		    correlation)
			return true;
	return false;
}

static bool is_open(const uint8_t *raw)
{
	uint32_t kind;

	memcpy(&kind, raw, sizeof(kind));
	return kind & GT_RAW_KIND_OPEN;
}

static bool is_open_replay(const struct gt_session *session, const uint8_t *raw)
{
	return gt_raw_activity(raw) == GT_ACTIVITY_kernel &&
	       is_replay(&session->replays, (uint32_t)gt_raw_get(&session->arena.header->layout,
	                                                         raw, GT_RAW_kernel_correlation));
}

/* CUPTI may be writing behind the last record: a kind of 0 ends what is there. */
static bool has_other_open(const struct gt_session *session, const struct gt_slot *slot)
{
	const uint8_t *at = gt_slot_memory(&session->arena, slot);
	uint32_t left = slot->size;
	uint32_t size;

	while ((size = gt_raw_size(&session->arena, at, left)) > 0) {
		if (is_open(at) && !is_open_replay(session, at))
			return true;
		at += size;
		left -= size;
	}
	return false;
}

static bool is_lent(const struct gt_slot *slot)
{
	return slot->kind == GT_SLOT_ACTIVITY &&
	       atomic_load_explicit(&slot->state, memory_order_acquire) == GT_SLOT_LENT;
}

/* CUPTI gave it back, and the writer has not emptied it yet. */
static bool is_returned(const struct gt_slot *slot)
{
	const uint32_t state = atomic_load_explicit(&slot->state, memory_order_acquire);

	return slot->kind == GT_SLOT_ACTIVITY &&
	       (state == GT_SLOT_FULL || state == GT_SLOT_DRAINING);
}

static bool are_alone(const struct gt_session *session)
{
	for (uint32_t i = 0; i < session->arena.header->slot_count; i++) {
		const struct gt_slot *slot = &session->arena.slots[i];

		if (is_lent(slot) && has_other_open(session, slot))
			return false;
	}
	return true;
}

/* ---- the flusher ---- */

bool gt_replays_may_be_forced(struct gt_session *session)
{
	const uint32_t wanted = atomic_exchange(&session->replays.wanted, GT_REPLAYS_NOT_WANTED);

	return wanted == GT_REPLAYS_ANYWAY || (wanted == GT_REPLAYS_IF_ALONE && are_alone(session));
}

void gt_replays_forget(struct gt_session *session)
{
	atomic_store_explicit(&session->replays.count, 0, memory_order_release);
}

/* ---- the thread whose launch is replayed ---- */

struct use {
	uint32_t eighths;  /* of the buffers, or of the correlation ids, that are in use */
	uint32_t returned; /* buffers that the writer has to empty */
};

static struct use count_use(const struct gt_session *session)
{
	const uint32_t ids = atomic_load_explicit(&session->replays.count, memory_order_relaxed);
	uint32_t slots = 0;
	uint32_t lent = 0;
	struct use use = {0};

	for (uint32_t i = 0; i < session->arena.header->slot_count; i++) {
		slots += session->arena.slots[i].kind == GT_SLOT_ACTIVITY;
		lent += is_lent(&session->arena.slots[i]);
		use.returned += is_returned(&session->arena.slots[i]);
	}
	use.eighths = slots ? (lent + use.returned) * 8 / slots : 0;
	if (use.eighths < ids * 8 / GT_REPLAYS)
		use.eighths = ids * 8 / GT_REPLAYS;
	return use;
}

/* True when no replayed launch has a record in CUPTI's buffers any more. */
static bool fetch(struct gt_session *session, enum gt_replays_wanted wanted)
{
	atomic_store(&session->replays.wanted, wanted);
	gt_fetch(session, FETCH_NS);
	return atomic_load_explicit(&session->replays.count, memory_order_acquire) == 0;
}

static void nap(void)
{
	sem_t never;

	sem_init(&never, 0, 0);
	(void)gt_wait(&never, NAP_NS);
	sem_destroy(&never);
}

static void note_forced(struct gt_session *session)
{
	if (session->replays.noted)
		return;
	session->replays.noted = true;
	gt_note(session, "kernel_counters",
	        "CUPTI's buffers were full of profiled launches. gputrace fetched them while records "
	        "of other work were open: that work has no times, and counts as unfinished");
}

/*
 * The program makes no other launch meanwhile, so work that runs comes to its end, unless it waits
 * for a launch.
 */
static void fetch_replays(struct gt_session *session, uint64_t began_ns, bool short_of_buffers)
{
	while (!fetch(session, GT_REPLAYS_IF_ALONE) && gt_session_is_running(session)) {
		const uint64_t waited_ns = gt_now() - began_ns;

		if (waited_ns > BRIEFLY_NS && !short_of_buffers)
			return; /* after the next launch */
		if (waited_ns > PATIENCE_NS) {
			note_forced(session);
			(void)fetch(session, GT_REPLAYS_ANYWAY);
			return;
		}
		nap();
	}
}

static void make_room(struct gt_session *session)
{
	const uint64_t began_ns = gt_now();
	struct use use = count_use(session);

	if (use.eighths < FETCH_EIGHTHS || !gt_session_is_running(session))
		return;
	fetch_replays(session, began_ns, use.eighths >= SHORT_EIGHTHS);
	for (use = count_use(session); use.eighths >= FETCH_EIGHTHS && use.returned > 0;
	     use = count_use(session)) {
		if (gt_now() - began_ns > PATIENCE_NS || !gt_session_is_running(session))
			return;
		nap();
	}
}

void gt_replay_begins(struct gt_session *session)
{
	atomic_store(&session->replays.under_way, true);
}

void gt_replay_ends(struct gt_session *session, uint32_t correlation)
{
	struct gt_replays *replays = &session->replays;
	const uint32_t count = atomic_load_explicit(&replays->count, memory_order_relaxed);

	gt_flusher_excuse(session);
	atomic_store(&replays->under_way, false);
	if (correlation == 0)
		return;
	if (count < GT_REPLAYS)
		atomic_store_explicit(&replays->correlations[count], correlation,
		                      memory_order_relaxed);
	atomic_store_explicit(&replays->count, count + 1, memory_order_release);
	make_room(session);
}

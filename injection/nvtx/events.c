/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/nvtx/events.h"

#include <stddef.h>

#include "injection/nvtx/handles.h"
#include "injection/nvtx/payloads.h"
#include "injection/process/thread.h"
#include "injection/session/services.h"
#include "injection/session/session.h"

/*
 * A push and its pop, a start and its end are two records: a range may last for hours, and begin on
 * one thread and end on another. Each record has the thread's count of them, so that their order is
 * known where the clock does not tell, and a missing one is missed; what is pushed and popped has
 * its level besides.
 */

/* Domains whose levels a thread counts. */
#define LEVELS 14

/* One cache line. */
struct own {
	_Alignas(64) uint32_t order;
	uint32_t is_program_s; /* the thread is none of ours; 0: that was not asked yet */
	uint32_t levels[LEVELS];
};

static __thread struct own own __attribute__((tls_model("initial-exec")));

/* Our threads say that they are before they do anything, and no thread becomes one later. */
__attribute__((cold, noinline)) static bool ask_whose_thread(void)
{
	own.is_program_s = !gt_thread_is_ours();
	return own.is_program_s;
}

/* The data asked for lies in the cache line that the event touches anyway. */
static inline bool is_recorded(struct gt_session *session, uint32_t domain)
{
	if (domain == GT_DOMAIN_UNWANTED)
		return false;
	if (!gt_session_records(session))
		return false;
	return own.is_program_s || ask_whose_thread();
}

/* ---- records ---- */

static void emit_data(struct gt_session *session, const struct gt_nvtx_event *event,
                      uint64_t time_ns)
{
	const struct gt_nvtx_data data = {
		.all = event->data,
		.count = event->data_count,
		.time_ns = time_ns,
		.order = own.order,
	};

	gt_nvtx_emit_data(session, &data);
}

/* All but the time; NULL: there is no room. */
static inline struct gt_record_range_begin *fill_begin(struct gt_session *session,
                                                       const struct gt_nvtx_event *event)
{
	const size_t behind = event->text.size ? GT_TEXT_BYTES(event->text.size) : 0;
	struct gt_record_range_begin *record;

	own.order++;
	record = gt_emit_begin(session, GT_RECORD_range_begin, sizeof(*record) + behind);
	if (!record)
		return NULL;
	record->id = event->id;
	record->payload = event->payload;
	record->order = own.order;
	record->domain = event->domain;
	record->level = event->level;
	record->registered = event->registered;
	record->category = event->category;
	record->payload_type = event->payload_type;
	record->color = event->color;
	record->kind = event->kind;
	record->thread = 0;
	record->flags = event->text.cut ? GT_RECORD_CUT : 0;
	record->text = gt_nvtx_put_text(record, sizeof(*record), &event->text);
	return record;
}

__attribute__((hot)) static void emit_begin(struct gt_session *session,
                                            const struct gt_nvtx_event *event)
{
	struct gt_record_range_begin *record = fill_begin(session, event);

	if (!record)
		return;
	record->time_ns = gt_stamp();
	gt_emit_commit();
	if (event->text.cut)
		gt_count(session, GT_LEDGER_nvtx_cut, 1);
	if (event->data)
		emit_data(session, event, record->time_ns);
}

static inline void emit_end_at(struct gt_session *session, const struct gt_nvtx_event *event,
                               uint64_t now)
{
	struct gt_record_range_end *record;

	own.order++;
	record = gt_emit_begin(session, GT_RECORD_range_end, sizeof(*record));
	if (!record)
		return;
	record->time_ns = now;
	record->id = event->id;
	record->order = own.order;
	record->domain = event->domain;
	record->level = event->level;
	record->kind = event->kind;
	record->thread = 0;
	record->flags = 0;
	gt_emit_commit();
	if (event->data)
		emit_data(session, event, now);
}

__attribute__((hot)) static void emit_end(struct gt_session *session,
                                          const struct gt_nvtx_event *event)
{
	emit_end_at(session, event, gt_stamp());
}

/* ---- ranges and marks ---- */

static struct gt_nvtx_watched_text text_of(const struct gt_nvtx_event *event)
{
	return (struct gt_nvtx_watched_text){&event->text, event->registered};
}

/* The level of the new range, which is what NVTX's function returns. */
int gt_nvtx_push(struct gt_session *session, struct gt_nvtx_event *event)
{
	event->level = GT_LEVEL_UNKNOWN;
	if (event->domain < LEVELS)
		event->level = own.levels[event->domain]++;
	if (session->nvtx.watches)
		gt_nvtx_watch_push(&gt_nvtx.watch, text_of(event),
		                   (struct gt_nvtx_level){event->domain, event->level});
	if (is_recorded(session, event->domain))
		emit_begin(session, event);
	return event->level == GT_LEVEL_UNKNOWN ? NVTX_NO_PUSH_POP_TRACKING : (int)event->level;
}

static int pop_event(struct gt_session *session, struct gt_nvtx_event *event)
{
	const uint32_t domain = event->domain;
	int result = NVTX_NO_PUSH_POP_TRACKING;

	event->level = GT_LEVEL_UNKNOWN;
	if (domain < LEVELS && own.levels[domain] > 0) {
		event->level = --own.levels[domain];
		result = (int)event->level;
	} else if (domain < LEVELS) {
		event->kind = GT_RANGE_STEP_EMPTY;
		result = -1;
	}
	if (is_recorded(session, event->domain))
		emit_end(session, event);
	if (session->nvtx.watches && result >= 0)
		gt_nvtx_watch_pop(&gt_nvtx.watch, (struct gt_nvtx_level){domain, event->level});
	return result;
}

int gt_nvtx_pop(struct gt_session *session, uint32_t domain)
{
	struct gt_nvtx_event event = gt_nvtx_event_in(domain);

	return pop_event(session, &event);
}

nvtxRangeId_t gt_nvtx_start_range(struct gt_session *session, struct gt_nvtx_event *event,
                                  nvtxRangeId_t wanted)
{
	event->kind = GT_RANGE_STEP_ID;
	event->level = GT_LEVEL_UNKNOWN;
	event->id = wanted;
	if (!event->id)
		event->id = atomic_fetch_add_explicit(&gt_nvtx.ranges, 1, memory_order_relaxed) + 1;
	if (session->nvtx.watches)
		gt_nvtx_watch_start(&gt_nvtx.watch, text_of(event), event->id);
	if (is_recorded(session, event->domain))
		emit_begin(session, event);
	return event->id;
}

void gt_nvtx_end_range(struct gt_session *session, uint32_t domain, nvtxRangeId_t id)
{
	struct gt_nvtx_event event = gt_nvtx_event_in(domain);

	event.kind = GT_RANGE_STEP_ID;
	event.id = id;
	if (is_recorded(session, domain))
		emit_end(session, &event);
	if (session->nvtx.watches)
		gt_nvtx_watch_end(&gt_nvtx.watch, id);
}

void gt_nvtx_mark(struct gt_session *session, struct gt_nvtx_event *event)
{
	event->kind = GT_RANGE_STEP_MARK;
	event->level = GT_LEVEL_UNKNOWN;
	if (is_recorded(session, event->domain))
		emit_begin(session, event);
}

/* ---- the same with payloads: injection/nvtx/extension.c ---- */

uint32_t gt_nvtx_domain(nvtxDomainHandle_t domain)
{
	return gt_nvtx_domain_of(&gt_session_get()->nvtx, domain);
}

int gt_nvtx_push_data(nvtxDomainHandle_t domain, const nvtxPayloadData_t *data, size_t count)
{
	struct gt_nvtx_event event = {
		.domain = gt_nvtx_domain(domain), .data = data, .data_count = count};

	return gt_nvtx_push(gt_session_get(), &event);
}

int gt_nvtx_pop_data(nvtxDomainHandle_t domain, const nvtxPayloadData_t *data, size_t count)
{
	struct gt_nvtx_event event = {
		.domain = gt_nvtx_domain(domain), .data = data, .data_count = count};

	return pop_event(gt_session_get(), &event);
}

void gt_nvtx_mark_data(nvtxDomainHandle_t domain, const nvtxPayloadData_t *data, size_t count)
{
	struct gt_nvtx_event event = {
		.domain = gt_nvtx_domain(domain), .data = data, .data_count = count};

	gt_nvtx_mark(gt_session_get(), &event);
}

nvtxRangeId_t gt_nvtx_start_data(nvtxDomainHandle_t domain, const nvtxPayloadData_t *data,
                                 size_t count)
{
	struct gt_nvtx_event event = {
		.domain = gt_nvtx_domain(domain), .data = data, .data_count = count};

	return gt_nvtx_start_range(gt_session_get(), &event, 0);
}

void gt_nvtx_end_data(nvtxDomainHandle_t domain, nvtxRangeId_t id, const nvtxPayloadData_t *data,
                      size_t count)
{
	struct gt_session *session = gt_session_get();
	const struct gt_nvtx_event event = {
		.kind = GT_RANGE_STEP_ID,
		.id = id,
		.domain = gt_nvtx_domain(domain),
		.level = GT_LEVEL_UNKNOWN,
		.data = data,
		.data_count = count,
	};

	if (is_recorded(session, event.domain))
		emit_end(session, &event);
}

__attribute__((cold)) void gt_nvtx_later(nvtxDomainHandle_t domain, const nvtxPayloadData_t *data,
                                         size_t count, const uint64_t times[2])
{
	struct gt_session *session = gt_session_get();
	struct gt_nvtx_event event = {
		.kind = times[1] ? GT_RANGE_STEP_LATER : GT_RANGE_STEP_LATER_MARK,
		.domain = gt_nvtx_domain(domain),
		.level = GT_LEVEL_UNKNOWN,
		.data = data,
		.data_count = count,
	};
	struct gt_record_range_begin *record;

	if (!is_recorded(session, event.domain))
		return;
	if (times[1])
		event.id = atomic_fetch_add_explicit(&gt_nvtx.ranges, 1, memory_order_relaxed) + 1;
	record = fill_begin(session, &event);
	if (!record)
		return;
	record->time_ns = times[0];
	gt_emit_commit();
	emit_data(session, &event, times[0]);
	event.data = NULL;
	if (times[1])
		emit_end_at(session, &event, times[1]);
}

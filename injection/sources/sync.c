/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "injection/calls/sync.h"
#include "injection/cupti/cupti.h"
#include "injection/session/services.h"
#include "injection/session/source.h"

/*
 * Who waits for what and what is signalled, from the parameters of API calls; CUPTI's own records
 * of waits cost a program of small kernels a quarter of its speed (docs/performance.md). A call
 * that the host may wait in is written when it is entered, so that a process that dies in it
 * leaves it behind. Handles of streams stand as they are: a record of each stream that is made
 * says what CUPTI calls it.
 */

enum {
	BATCH_MAX = 16,   /* operations of a batch that become records */
	QUERY_PLACES = 4, /* queries that a thread counts at the same time */
};

/* The queries that a thread is counting, all in the slot that it has now. */
struct counting {
	const struct gt_slot *slot;
	uint64_t sequence; /* of the slot: it may be another thread's by now, and ours again */
	struct gt_record_query *queries[QUERY_PLACES];
	uint32_t next; /* place that is used next */
};

static __thread struct counting counting __attribute__((tls_model("initial-exec")));

static uint32_t flags_of(struct gt_call call)
{
	return call.driver ? GT_RECORD_DRIVER_API : 0;
}

/* NULL when there is no room, which is counted. */
static struct gt_record_sync_call *begin_call(struct gt_session *session, struct gt_call call,
                                              const struct gt_sync_facts *facts)
{
	struct gt_record_sync_call *record =
		gt_emit_begin(session, GT_RECORD_sync_call, sizeof(*record));

	if (!record)
		return NULL;
	*record = (struct gt_record_sync_call){
		.stream = facts->stream,
		.event = facts->event,
		.address = facts->address,
		.value = facts->second_event ? facts->second_event : facts->value,
		.correlation = call.data->correlationId,
		.context = call.data->contextUid,
		.kind = facts->kind,
		.flags = flags_of(call),
		.start_ns = gt_stamp(),
	};
	return record;
}

/* Calls that only ask are counted; what an elapsed time asks about is worth a record of its own. */
static bool is_counted(const struct gt_sync_call *what)
{
	return what->kind == GT_SYNC_EVENT_QUERY || what->kind == GT_SYNC_STREAM_QUERY;
}

/* Where nobody can wait, a copy or a free says nothing that its API call does not say. */
static bool says_nothing(const struct gt_sync_call *what, const struct gt_sync_facts *facts)
{
	return what->flags & GT_SYNC_CALL_IMPLICIT && facts->waits == GT_SYNC_WAITS_NEVER;
}

/* The first of a batch stays open until the call returns; the others are as long as they took. */
static void *enter(struct gt_session *session, void *state, struct gt_call call)
{
	const struct gt_sync_call *what = gt_sync_call_find(call.driver, call.id);
	struct gt_record_sync_call *open = NULL;
	struct gt_sync_facts facts[BATCH_MAX];
	unsigned count;

	(void)state;
	if (!what || is_counted(what) || what->flags & GT_SYNC_CALL_AT_EXIT)
		return NULL;
	count = gt_sync_call_read(what, call.data, facts, BATCH_MAX);
	for (unsigned i = 0; i < count; i++) {
		struct gt_record_sync_call *record =
			says_nothing(what, &facts[i]) ? NULL : begin_call(session, call, &facts[i]);

		if (!record)
			continue;
		if (!open) {
			open = record;
			gt_emit_commit_open();
		} else {
			record->end_ns = record->start_ns;
			gt_emit_commit();
		}
	}
	return open;
}

static bool is_same(const struct gt_record_query *query, const struct gt_record_query *asked)
{
	return query->event == asked->event && query->stream == asked->stream &&
	       query->kind == asked->kind && query->result == asked->result &&
	       query->context == asked->context;
}

/* The record in the thread's slot that counts such queries; NULL: none does yet. */
static struct gt_record_query *find_query(const struct gt_record_query *asked)
{
	const struct gt_slot *slot = gt_own.slot;

	if (!slot)
		return NULL;
	if (slot != counting.slot ||
	    atomic_load_explicit(&slot->sequence, memory_order_relaxed) != counting.sequence)
		return NULL;
	for (int i = 0; i < QUERY_PLACES; i++)
		if (counting.queries[i] && is_same(counting.queries[i], asked))
			return counting.queries[i];
	return NULL;
}

/* The slot in which the record was just begun is the one that is counted in from now on. */
static void keep_query(struct gt_record_query *query)
{
	const struct gt_slot *slot = gt_own.slot;
	const uint64_t sequence = atomic_load_explicit(&slot->sequence, memory_order_relaxed);

	if (slot != counting.slot || sequence != counting.sequence)
		counting = (struct counting){.slot = slot, .sequence = sequence};
	counting.queries[counting.next++ % QUERY_PLACES] = query;
}

/*
 * Programs ask in loops, a million times a second: queries are counted, in place, as long as the
 * slot that they are counted in is the thread's. Several records of one kind add up.
 */
static void count_query(struct gt_session *session, struct gt_call call,
                        const struct gt_sync_facts *facts)
{
	const uint64_t now = gt_stamp();
	const struct gt_record_query asked = {
		.stream = facts->stream,
		.event = facts->event ? facts->event : UINT64_MAX,
		.context = call.data->contextUid,
		.kind = facts->kind,
		.result = (int32_t)gt_call_result(call),
	};
	struct gt_record_query *query = find_query(&asked);

	if (query) {
		query->count++;
		query->end_ns = now;
		return;
	}
	query = gt_emit_begin(session, GT_RECORD_query, sizeof(*query));
	if (!query)
		return;
	*query = asked;
	query->start_ns = query->end_ns = now;
	query->count = 1;
	query->flags = flags_of(call);
	gt_emit_commit();
	keep_query(query);
}

/* Facts that are only known now: the event that was made, the answer to a query. */
static void leave_late(struct gt_session *session, struct gt_call call,
                       const struct gt_sync_call *what)
{
	struct gt_record_sync_call *record;
	struct gt_sync_facts facts;

	if (gt_sync_call_read(what, call.data, &facts, 1) == 0)
		return;
	if (is_counted(what)) {
		count_query(session, call, &facts);
		return;
	}
	record =
		facts.event && gt_call_result(call) == 0 ? begin_call(session, call, &facts) : NULL;
	if (!record)
		return;
	record->end_ns = record->start_ns;
	gt_emit_commit();
}

/* Whether the host waits, or may, in calls of the kind. */
static bool waits_host(uint32_t kind)
{
	static const uint64_t kinds = 0
#define SYNC_KIND(name, number, words, waits) | (uint64_t)(waits) << (number)
#include "format/kinds/sync.def"
		;

	return kinds >> kind & 1;
}

static void leave(struct gt_session *session, void *state, struct gt_call call, void *kept)
{
	struct gt_record_sync_call *record = kept;
	const struct gt_sync_call *what;

	(void)state;
	if (record) {
		record->result = (int32_t)gt_call_result(call);
		if (record->result == 0 && waits_host(record->kind))
			gt_fetch_soon(session); /* what finished meanwhile has no times yet */
		gt_emit_set_end(&record->end_ns, gt_stamp());
		gt_emit_close(session, record);
		return;
	}
	what = gt_sync_call_find(call.driver, call.id);
	if (what && (is_counted(what) || what->flags & GT_SYNC_CALL_AT_EXIT))
		leave_late(session, call, what);
}

/* A stream was made: its handle stands for CUPTI's id of it until another stream gets it. */
static void event(struct gt_session *session, void *state, CUpti_CallbackDomain domain,
                  CUpti_CallbackId id, const void *data, void *kept)
{
	const struct gt_cupti *cupti = gt_cupti_of(session);
	const CUpti_ResourceData *made = data;
	struct gt_record_handle *record;
	uint32_t context = 0;
	uint32_t stream = 0;

	(void)state;
	(void)kept;
	if (domain != CUPTI_CB_DOMAIN_RESOURCE || id != CUPTI_CBID_RESOURCE_STREAM_CREATED ||
	    cupti->cuptiGetContextId(made->context, &context) != CUPTI_SUCCESS ||
	    cupti->cuptiGetStreamIdEx(made->context, made->resourceHandle.stream, 0, &stream) !=
	            CUPTI_SUCCESS)
		return;
	record = gt_emit_begin(session, GT_RECORD_handle, sizeof(*record));
	if (!record)
		return;
	*record = (struct gt_record_handle){
		.time_ns = gt_stamp(),
		.handle = (uintptr_t)made->resourceHandle.stream,
		.context = context,
		.stream = stream,
	};
	gt_emit_commit();
}

static bool is_known(bool driver, CUpti_CallbackId id)
{
	return gt_sync_call_find(driver, id) != NULL;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as gt_source has it */
static int start(struct gt_session *session, void *state, struct gt_error *err)
{
	const struct gt_cupti *cupti = gt_cupti_of(session);

	(void)state;
	(void)err;
	gt_want_known(session, is_known);
	if (cupti->cuptiGetContextId && cupti->cuptiGetStreamIdEx)
		gt_want(session, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_STREAM_CREATED);
	return 0;
}

const struct gt_source gt_source_sync = {
	.name = "sync",
	.start = start,
	.hears = {.enter = enter, .leave = leave, .event = event},
};

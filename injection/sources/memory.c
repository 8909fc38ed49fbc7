/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "injection/memory_calls.h"
#include "injection/services.h"
#include "injection/source.h"

/*
 * What memory the program has, from the parameters of the calls that allocate and free it. A call is
 * written when it is entered, so that a process that dies in it leaves it behind; what it made is
 * known when it returns. Which call ended what another one made is for the collector to find out.
 */

static void *enter(struct gt_session *session, void *state, struct gt_call call)
{
	const struct gt_memory_call *what = gt_memory_call_find(call.driver, call.id);
	struct gt_record_memory_call *record;
	struct gt_memory_facts facts;

	(void)state;
	if (!what)
		return NULL;
	gt_memory_call_read(what, call.data, &facts);
	if (gt_memory_call_is_empty(&facts))
		return NULL;
	record = gt_emit_begin(session, GT_RECORD_memory_call, sizeof(*record));
	if (!record)
		return NULL;
	*record = (struct gt_record_memory_call){
		.address = facts.address,
		.handle = facts.handle,
		.size_bytes = facts.size_bytes,
		.value = facts.value,
		.stream = facts.stream,
		.correlation = call.data->correlationId,
		.context = call.data->contextUid,
		.place = facts.place_plus_one,
		.kind = facts.kind,
		.options = facts.options,
		.flags = call.driver ? GT_RECORD_DRIVER_API : 0,
		.start_ns = gt_stamp(),
	};
	gt_emit_commit_open();
	return record;
}

static void leave(struct gt_session *session, void *state, struct gt_call call, void *kept)
{
	const struct gt_memory_call *what = gt_memory_call_find(call.driver, call.id);
	struct gt_record_memory_call *record = kept;
	struct gt_memory_facts facts;

	(void)state;
	if (!record || !what)
		return;
	gt_memory_call_read(what, call.data, &facts);
	record->address = facts.address;
	record->handle = facts.handle;
	record->size_bytes = facts.size_bytes;
	if (call.data->contextUid)
		record->context = call.data->contextUid; /* the first call of all makes one */
	record->result = (int32_t)gt_call_result(call);
	record->end_ns = gt_stamp();
	gt_emit_close(session, record);
}

/* A node of a graph was made in the call: its stream is being captured, and nothing is allocated. */
static void event(struct gt_session *session, void *state, CUpti_CallbackDomain domain,
                  CUpti_CallbackId id, const void *data, void *kept)
{
	struct gt_record_memory_call *record = kept;

	(void)session;
	(void)state;
	(void)domain;
	(void)id;
	(void)data;
	if (record)
		record->flags |= GT_RECORD_GRAPH_NODE;
}

static bool is_known(bool driver, CUpti_CallbackId id)
{
	return gt_memory_call_find(driver, id) != NULL;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as gt_source has it */
static int start(struct gt_session *session, void *state, struct gt_error *err)
{
	(void)state;
	(void)err;
	if (!gt_settings_of(session)->memory)
		return 0;
	gt_want_known(session, is_known);
	gt_want(session, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
	return 0;
}

const struct gt_source gt_source_memory = {
	.name = "memory",
	.start = start,
	.hears = {.enter = enter, .leave = leave, .event = event},
};

/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "injection/calls/access.h"
#include "injection/session/services.h"
#include "injection/session/source.h"

/*
 * Which memory copies and fills touch, from the parameters of the calls that ask for them: one
 * record for each stretch that is read or written, at the entry of the call. The call's own records
 * say its result, and whether it made a node of a graph.
 */

enum { MOST_OF_CALL = 2 * GT_ACCESSES_MOST }; /* accesses: 64 copies of a batch */

static bool put(struct gt_session *session, struct gt_call call, uint64_t now, uint64_t stream,
                const struct gt_access_fact *fact)
{
	struct gt_record_access *record = gt_emit_begin(session, GT_RECORD_access, sizeof(*record));

	if (!record)
		return false;
	*record = (struct gt_record_access){
		.start_ns = now,
		.end_ns = now,
		.address = fact->address,
		.size_bytes = fact->size_bytes,
		.pitch = fact->pitch,
		.stream = stream,
		.correlation = call.data->correlationId,
		.context = call.data->contextUid,
		.rows = fact->rows,
		.kind = fact->kind,
		.flags = call.driver ? GT_RECORD_DRIVER_API : 0,
	};
	gt_emit_commit();
	return true;
}

static void *enter(struct gt_session *session, void *state, struct gt_call call)
{
	const struct gt_access_call *what = gt_access_call_find(call.driver, call.id);
	const struct gt_access_fact rest = {.kind = GT_ACCESS_COPY_TO};
	struct gt_access_facts facts;
	unsigned count = 0;
	uint64_t now;

	(void)state;
	if (!what)
		return NULL;
	now = gt_stamp();
	do {
		gt_access_call_read(what, call.data, count, &facts);
		for (unsigned i = 0; i < facts.count; i++)
			if (!put(session, call, now, facts.stream, &facts.list[i]))
				return NULL;
		count += facts.count;
	} while (facts.is_full && count < MOST_OF_CALL);
	if (facts.is_cut)
		(void)put(session, call, now, facts.stream, &rest);
	return NULL;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as gt_source has it */
static int start(struct gt_session *session, void *state, struct gt_error *err)
{
	(void)state;
	(void)err;
	if (gt_settings_of(session)->accesses)
		gt_want_known(session, gt_access_call_is_known);
	return 0;
}

const struct gt_source gt_source_accesses = {
	.name = "accesses",
	.start = start,
	.hears = {.enter = enter},
};

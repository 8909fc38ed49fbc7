/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "injection/calls/api.h"
#include "injection/session/services.h"
#include "injection/session/source.h"
#include "injection/usdt/calls.h"

/*
 * The API calls of the program, from callbacks on the calls that format/kinds/api_calls.def allows:
 * the outermost of them, and by default of a kernel launch by the runtime the driver's call in it.
 * A call is written where the kernel keeps it: its beginning when it is entered, its end and
 * result when it returns, so that a process that dies inside it leaves it behind unfinished.
 */

static inline void *begin(struct gt_session *session, struct gt_call call)
{
	struct gt_record_api_call *record =
		gt_emit_begin(session, GT_RECORD_api_call, sizeof(*record));

	if (!record)
		return NULL;
	record->end_ns = 0;
	record->correlation = call.data->correlationId;
	record->function = call.name;
	record->result = 0;
	record->thread = 0;
	record->flags =
		(uint32_t)call.driver * GT_RECORD_DRIVER_API | (call.depth ? GT_RECORD_NESTED : 0);
	record->start_ns = gt_stamp();
	gt_emit_commit_open();
	return record;
}

/*
 * The same for a thread that needs a slot first, or where the kernel's clock is read. With this
 * apart, what a launch runs through has no call in it and needs no stack.
 */
static __attribute__((cold, noinline)) void *begin_slowly(struct gt_session *session,
                                                          struct gt_call call)
{
	return begin(session, call);
}

/* Behind all that is recorded, as the last thing: so a launch still needs no stack. */
static inline void tell(struct gt_call call)
{
	/* cppcheck-suppress knownConditionTrueFalse ; on processors with probes it is not */
	if (gt_probe_hears_calls())
		gt_probe_call(call.data, gt_call_result(call), call.driver);
}

static __attribute__((cold, noinline)) void
end_slowly(struct gt_session *session, struct gt_call call, struct gt_record_api_call *record)
{
	record->result = (int32_t)gt_call_result(call);
	gt_emit_set_end(&record->end_ns, gt_stamp());
	gt_emit_close(session, record);
	tell(call);
}

GT_HOT static void *enter(struct gt_session *session, void *state, struct gt_call call)
{
	(void)state;
	if (!gt_emit_has_room(sizeof(struct gt_record_api_call)) || !gt_stamp_is_counter())
		return begin_slowly(session, call);
	return begin(session, call);
}

GT_HOT static void leave(struct gt_session *session, void *state, struct gt_call call, void *kept)
{
	struct gt_record_api_call *record = kept;

	(void)state;
	if (!record) {
		tell(call);
		return;
	}
	if (!gt_emit_is_open(record) || !gt_stamp_is_counter()) {
		end_slowly(session, call, record);
		return;
	}
	record->result = (int32_t)gt_call_result(call);
	gt_emit_set_end(&record->end_ns, gt_stamp());
	gt_emit_close_open();
	tell(call);
}

/*
 * A node of a graph was made in the call. A launch that makes one goes into a stream that is being
 * captured, and runs nothing: the driver itself says so, whichever thread began the capture, at no
 * cost to launches that run.
 */
static void event(struct gt_session *session, void *state, CUpti_CallbackDomain domain,
                  CUpti_CallbackId id, const void *data, void *kept)
{
	struct gt_record_api_call *record = kept;

	(void)session;
	(void)state;
	(void)domain;
	(void)id;
	(void)data;
	if (record)
		record->flags |= GT_RECORD_GRAPH_NODE;
}

static void want(struct gt_session *session, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                 const char *name)
{
	const struct gt_api_call_line *line = gt_api_call_find(name);

	if (line && (!line->in_driver || gt_settings_of(session)->api != GT_API_SETTING_LIGHT))
		gt_want_call(session, domain, id, name);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as gt_source has it */
static int start(struct gt_session *session, void *state, struct gt_error *err)
{
	const int setting = gt_settings_of(session)->api;

	(void)state;
	(void)err;
	if (setting == GT_API_SETTING_NONE)
		return 0;
	if (setting == GT_API_SETTING_ALL)
		gt_want_nested(session);
	gt_each_call(session, want);
	gt_want(session, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
	return 0;
}

const struct gt_source gt_source_api = {
	.name = "api",
	.start = start,
	.hears = {.enter = enter, .leave = leave, .event = event},
};

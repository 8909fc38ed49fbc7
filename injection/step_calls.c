/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/step_calls.h"

#include <string.h>

#include "injection/access_calls.h"
#include "injection/call_parameters.h"
#include "injection/launch_calls.h"
#include "injection/memory_calls.h"
#include "injection/sync_calls.h"

static void refuse(struct gt_step_call *call, const char *reason)
{
	call->kind = GT_STEP_CALL_REFUSED;
	call->reason = reason;
}

static void set_stream(struct gt_step_call *call, uint64_t stream)
{
	call->has_stream = true;
	call->stream = NULL;
	if (stream != GT_STREAM_NONE && stream != GT_STREAM_LEGACY)
		/* NOLINTNEXTLINE(performance-no-int-to-ptr): a handle that was kept as a number */
		call->stream = (CUstream)(uintptr_t)stream;
}

static void set_step(struct gt_step_call *call, enum gt_bundle_step_kind step)
{
	call->kind = GT_STEP_CALL_STEP;
	call->step = step;
}

/* ---- copies and fills ---- */

static void read_copy(const struct gt_access_facts *facts, struct gt_step_call *call)
{
	const struct gt_access_fact *from = &facts->list[0];
	const struct gt_access_fact *to = &facts->list[1];

	if (facts->is_cut || facts->count != 2 || from->kind != GT_ACCESS_COPY_FROM ||
	    to->kind != GT_ACCESS_COPY_TO) {
		refuse(call, "it copies from or to an array or a variable by its name, or makes "
		             "several copies in one call");
		return;
	}
	if (from->rows != 1 || to->rows != 1) {
		refuse(call,
		       "it makes a copy of rows with gaps between, in two or three dimensions");
		return;
	}
	set_step(call, GT_BUNDLE_STEP_copy);
	call->to = to->address;
	call->from = from->address;
	call->bytes = to->size_bytes;
	call->rows = 1;
}

static void read_fill(const struct gt_access_facts *facts, struct gt_step_call *call)
{
	const struct gt_access_fact *fill = &facts->list[0];

	if (facts->is_cut || facts->count != 1) {
		refuse(call, "it makes a fill in three dimensions");
		return;
	}
	set_step(call, GT_BUNDLE_STEP_fill);
	call->to = fill->address;
	call->bytes = fill->size_bytes;
	call->rows = fill->rows;
	call->to_pitch = fill->pitch;
	call->value = facts->value;
	call->value_bytes = facts->value_bytes;
}

/* Calls that add nodes to graphs do nothing yet. */
static bool is_about_graphs(const CUpti_CallbackData *data)
{
	return data->functionName && (strncmp(data->functionName, "cudaGraph", 9) == 0 ||
	                              strncmp(data->functionName, "cuGraph", 7) == 0);
}

static void read_access(const struct gt_access_call *what, const CUpti_CallbackData *data,
                        struct gt_step_call *call)
{
	struct gt_access_facts facts;

	gt_access_call_read(what, data, &facts);
	if (is_about_graphs(data) || (facts.count == 0 && !facts.is_cut))
		return;
	set_stream(call, facts.stream);
	if (facts.value_bytes)
		read_fill(&facts, call);
	else
		read_copy(&facts, call);
}

/* ---- order ---- */

static void read_order(const struct gt_sync_facts *facts, struct gt_step_call *call)
{
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): a handle that was kept as a number */
	call->event = (CUevent)(uintptr_t)facts->event;
	if (facts->kind != GT_SYNC_EVENT_SYNCHRONIZE && facts->kind != GT_SYNC_CONTEXT_SYNCHRONIZE)
		set_stream(call, facts->stream);
	if (facts->kind == GT_SYNC_EVENT_RECORD)
		set_step(call, GT_BUNDLE_STEP_record);
	else if (facts->kind == GT_SYNC_STREAM_WAIT_EVENT)
		set_step(call, GT_BUNDLE_STEP_wait);
	else
		set_step(call, GT_BUNDLE_STEP_host_wait);
}

/*
 * Why a sequence with such a call is refused; empty: it is a step. NULL: nothing is read of it, as
 * the runtime's calls that capture a stream would hide the driver's.
 */
static const char *refusal_of(enum gt_sync_kind kind)
{
	switch (kind) {
	case GT_SYNC_EVENT_RECORD:
	case GT_SYNC_STREAM_WAIT_EVENT:
	case GT_SYNC_STREAM_SYNCHRONIZE:
	case GT_SYNC_EVENT_SYNCHRONIZE:
	case GT_SYNC_CONTEXT_SYNCHRONIZE:
		return "";
	case GT_SYNC_HOST_FUNCTION:
		return "a function of the host runs in the order of a stream";
	case GT_SYNC_EXTERNAL_SIGNAL:
	case GT_SYNC_EXTERNAL_WAIT:
		return "it signals or waits for a semaphore of others";
	case GT_SYNC_WAIT_VALUE:
	case GT_SYNC_WRITE_VALUE:
		return "a stream waits for a value in memory, or writes one";
	case GT_SYNC_BLOCKING_COPY:
	case GT_SYNC_BLOCKING_FILL:
		return "it copies or fills an array";
	case GT_SYNC_EVENT_ELAPSED_TIME:
	case GT_SYNC_BLOCKING_FREE:
	case GT_SYNC_EVENT_CREATE:
	case GT_SYNC_EVENT_DESTROY:
	case GT_SYNC_EVENT_QUERY:
	case GT_SYNC_STREAM_QUERY:
	case GT_SYNC_CAPTURE_BEGIN:
	case GT_SYNC_CAPTURE_END:
	case GT_SYNC_EVENT_EXPORT:
		return NULL;
	}
	return NULL;
}

static void read_sync(const struct gt_sync_call *what, const CUpti_CallbackData *data,
                      struct gt_step_call *call)
{
	const char *refusal = refusal_of(what->kind);
	struct gt_sync_facts facts;

	if (gt_sync_call_read(what, data, &facts, 1) == 0 || !refusal)
		return;
	if (*refusal)
		refuse(call, refusal);
	else if ((what->kind == GT_SYNC_EVENT_RECORD || what->kind == GT_SYNC_STREAM_WAIT_EVENT) &&
	         facts.stream == GT_STREAM_NONE)
		refuse(call, "it records or waits for an event of a whole context");
	else
		read_order(&facts, call);
}

/* ---- memory that goes ---- */

static bool ends(const struct gt_memory_call *what)
{
	return what->kind == GT_MEMORY_CALL_FREE || what->kind == GT_MEMORY_CALL_FREE_ORDERED ||
	       what->kind == GT_MEMORY_CALL_FREE_HOST || what->kind == GT_MEMORY_CALL_UNREGISTER ||
	       what->kind == GT_MEMORY_CALL_UNMAP;
}

static void read_end(const struct gt_memory_call *what, const CUpti_CallbackData *data,
                     struct gt_step_call *call)
{
	struct gt_memory_facts facts;

	gt_memory_call_read(what, data, &facts);
	if (facts.address == 0)
		return;
	call->kind = GT_STEP_CALL_END;
	call->address = facts.address;
}

/* ---- all of them ---- */

bool gt_step_call_is_known(bool driver, CUpti_CallbackId id)
{
	const struct gt_sync_call *sync = gt_sync_call_find(driver, id);
	const struct gt_memory_call *memory = gt_memory_call_find(driver, id);

	return gt_access_call_is_known(driver, id) || (sync && refusal_of(sync->kind)) ||
	       (memory && ends(memory));
}

static bool read_launch(CUpti_CallbackId id, const CUpti_CallbackData *data,
                        struct gt_step_call *call)
{
	struct gt_launch launch;

	if (!gt_launch_read(id, data, &launch))
		return false;
	set_stream(call, gt_stream_of(launch.stream,
	                              launch.per_thread ? GT_STREAM_PER_THREAD : GT_STREAM_LEGACY));
	if (launch.kind == GT_LAUNCH_KERNEL)
		set_step(call, GT_BUNDLE_STEP_launch);
	else
		refuse(call, "it launches a CUDA graph, whose nodes are not captured");
	return true;
}

void gt_step_call_read(bool driver, CUpti_CallbackId id, const CUpti_CallbackData *data,
                       struct gt_step_call *call)
{
	const struct gt_access_call *access = gt_access_call_find(driver, id);
	const struct gt_sync_call *sync = gt_sync_call_find(driver, id);
	const struct gt_memory_call *memory = gt_memory_call_find(driver, id);

	*call = (struct gt_step_call){.kind = GT_STEP_CALL_NONE};
	if (driver && read_launch(id, data, call))
		return;
	call->blocks = sync && sync->kind == GT_SYNC_BLOCKING_COPY;
	if (access)
		read_access(access, data, call);
	else if (sync)
		read_sync(sync, data, call);
	if (call->kind == GT_STEP_CALL_NONE && memory && ends(memory))
		read_end(memory, data, call);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

#include "base/error.h"
#include "injection/callers/asked_memory.h"
#include "injection/callers/askers.h"
#include "injection/calls/memory.h"
#include "injection/driver/driver.h"
#include "injection/session/services.h"
#include "injection/session/source.h"
#include "injection/usdt/calls.h"

/*
 * The program's memory, from the parameters of the calls that allocate and free it. A call is
 * written when it is entered, so that a process that dies in it leaves it behind; what it made is
 * known when it returns, and where it is asked for which shared object asked. Which call ended what
 * another one made is for the collector to find out. While launches are captured it is kept by
 * address, too, who asked: for bundles, whether calls are recorded or not.
 */

/* Between readings of the mappings; doubled each time, as most objects are loaded early. */
#define FIRST_NS    10000000u
#define INTERVAL_NS 1000000000u

struct memory {
	bool silent;          /* calls are not recorded */
	uint64_t interval_ns; /* 0: who asks is not recorded */
	struct gt_askers askers;
	struct gt_driver_current driver;
	_Atomic bool asks; /* the driver: it is there */
	struct gt_asked_memory
		*asked; /* memory of our own, from the start; NULL: nothing is captured */
};

static void *enter(struct gt_session *session, void *state, struct gt_call call)
{
	const struct gt_memory_call *what = gt_memory_call_find(call.driver, call.id);
	const struct memory *memory = state;
	struct gt_record_memory_call *record;
	struct gt_memory_facts facts;

	if (!what || memory->silent)
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
		.library = memory->interval_ns
	                           ? gt_askers_find(&memory->askers, call.data->functionParams)
	                           : 0,
		.flags = call.driver ? GT_RECORD_DRIVER_API : 0,
		.start_ns = gt_stamp(),
	};
	gt_emit_commit_open();
	return record;
}

/*
 * There was not enough memory: what is left, asked at once, since the program may go on by giving
 * back what it has. One other call of the driver, in a call that failed.
 */
static uint64_t find_left(struct memory *memory, const struct gt_record_memory_call *record)
{
	CUdevice device;
	size_t left_bytes;
	size_t total_bytes;

	if (record->result != CUDA_ERROR_OUT_OF_MEMORY || /* cudaErrorMemoryAllocation as well */
	    !atomic_load_explicit(&memory->asks, memory_order_acquire) ||
	    memory->driver.device(&device) != CUDA_SUCCESS ||
	    (record->place && record->place != (uint32_t)device + 1) ||
	    memory->driver.memory(&left_bytes, &total_bytes) != CUDA_SUCCESS)
		return 0;
	return left_bytes;
}

static void follow(struct gt_asked_memory *asked, struct gt_call call)
{
	const int saved = errno;

	gt_asked_memory_follow(asked, call);
	errno = saved;
}

static void leave(struct gt_session *session, void *state, struct gt_call call, void *kept)
{
	const struct gt_memory_call *what = gt_memory_call_find(call.driver, call.id);
	const struct memory *memory = state;
	struct gt_record_memory_call *record = kept;
	struct gt_memory_facts facts;
	uint64_t end;

	if (memory->asked)
		follow(memory->asked, call);
	if (!record || !what)
		return;
	gt_memory_call_read(what, call.data, &facts);
	record->address = facts.address;
	record->handle = facts.handle;
	record->size_bytes = facts.size_bytes;
	if (call.data->contextUid)
		record->context = call.data->contextUid; /* the first call of all makes one */
	record->result = (int32_t)gt_call_result(call);
	end = gt_stamp();
	/* cppcheck-suppress knownConditionTrueFalse ; on processors with probes it is not */
	if (gt_probe_hears_memory() && record->result == 0)
		gt_probe_memory(call.data, &facts);
	if (record->result) {
		record->left_bytes = find_left(state, record);
		gt_ask_reading(session);
	}
	gt_emit_set_end(&record->end_ns, end);
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

static void start_recording(struct gt_session *session, struct memory *memory)
{
	if (gt_settings_of(session)->memory_libraries) {
		memory->interval_ns = FIRST_NS;
		gt_askers_read(session, &memory->askers);
	}
	gt_want_known(session, is_known);
	gt_want(session, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
}

static int start_asking(struct gt_session *session, struct memory *memory, struct gt_error *err)
{
	void *bytes = mmap(NULL, sizeof(*memory->asked), PROT_READ | PROT_WRITE,
	                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (bytes == MAP_FAILED)
		return gt_fail(err, ENOMEM, "there is no memory for who asks for memory");
	memory->asked = bytes;
	gt_share(session, GT_SHARED_ASKED_MEMORY, bytes);
	gt_want_known(session, gt_asked_call_is);
	return 0;
}

static int start(struct gt_session *session, void *state, struct gt_error *err)
{
	struct memory *memory = state;

	memory->silent = !gt_settings_of(session)->memory;
	if (!memory->silent)
		start_recording(session, memory);
	return gt_captured_work(session) ? start_asking(session, memory, err) : 0;
}

static void cuda_up(struct gt_session *session, void *state)
{
	struct memory *memory = state;

	if (gt_settings_of(session)->memory && gt_driver_open_current(&memory->driver))
		atomic_store_explicit(&memory->asks, true, memory_order_release);
}

static uint64_t tick(struct gt_session *session, void *state)
{
	struct memory *memory = state;
	const uint64_t interval_ns = memory->interval_ns;

	if (!interval_ns)
		return 0;
	gt_askers_read(session, &memory->askers);
	memory->interval_ns = interval_ns * 2 < INTERVAL_NS ? interval_ns * 2 : INTERVAL_NS;
	return interval_ns;
}

const struct gt_source gt_source_memory = {
	.name = "memory",
	.goes_on = true,
	.state_size = sizeof(struct memory),
	.start = start,
	.cuda_up = cuda_up,
	.tick = tick,
	.hears = {.enter = enter, .leave = leave, .event = event},
};

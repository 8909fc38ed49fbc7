/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/injection/mini_waits.h"

#include <stdint.h>
#include <string.h>

#include "injection/calls/parameters.h"
#include "injection/calls/sync.h"

enum { KINDS = 64, HANDLES = 256, KERNELS = 4096, MAX_FACTS = 8 };

struct handles {
	uint64_t handles[HANDLES]; /* 0: a free place */
	unsigned long unknown;     /* times that one was named which is not here */
};

static struct {
	unsigned long facts[KINDS];
	struct handles streams;
	struct handles events;
	uint64_t produced_ns[KERNELS];
	uint64_t consumed_ns[KERNELS];
	size_t produced;
	size_t consumed;
} state;

static _Thread_local unsigned depth; /* of API calls */

static uint64_t *find(struct handles *known, uint64_t handle)
{
	for (size_t i = 0; i < HANDLES; i++)
		if (known->handles[i] == handle)
			return &known->handles[i];
	return NULL;
}

static void add(struct handles *known, uint64_t handle)
{
	uint64_t *place = find(known, 0);

	if (place)
		*place = handle;
}

static void take_away(struct handles *known, uint64_t handle)
{
	uint64_t *place = find(known, handle);

	if (place)
		*place = 0;
	else
		known->unknown++;
}

static void expect(struct handles *known, uint64_t handle)
{
	if (handle && !find(known, handle))
		known->unknown++;
}

static void count_fact(const struct gt_sync_facts *facts)
{
	const int own_stream = facts->stream != GT_STREAM_LEGACY &&
	                       facts->stream != GT_STREAM_PER_THREAD &&
	                       facts->stream != GT_STREAM_NONE;

	state.facts[facts->kind]++;
	expect(&state.streams, own_stream ? facts->stream : 0);
	if (facts->kind == GT_SYNC_EVENT_CREATE)
		add(&state.events, facts->event);
	else if (facts->kind == GT_SYNC_EVENT_DESTROY)
		take_away(&state.events, facts->event);
	else
		expect(&state.events, facts->event);
	expect(&state.events, facts->second_event);
}

/* The driver calls inside a call of the runtime say the same once more. */
static void on_api(int driver, CUpti_CallbackId id, const CUpti_CallbackData *data)
{
	const struct gt_sync_call *call = gt_sync_call_find(driver, id);
	const int exit = data->callbackSite == CUPTI_API_EXIT;
	struct gt_sync_facts facts[MAX_FACTS];
	unsigned count = 0;

	if (exit)
		depth--;
	if (call && depth == 0 && exit == ((call->flags & GT_SYNC_CALL_AT_EXIT) != 0))
		count = gt_sync_call_read(call, data, facts, MAX_FACTS);
	if (!exit)
		depth++;
	for (unsigned i = 0; i < count; i++)
		count_fact(&facts[i]);
}

static void on_resource(CUpti_CallbackId id, const CUpti_ResourceData *data)
{
	const uint64_t stream = (uintptr_t)data->resourceHandle.stream;

	if (id == CUPTI_CBID_RESOURCE_STREAM_CREATED)
		add(&state.streams, stream);
	if (id == CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING)
		take_away(&state.streams, stream);
}

void mini_waits_callback(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
	if (domain == CUPTI_CB_DOMAIN_DRIVER_API || domain == CUPTI_CB_DOMAIN_RUNTIME_API)
		on_api(domain == CUPTI_CB_DOMAIN_DRIVER_API, id, data);
	if (domain == CUPTI_CB_DOMAIN_RESOURCE)
		on_resource(id, data);
}

void mini_waits_kernel(const CUpti_ActivityKernel9 *kernel)
{
	if (strcmp(kernel->name, "produce") == 0 && state.produced < KERNELS)
		state.produced_ns[state.produced++] = kernel->end;
	if (strcmp(kernel->name, "consume") == 0 && state.consumed < KERNELS)
		state.consumed_ns[state.consumed++] = kernel->start;
}

static unsigned long count_early(void)
{
	unsigned long early = 0;

	for (size_t i = 0; i < state.consumed; i++)
		early += i >= state.produced || state.consumed_ns[i] < state.produced_ns[i];
	return early;
}

void mini_waits_print(FILE *file)
{
	static const char *const names[] = {
#define SYNC_KIND(name, number, words, waits_host) [number] = #name,
#include "format/kinds/sync.def"
	};
	size_t printed = 0;

	(void)fprintf(file, "\"waits\":{");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i] && state.facts[i])
			(void)fprintf(file, "%s\"%s\":%lu", printed++ ? "," : "", names[i],
			              state.facts[i]);
	(void)fprintf(file,
	              "},\"unknown_streams\":%lu,\"unknown_events\":%lu,\"consumed\":%zu,"
	              "\"consumed_early\":%lu,",
	              state.streams.unknown, state.events.unknown, state.consumed, count_early());
}

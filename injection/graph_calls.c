/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/graph_calls.h"

#include <stddef.h>
#include <string.h>

#include "injection/sync_calls.h"

/* NOLINTBEGIN(readability-identifier-naming): CUPTI calls the structs of parameters so */
/*
 * Calls of earlier runtimes, which programs still bring along: CUDA 13 has their structs in a
 * header that cannot be included alone. They begin as the calls of today.
 */
typedef struct {
	cudaGraphExec_t *pGraphExec;
	cudaGraph_t graph;
} cudaGraphInstantiate_v10000_params;

typedef struct {
	cudaGraphNode_t *pGraphNode;
	cudaGraph_t graph;
	const cudaGraphNode_t *pDependencies;
	size_t numDependencies;
	struct cudaGraphNodeParams *nodeParams;
} cudaGraphAddNode_v12020_params;

typedef void cudaGraphRemoveDependencies_v10000_params;
/* NOLINTEND(readability-identifier-naming) */

#define LAST_OUTCOME 8 /* CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED */

static bool has_returned_well(const CUpti_CallbackData *data)
{
	const int *result = data->functionReturnValue;

	return data->callbackSite == CUPTI_API_EXIT && result && *result == 0;
}

/* The program's variable holds it only once the call has returned without an error. */
static CUgraphExec made_exec(const CUpti_CallbackData *data, const CUgraphExec *exec)
{
	return has_returned_well(data) && exec ? *exec : NULL;
}

/*
 * Where the call puts how it went, which it does whether it fails or not. Runtimes before CUDA 12
 * have something else there: what is no outcome is none.
 */
static int32_t outcome_at(const CUpti_CallbackData *data, const void *where)
{
	int32_t outcome = GT_GRAPH_OUTCOME_UNKNOWN;

	if (data->callbackSite == CUPTI_API_EXIT && where)
		memcpy(&outcome, where, sizeof(outcome));
	return outcome >= 0 && outcome <= LAST_OUTCOME ? outcome : GT_GRAPH_OUTCOME_UNKNOWN;
}

/* How a member is read into the fact: the words of graph_calls.def. */
#define EXEC(member)    facts->exec = params->member;
#define EXEC_FIRST      memcpy(&facts->exec, params, sizeof(facts->exec));
#define GRAPH(member)   facts->graph = params->member;
#define NODE(member)    facts->node = params->member;
#define STREAM(member)  facts->stream = (uintptr_t)params->member;
#define OPTIONS(member) facts->options = (uint32_t)params->member;
#define MADE(member)    facts->exec = made_exec(data, params->member);
#define PARAMS(member)  facts->options = params->member ? (uint32_t)params->member->flags : 0;
#define TYPE(member)    facts->options = params->member ? (uint32_t)params->member->type : 0;
#define OUTCOME(member) facts->outcome = outcome_at(data, params->member);
#define NOTHING

/*
 * read_CALL for every call. Names are pasted together before they are passed on: cuda.h defines
 * cuGraphExecUpdate as cuGraphExecUpdate_v2, and so on.
 */
#define READER(name, params_type, members)                                                         \
	static void name(const CUpti_CallbackData *data, struct gt_graph_facts *facts)             \
	{                                                                                          \
		const params_type *params = data->functionParams;                                  \
                                                                                                   \
		(void)params;                                                                      \
		(void)facts;                                                                       \
		members                                                                            \
	}
#define RUNTIME(call, kind, members) READER(read_##call, call##_params, members)
#define DRIVER(call, kind, members)  READER(read_##call, call##_params, members)
#define RUNTIME_STREAM(call, per_thread, kind, members)                                            \
	READER(read_##call, call##_params, members)                                                \
	READER(read_##per_thread, per_thread##_params, members)
#define DRIVER_STREAM(call, per_thread, kind, members)                                             \
	READER(read_##call, call##_params, members)                                                \
	READER(read_##per_thread, per_thread##_params, members)
#include "injection/graph_calls.def"

#define ROW(id, reader, graph_kind, stream)                                                        \
	[id] = {.kind = GT_GRAPH_CALL_##graph_kind,                                                \
	        .default_stream = GT_SYNC_STREAM_##stream,                                         \
	        .read = (reader)},

static const struct gt_graph_call runtime_calls[] = {
#define DRIVER(call, kind, members)
#define DRIVER_STREAM(call, per_thread, kind, members)
#define RUNTIME(call, kind, members) ROW(CUPTI_RUNTIME_TRACE_CBID_##call, read_##call, kind, LEGACY)
#define RUNTIME_STREAM(call, per_thread, kind, members)                                            \
	ROW(CUPTI_RUNTIME_TRACE_CBID_##call, read_##call, kind, LEGACY)                            \
	ROW(CUPTI_RUNTIME_TRACE_CBID_##per_thread, read_##per_thread, kind, PER_THREAD)
#include "injection/graph_calls.def"
};

static const struct gt_graph_call driver_calls[] = {
#define RUNTIME(call, kind, members)
#define RUNTIME_STREAM(call, per_thread, kind, members)
#define DRIVER(call, kind, members) ROW(CUPTI_DRIVER_TRACE_CBID_##call, read_##call, kind, LEGACY)
#define DRIVER_STREAM(call, per_thread, kind, members)                                             \
	ROW(CUPTI_DRIVER_TRACE_CBID_##call, read_##call, kind, LEGACY)                             \
	ROW(CUPTI_DRIVER_TRACE_CBID_##per_thread, read_##per_thread, kind, PER_THREAD)
#include "injection/graph_calls.def"
};

const struct gt_graph_call *gt_graph_call_find(bool driver, CUpti_CallbackId id)
{
	const struct gt_graph_call *calls = driver ? driver_calls : runtime_calls;
	const size_t count = driver ? sizeof(driver_calls) / sizeof(driver_calls[0])
	                            : sizeof(runtime_calls) / sizeof(runtime_calls[0]);

	return id < count && calls[id].read ? &calls[id] : NULL;
}

void gt_graph_call_read(const struct gt_graph_call *call, const CUpti_CallbackData *data,
                        struct gt_graph_facts *facts)
{
	*facts = (struct gt_graph_facts){.outcome = GT_GRAPH_OUTCOME_UNKNOWN};
	if (data->functionParams)
		call->read(data, facts);
	if (facts->stream == 0)
		facts->stream = call->default_stream;
	else if (facts->stream == (uintptr_t)CU_STREAM_LEGACY)
		facts->stream = GT_SYNC_STREAM_LEGACY;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/calls/graph.h"

#include <stddef.h>
#include <string.h>

#include "injection/calls/parameters.h"

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
#define STREAM(member)  facts->stream = gt_stream_of(params->member, facts->stream);
#define OPTIONS(member) facts->options = (uint32_t)params->member;
#define MADE(member)    facts->exec = gt_made_at(data, params->member);
#define PARAMS(member)  facts->options = params->member ? (uint32_t)params->member->flags : 0;
#define TYPE(member)    facts->options = params->member ? (uint32_t)params->member->type : 0;
#define OUTCOME(member) facts->outcome = outcome_at(data, params->member);
#define NOTHING

#define ROW(reader, graph_kind, stream)                                                            \
	{                                                                                          \
		.kind = GT_GRAPH_CALL_##graph_kind, .default_stream = GT_STREAM_##stream,          \
		.read = (reader)                                                                   \
	}

#define CALL  struct gt_graph_call
#define FACTS struct gt_graph_facts
#define CALLS "injection/calls/graph.def"
#include "injection/calls/tables.inc"

const struct gt_graph_call *gt_graph_call_find(bool driver, CUpti_CallbackId id)
{
	return listed_call(driver, id);
}

void gt_graph_call_read(const struct gt_graph_call *call, const CUpti_CallbackData *data,
                        struct gt_graph_facts *facts)
{
	*facts = (struct gt_graph_facts){.stream = call->default_stream,
	                                 .outcome = GT_GRAPH_OUTCOME_UNKNOWN};
	if (data->functionParams)
		call->read(data, facts);
}

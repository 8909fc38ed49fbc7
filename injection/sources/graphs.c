/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "format/settings.h"
#include "injection/calls/graph.h"
#include "injection/cupti/cupti.h"
#include "injection/session/services.h"
#include "injection/session/source.h"

/*
 * CUDA graphs: how they are made, and what is done with them. CUPTI tells of each graph and node
 * when it is made and what it is a clone of, in the API call that does it; the calls themselves
 * tell of executable graphs. Every fact is a record, ids are CUPTI's, and the collector puts them
 * together. A launch writes one record, at its entry, and no more. All that is kept here is how
 * often each executable graph was launched, where only some launches are recorded node by node.
 */

#define COUNTED_EXECS 1024 /* executable graphs that are counted for themselves, a power of two */
#define PROBES        8    /* places where one may be; those that find none share a count */

struct counted {
	_Atomic uint64_t handle;
	_Atomic uint32_t launches;
	_Atomic uint32_t correlation; /* of the last: the runtime's call holds the driver's */
};

struct graphs {
	struct counted execs[COUNTED_EXECS];
};

enum { END_OF_GRAPH, END_OF_EXEC, END_OF_NODE }; /* the kinds of the record graph_end */

/* CUPTI's id of a graph, a node or an executable graph; 0: there is none, or it does not say. */
#define NUMBER_OF(name, handle_type, number_type, ask)                                             \
	static number_type name(const struct gt_cupti *cupti, handle_type handle)                  \
	{                                                                                          \
		number_type number = 0;                                                            \
		const bool known =                                                                 \
			handle && cupti->ask && cupti->ask(handle, &number) == CUPTI_SUCCESS;      \
                                                                                                   \
		return known ? number : 0;                                                         \
	}
NUMBER_OF(graph_id, CUgraph, uint32_t, cuptiGetGraphId)
NUMBER_OF(node_id, CUgraphNode, uint64_t, cuptiGetGraphNodeId)
NUMBER_OF(exec_id, CUgraphExec, uint32_t, cuptiGetGraphExecId)
#undef NUMBER_OF

/* ---- which launches are recorded node by node ---- */

/* The place of a handle, which it takes if it has none; the first where it could be when all are
 * taken. */
static struct counted *find_counted(struct graphs *graphs, uint64_t handle)
{
	const uint64_t hash = handle * 0x9e3779b97f4a7c15u >> 32;

	for (uint64_t i = 0; i < PROBES; i++) {
		struct counted *counted = &graphs->execs[(hash + i) % COUNTED_EXECS];
		uint64_t holder = 0;

		if (atomic_load_explicit(&counted->handle, memory_order_relaxed) == handle ||
		    atomic_compare_exchange_strong_explicit(&counted->handle, &holder, handle,
		                                            memory_order_relaxed,
		                                            memory_order_relaxed) ||
		    holder == handle)
			return counted;
	}
	return &graphs->execs[hash % COUNTED_EXECS];
}

static void count_launch(struct gt_session *session, struct graphs *graphs, struct gt_call call,
                         const struct gt_graph_facts *facts)
{
	const uint32_t sample = (uint32_t)gt_settings_of(session)->graph_sample;
	const uint32_t correlation = call.data->correlationId;
	struct counted *counted;
	uint32_t launches;

	if (gt_settings_of(session)->graphs != GT_GRAPHS_SETTING_SAMPLED)
		return;
	counted = find_counted(graphs, (uintptr_t)facts->exec);
	if (atomic_exchange_explicit(&counted->correlation, correlation, memory_order_relaxed) ==
	    correlation)
		return;
	launches = atomic_fetch_add_explicit(&counted->launches, 1, memory_order_relaxed);
	if (launches < sample || (launches + 1) % sample == 0)
		gt_want_nodes(session, correlation);
}

/* Another one may have had the handle. */
static void begin_count(struct gt_session *session, struct graphs *graphs, CUgraphExec exec)
{
	if (gt_settings_of(session)->graphs == GT_GRAPHS_SETTING_SAMPLED && exec)
		atomic_store_explicit(&find_counted(graphs, (uintptr_t)exec)->launches, 0,
		                      memory_order_relaxed);
}

/* ---- calls ---- */

static void write_launch(struct gt_session *session, struct gt_call call,
                         const struct gt_graph_facts *facts)
{
	struct gt_record_graph_launch *record =
		gt_is_recording(session)
			? gt_emit_begin(session, GT_RECORD_graph_launch, sizeof(*record))
			: NULL;

	if (!record)
		return;
	*record = (struct gt_record_graph_launch){
		.handle = (uintptr_t)facts->exec,
		.stream = facts->stream,
		.correlation = call.data->correlationId,
		.context = call.data->contextUid,
		.flags = call.driver ? GT_RECORD_DRIVER_API : 0,
		.start_ns = gt_stamp(),
	};
	gt_emit_commit();
}

/* Kept open until the call returns: CUPTI tells of the nodes that it changes meanwhile. */
static void *begin_call(struct gt_session *session, struct gt_call call,
                        const struct gt_graph_call *what, const struct gt_graph_facts *facts)
{
	const struct gt_cupti *cupti = gt_cupti_of(session);
	struct gt_record_graph_call *record =
		gt_emit_begin(session, GT_RECORD_graph_call, sizeof(*record));

	if (!record)
		return NULL;
	*record = (struct gt_record_graph_call){
		.handle = (uintptr_t)facts->exec,
		.node_number = node_id(cupti, facts->node),
		.graph_number = graph_id(cupti, facts->graph),
		.correlation = call.data->correlationId,
		.kind = what->kind,
		.options = facts->options,
		.outcome = GT_GRAPH_OUTCOME_UNKNOWN,
		.flags = call.driver ? GT_RECORD_DRIVER_API : 0,
		.start_ns = gt_stamp(),
	};
	gt_emit_commit_open();
	return record;
}

static void *enter(struct gt_session *session, void *state, struct gt_call call)
{
	const struct gt_graph_call *what = gt_graph_call_find(call.driver, call.id);
	struct gt_graph_facts facts;

	if (!what)
		return NULL;
	gt_graph_call_read(what, call.data, &facts);
	if (what->kind != GT_GRAPH_CALL_LAUNCH)
		return begin_call(session, call, what, &facts);
	count_launch(session, state, call, &facts);
	write_launch(session, call, &facts);
	return NULL;
}

static void leave(struct gt_session *session, void *state, struct gt_call call, void *kept)
{
	struct gt_record_graph_call *record = kept;
	const struct gt_graph_call *what;
	struct gt_graph_facts facts;

	(void)state;
	what = record ? gt_graph_call_find(call.driver, call.id) : NULL;
	if (!what)
		return;
	gt_graph_call_read(what, call.data, &facts);
	record->handle = (uintptr_t)facts.exec;
	record->outcome = facts.outcome;
	record->result = (int32_t)gt_call_result(call);
	gt_emit_set_end(&record->end_ns, gt_stamp());
	gt_emit_close(session, record);
}

/* ---- what CUPTI tells of graphs and nodes ---- */

static void write_graph(struct gt_session *session, const CUpti_GraphData *data, bool cloned)
{
	const struct gt_cupti *cupti = gt_cupti_of(session);
	struct gt_record_graph *record = gt_emit_begin(session, GT_RECORD_graph, sizeof(*record));

	if (!record)
		return;
	*record = (struct gt_record_graph){
		.made_ns = gt_stamp(),
		.number = graph_id(cupti, data->graph),
		.original_number = cloned ? graph_id(cupti, data->originalGraph) : 0,
		.correlation = gt_call_correlation(),
	};
	gt_emit_commit();
}

/* A graph takes its nodes and dependencies with it: they are told of only where a call is for that.
 */
static bool is_in(const struct gt_record_graph_call *open, enum gt_graph_call_kind kind)
{
	return open && open->kind == kind;
}

/* CUPTI 13.0 leaves it 0 (seen on an H200): then the calls tell, most of them by their names. */
static uint32_t type_of(const CUpti_GraphData *data, const struct gt_record_graph_call *open)
{
	return data->nodeType == 0 && is_in(open, GT_GRAPH_CALL_ADD_NODE)
	               ? open->options
	               : (uint32_t)data->nodeType;
}

static void write_node(struct gt_session *session, const CUpti_GraphData *data, bool cloned,
                       const struct gt_record_graph_call *open)
{
	const struct gt_cupti *cupti = gt_cupti_of(session);
	struct gt_record_graph_node *record =
		gt_emit_begin(session, GT_RECORD_graph_node, sizeof(*record));

	if (!record)
		return;
	*record = (struct gt_record_graph_node){
		.made_ns = gt_stamp(),
		.number = node_id(cupti, data->node),
		.original_number = cloned ? node_id(cupti, data->originalNode) : 0,
		.graph_number = graph_id(cupti, data->graph),
		.correlation = gt_call_correlation(),
		.type = type_of(data, open),
	};
	gt_emit_commit();
}

static void write_dependency(struct gt_session *session, const CUpti_GraphData *data, bool removed)
{
	const struct gt_cupti *cupti = gt_cupti_of(session);
	struct gt_record_graph_dependency *record =
		gt_emit_begin(session, GT_RECORD_graph_dependency, sizeof(*record));

	if (!record)
		return;
	*record = (struct gt_record_graph_dependency){
		.from_number = node_id(cupti, data->node),
		.to_number = node_id(cupti, data->dependency),
		.correlation = gt_call_correlation(),
		.removed = removed,
	};
	gt_emit_commit();
}

static void write_exec(struct gt_session *session, const CUpti_GraphData *data)
{
	const struct gt_cupti *cupti = gt_cupti_of(session);
	struct gt_record_graph_exec *record =
		gt_emit_begin(session, GT_RECORD_graph_exec, sizeof(*record));

	if (!record)
		return;
	*record = (struct gt_record_graph_exec){
		.made_ns = gt_stamp(),
		.handle = (uintptr_t)data->graphExec,
		.number = exec_id(cupti, data->graphExec),
		.graph_number = graph_id(cupti, data->graph),
		.correlation = gt_call_correlation(),
	};
	gt_emit_commit();
}

static void write_end(struct gt_session *session, uint32_t kind, uint64_t number)
{
	struct gt_record_graph_end *record =
		gt_emit_begin(session, GT_RECORD_graph_end, sizeof(*record));

	if (!record)
		return;
	*record =
		(struct gt_record_graph_end){.time_ns = gt_stamp(), .number = number, .kind = kind};
	gt_emit_commit();
}

static void tell(struct gt_session *session, CUpti_CallbackId id, const CUpti_GraphData *data,
                 struct gt_record_graph_call *open)
{
	const struct gt_cupti *cupti = gt_cupti_of(session);

	switch (id) {
	case CUPTI_CBID_RESOURCE_GRAPH_CREATED:
	case CUPTI_CBID_RESOURCE_GRAPH_CLONED:
		write_graph(session, data, id == CUPTI_CBID_RESOURCE_GRAPH_CLONED);
		break;
	case CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED:
	case CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED:
		write_node(session, data, id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, open);
		break;
	case CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED:
		write_dependency(session, data, false);
		break;
	case CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_DESTROY_STARTING:
		if (is_in(open, GT_GRAPH_CALL_REMOVE_DEPENDENCIES))
			write_dependency(session, data, true);
		break;
	case CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED:
		write_exec(session, data);
		break;
	case CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING:
		write_end(session, END_OF_GRAPH, graph_id(cupti, data->graph));
		break;
	case CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING:
		write_end(session, END_OF_EXEC, exec_id(cupti, data->graphExec));
		break;
	case CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING:
		if (is_in(open, GT_GRAPH_CALL_DESTROY_NODE))
			write_end(session, END_OF_NODE, node_id(cupti, data->node));
		break;
	case CUPTI_CBID_RESOURCE_GRAPH_NODE_UPDATED:
	case CUPTI_CBID_RESOURCE_GRAPH_NODE_SET_PARAMS:
		if (open)
			open->nodes++;
		break;
	default: /* CUPTI's numbers, of which most are not asked for */
		break;
	}
}

static void event(struct gt_session *session, void *state, CUpti_CallbackDomain domain,
                  CUpti_CallbackId id, const void *data, void *kept)
{
	const CUpti_ResourceData *resource = data;

	if (domain != CUPTI_CB_DOMAIN_RESOURCE || !resource->resourceDescriptor)
		return;
	if (id == CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED)
		begin_count(session, state,
		            ((const CUpti_GraphData *)resource->resourceDescriptor)->graphExec);
	tell(session, id, resource->resourceDescriptor, kept);
}

static const CUpti_CallbackIdResource wanted[] = {
	CUPTI_CBID_RESOURCE_GRAPH_CREATED,
	CUPTI_CBID_RESOURCE_GRAPH_CLONED,
	CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING,
	CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
	CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED,
	CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING,
	CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED,
	CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_DESTROY_STARTING,
	CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED,
	CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING,
	CUPTI_CBID_RESOURCE_GRAPH_NODE_UPDATED,
	CUPTI_CBID_RESOURCE_GRAPH_NODE_SET_PARAMS,
};

static bool is_known(bool driver, CUpti_CallbackId id)
{
	return gt_graph_call_find(driver, id) != NULL;
}

static void note_samples(struct gt_session *session)
{
	char text[256];

	if (gt_settings_of(session)->graphs != GT_GRAPHS_SETTING_SAMPLED)
		return;
	snprintf(
		text, sizeof(text),
		"of each executable CUDA graph the first %llu launches and every %lluth are recorded "
		"node by node, the others as a whole, as was asked: the kernels, copies and "
		"fills in those are in no figure",
		(unsigned long long)gt_settings_of(session)->graph_sample,
		(unsigned long long)gt_settings_of(session)->graph_sample);
	gt_note(session, "graphs", text);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as gt_source has it */
static int start(struct gt_session *session, void *state, struct gt_error *err)
{
	const struct gt_cupti *cupti = gt_cupti_of(session);

	(void)state;
	(void)err;
	gt_want_known(session, is_known);
	note_samples(session);
	if (!cupti->cuptiGetGraphId || !cupti->cuptiGetGraphNodeId || !cupti->cuptiGetGraphExecId) {
		gt_note(session, "graphs",
		        "this libcupti does not tell graphs and their nodes apart: only that "
		        "graphs were launched is recorded");
		return 0;
	}
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		gt_want(session, CUPTI_CB_DOMAIN_RESOURCE, wanted[i]);
	return 0;
}

const struct gt_source gt_source_graphs = {
	.name = "graphs",
	.goes_on = true,
	.state_size = sizeof(struct graphs),
	.start = start,
	.hears = {.enter = enter, .leave = leave, .event = event},
};

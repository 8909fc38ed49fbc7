/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/cupti/cupti.h"
#include "injection/recorder.h"
#include "injection/session/source.h"

/* Covers SOURCE(graphs): what becomes of what CUPTI tells of graphs, and of calls about them. */

extern const struct gt_source gt_source_graphs;

#define ENTER gt_source_graphs.hears.enter
#define LEAVE gt_source_graphs.hears.leave
#define EVENT gt_source_graphs.hears.event

static CUgraphExec const exec = (CUgraphExec)0xec00;
static CUgraph const graph = (CUgraph)0x9a00;
static CUgraph const other_graph = (CUgraph)0x9b00;
static CUgraphNode const node = (CUgraphNode)0x7000;
static CUgraphNode const other_node = (CUgraphNode)0x7100;

static struct recorder recorder;

/* Ids are made of the handles, so that tests can know them. */
static CUptiResult CUPTIAPI graph_id(CUgraph of, uint32_t *id)
{
	*id = (uint32_t)(uintptr_t)of >> 8;
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI node_id(CUgraphNode of, uint64_t *id)
{
	*id = (uintptr_t)of | UINT64_C(1) << 40;
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI exec_id(CUgraphExec of, uint32_t *id)
{
	*id = (uint32_t)(uintptr_t)of >> 8;
	return CUPTI_SUCCESS;
}

#define NODE_ID(handle) ((uintptr_t)(handle) | UINT64_C(1) << 40)

static void make(void)
{
	recorder_init(&recorder);
	recorder.session->cupti.cuptiGetGraphId = graph_id;
	recorder.session->cupti.cuptiGetGraphNodeId = node_id;
	recorder.session->cupti.cuptiGetGraphExecId = exec_id;
	atomic_store(&recorder.session->phase, GT_SESSION_RECORDING);
}

TestSuite(graphs, .init = make);

static void *enter(CUpti_CallbackId id, const void *params, uint32_t correlation)
{
	const CUpti_CallbackData data = {.callbackSite = CUPTI_API_ENTER,
	                                 .functionParams = params,
	                                 .contextUid = 3,
	                                 .correlationId = correlation};

	return ENTER(recorder.session, NULL,
	             (struct gt_call){.data = &data, .id = (uint16_t)id, .driver = 1});
}

static void leave(CUpti_CallbackId id, const void *params, int result, void *kept)
{
	const CUpti_CallbackData data = {.callbackSite = CUPTI_API_EXIT,
	                                 .functionParams = params,
	                                 .functionReturnValue = &result};

	LEAVE(recorder.session, NULL,
	      (struct gt_call){.data = &data, .id = (uint16_t)id, .driver = 1}, kept);
}

static void tell(CUpti_CallbackIdResource id, CUpti_GraphData data, void *kept)
{
	const CUpti_ResourceData resource = {.resourceDescriptor = &data};

	EVENT(recorder.session, NULL, CUPTI_CB_DOMAIN_RESOURCE, id, &resource, kept);
}

static void *drained(uint32_t kind, size_t *count)
{
	recorder_drain(&recorder);
	return recorder_records(&recorder, kind, count);
}

Test(graphs, write_one_record_a_launch_at_its_entry)
{
	const cuGraphLaunch_params params = {exec, (CUstream)0x5000};
	struct gt_record_graph_launch *rows;
	size_t count;
	void *kept = enter(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, &params, 42);

	cr_expect(eq(ptr, kept, NULL)); /* nothing to do when it returns */
	leave(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, &params, 0, kept);
	rows = drained(GT_RECORD_graph_launch, &count);
	cr_assert(eq(sz, count, 1));
	cr_expect(eq(u64, rows[0].handle, 0xec00));
	cr_expect(eq(u64, rows[0].stream, 0x5000));
	cr_expect(eq(u32, rows[0].correlation, 42));
	cr_expect(eq(u32, rows[0].context, 3));
	cr_expect(gt(u64, rows[0].start_ns, 0));
	cr_expect(eq(u32, rows[0].flags, GT_RECORD_DRIVER_API));
	free(rows);
}

Test(graphs, write_an_instantiation_with_what_it_made_and_how_long_it_took)
{
	CUgraphExec made = exec;
	const cuGraphInstantiateWithFlags_params params = {&made, graph, 5};
	struct gt_record_graph_call *rows;
	size_t count;
	void *kept = enter(CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags, &params, 7);

	leave(CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags, &params, 0, kept);
	rows = drained(GT_RECORD_graph_call, &count);
	cr_assert(eq(sz, count, 1));
	cr_expect(eq(u32, rows[0].kind, 1));
	cr_expect(eq(u64, rows[0].handle, 0xec00));
	cr_expect(eq(u32, rows[0].graph_number, 0x9a));
	cr_expect(eq(u32, rows[0].options, 5));
	cr_expect(eq(u32, rows[0].correlation, 7));
	cr_expect(eq(i32, rows[0].outcome, -1));
	cr_expect(gt(u64, rows[0].end_ns, 0));
	cr_expect(ge(u64, rows[0].end_ns, rows[0].start_ns));
	free(rows);
}

Test(graphs, leave_a_call_unfinished_in_which_the_process_died)
{
	CUgraphExec made = NULL;
	const cuGraphInstantiateWithFlags_params params = {&made, graph, 0};
	struct gt_record_graph_call *rows;
	size_t count;

	(void)enter(CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags, &params, 7);
	rows = drained(GT_RECORD_graph_call, &count);
	cr_assert(eq(sz, count, 1));
	cr_expect(eq(u64, rows[0].end_ns, 0));
	cr_expect(rows[0].flags & GT_RECORD_UNFINISHED);
	free(rows);
}

Test(graphs, count_the_nodes_of_an_update_in_one_record)
{
	CUgraphExecUpdateResultInfo info = {.result = CU_GRAPH_EXEC_UPDATE_SUCCESS};
	const cuGraphExecUpdate_v2_params params = {exec, graph, &info};
	struct gt_record_graph_call *rows;
	size_t count;
	void *kept = enter(CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2, &params, 9);

	for (int i = 0; i < 1000; i++)
		tell(CUPTI_CBID_RESOURCE_GRAPH_NODE_UPDATED,
		     (CUpti_GraphData){.graphExec = exec, .node = node}, kept);
	leave(CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2, &params, 0, kept);
	rows = drained(GT_RECORD_graph_call, &count);
	cr_assert(eq(sz, count, 1));
	cr_expect(eq(u32, rows[0].nodes, 1000));
	cr_expect(eq(i32, rows[0].outcome, 0));
	cr_expect(eq(u32, rows[0].kind, 3));
	free(rows);
}

Test(graphs, write_nodes_with_their_originals_and_the_call_that_makes_them)
{
	struct gt_record_graph_node *rows;
	size_t count;

	/* As the router leaves it in the middle of a call. */
	gt_own.first.depth = 1;
	gt_own.correlation = 77;
	tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
	     (CUpti_GraphData){.graph = graph, .node = node, .nodeType = CU_GRAPH_NODE_TYPE_MEMSET},
	     NULL);
	gt_own.first.depth = 0;
	tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED,
	     (CUpti_GraphData){.graph = other_graph,
	                       .originalGraph = graph,
	                       .node = other_node,
	                       .originalNode = node},
	     NULL);
	rows = drained(GT_RECORD_graph_node, &count);
	cr_assert(eq(sz, count, 2));
	cr_expect(eq(u64, rows[0].number, NODE_ID(node)));
	cr_expect(eq(u64, rows[0].original_number, 0));
	cr_expect(eq(u32, rows[0].graph_number, 0x9a));
	cr_expect(eq(u32, rows[0].type, CU_GRAPH_NODE_TYPE_MEMSET));
	cr_expect(eq(u32, rows[0].correlation, 77));
	cr_expect(eq(u64, rows[1].original_number, NODE_ID(node)));
	cr_expect(eq(u32, rows[1].graph_number, 0x9b));
	cr_expect(eq(u32, rows[1].correlation, 0)); /* in no call that anybody hears of */
	free(rows);
}

Test(graphs, write_graphs_executable_graphs_and_their_ends)
{
	struct gt_record_graph *graphs;
	struct gt_record_graph_exec *execs;
	struct gt_record_graph_end *ends;
	size_t count;

	tell(CUPTI_CBID_RESOURCE_GRAPH_CREATED, (CUpti_GraphData){.graph = graph}, NULL);
	tell(CUPTI_CBID_RESOURCE_GRAPH_CLONED,
	     (CUpti_GraphData){.graph = other_graph, .originalGraph = graph}, NULL);
	tell(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED,
	     (CUpti_GraphData){.graph = graph, .graphExec = exec}, NULL);
	tell(CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING, (CUpti_GraphData){.graph = graph}, NULL);
	tell(CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING, (CUpti_GraphData){.graphExec = exec},
	     NULL);
	graphs = drained(GT_RECORD_graph, &count);
	cr_assert(eq(sz, count, 2));
	cr_expect(eq(u32, graphs[0].number, 0x9a));
	cr_expect(eq(u32, graphs[0].original_number, 0));
	cr_expect(eq(u32, graphs[1].number, 0x9b));
	cr_expect(eq(u32, graphs[1].original_number, 0x9a));
	execs = recorder_records(&recorder, GT_RECORD_graph_exec, &count);
	cr_assert(eq(sz, count, 1));
	cr_expect(eq(u64, execs[0].handle, 0xec00));
	cr_expect(eq(u32, execs[0].number, 0xec));
	cr_expect(eq(u32, execs[0].graph_number, 0x9a));
	ends = recorder_records(&recorder, GT_RECORD_graph_end, &count);
	cr_assert(eq(sz, count, 2));
	cr_expect(eq(u32, ends[0].kind, 0));
	cr_expect(eq(u64, ends[0].number, 0x9a));
	cr_expect(eq(u32, ends[1].kind, 1));
	cr_expect(eq(u64, ends[1].number, 0xec));
	free(graphs);
	free(execs);
	free(ends);
}

Test(graphs, tell_of_what_is_taken_away_only_where_a_call_is_for_that)
{
	const cuGraphDestroyNode_params destroy = {node};
	const cuGraphRemoveDependencies_v2_params remove = {.hGraph = graph};
	const CUpti_GraphData data = {.graph = graph, .node = node, .dependency = other_node};
	struct gt_record_graph_dependency *rows;
	struct gt_record_graph_end *ends;
	size_t count;
	void *kept;

	tell(CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED, data, NULL);
	/* The graph is destroyed, with all that is in it. */
	tell(CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_DESTROY_STARTING, data, NULL);
	tell(CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING, data, NULL);
	kept = enter(CUPTI_DRIVER_TRACE_CBID_cuGraphRemoveDependencies_v2, &remove, 1);
	tell(CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_DESTROY_STARTING, data, kept);
	leave(CUPTI_DRIVER_TRACE_CBID_cuGraphRemoveDependencies_v2, &remove, 0, kept);
	kept = enter(CUPTI_DRIVER_TRACE_CBID_cuGraphDestroyNode, &destroy, 2);
	tell(CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING, data, kept);
	leave(CUPTI_DRIVER_TRACE_CBID_cuGraphDestroyNode, &destroy, 0, kept);
	rows = drained(GT_RECORD_graph_dependency, &count);
	cr_assert(eq(sz, count, 2));
	cr_expect(eq(u64, rows[0].from_number, NODE_ID(node)));
	cr_expect(eq(u64, rows[0].to_number, NODE_ID(other_node)));
	cr_expect(eq(u32, rows[0].removed, 0));
	cr_expect(eq(u32, rows[1].removed, 1));
	ends = recorder_records(&recorder, GT_RECORD_graph_end, &count);
	cr_assert(eq(sz, count, 1));
	cr_expect(eq(u32, ends[0].kind, 2));
	cr_expect(eq(u64, ends[0].number, NODE_ID(node)));
	free(rows);
	free(ends);
}

Test(graphs, are_counted_as_lost_when_there_is_no_room)
{
	const cuGraphLaunch_params params = {exec, NULL};

	for (uint32_t i = 0; i < 4u << 20; i++) {
		(void)enter(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, &params, i);
		if (recorder_count(&recorder, GT_LEDGER_records_lost) > 0)
			return;
	}
	cr_fail("it never ran out of room");
}

/* ---- which launches are recorded node by node ---- */

static const struct gt_source *const sources[] = {&gt_source_graphs};
static void *state;

static void sample(uint64_t every)
{
	recorder_add_sources(&recorder, sources, 1);
	state = gt_source_state(recorder.session, &gt_source_graphs);
	recorder.session->settings.graphs = GT_GRAPHS_SETTING_SAMPLED;
	recorder.session->settings.graph_sample = every;
}

/* Launches it as often; their numbers begin there. Wanted ones are 1 in expected: "11001". */
static void launch(CUgraphExec which, uint32_t first, const char *expected)
{
	const cuGraphLaunch_params params = {which, NULL};
	const struct gt_graph_samples *samples = &recorder.session->arena.header->graph_samples;
	char wanted[64] = "";

	for (uint32_t i = 0; expected[i]; i++) {
		const CUpti_CallbackData data = {.functionParams = &params,
		                                 .correlationId = first + i};
		const struct gt_call call = {
			.data = &data, .id = CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, .driver = 1};

		ENTER(recorder.session, state, call);
		wanted[i] = gt_graph_samples_has(samples, first + i) ? '1' : '0';
	}
	expect_text(wanted, expected);
}

/* The first so many of each executable graph, and each so-many-th of all. */
Test(graphs, sample_the_first_launches_and_every_so_many_th)
{
	sample(4);
	launch(exec, 100, "111100010001");
	launch((CUgraphExec)0xed00, 200, "11110001");
	launch(exec, 300, "0001");
}

Test(graphs, sample_every_launch_where_that_is_asked)
{
	sample(1);
	launch(exec, 100, "11111");
}

/* The runtime's call holds the driver's, with the same number: it is one launch. */
Test(graphs, count_a_launch_once_for_both_interfaces)
{
	sample(2);
	launch(exec, 100, "1");
	launch(exec, 100, "1");
	launch(exec, 101, "10101");
}

/* Another one may get the handle. */
Test(graphs, sample_the_first_launches_of_one_that_is_made_anew)
{
	const CUpti_GraphData made = {.graphExec = exec, .graph = graph};
	const CUpti_ResourceData resource = {.resourceDescriptor = (void *)&made};

	sample(2);
	launch(exec, 100, "11010");
	EVENT(recorder.session, state, CUPTI_CB_DOMAIN_RESOURCE,
	      CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, &resource, NULL);
	launch(exec, 200, "1101");
}

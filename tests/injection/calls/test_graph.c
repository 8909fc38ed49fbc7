/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/calls/graph.h"

#include <string.h>

#include "injection/calls/parameters.h"
#include "support/check.h"

static CUgraphExec const exec = (CUgraphExec)0xec00;
static CUgraph const graph = (CUgraph)0x9a00;
static CUgraphNode const node = (CUgraphNode)0x7000;
static CUstream const stream = (CUstream)0x5000;

static struct gt_graph_facts read_call(bool driver, CUpti_CallbackId id, const void *params,
                                       const int *result)
{
	const struct gt_graph_call *call = gt_graph_call_find(driver, id);
	const CUpti_CallbackData data = {.callbackSite = result ? CUPTI_API_EXIT : CUPTI_API_ENTER,
	                                 .functionReturnValue = (void *)(uintptr_t)result,
	                                 .functionParams = params};
	struct gt_graph_facts facts;

	memset(&facts, 0xaa, sizeof(facts));
	cr_assert(ne(ptr, (void *)(uintptr_t)call, NULL), "callback id %u", id);
	gt_graph_call_read(call, &data, &facts);
	return facts;
}

#define RUNTIME_FACTS(call, result, ...)                                                           \
	read_call(false, CUPTI_RUNTIME_TRACE_CBID_##call, &(call##_params){__VA_ARGS__}, result)
#define DRIVER_FACTS(call, result, ...)                                                            \
	read_call(true, CUPTI_DRIVER_TRACE_CBID_##call, &(call##_params){__VA_ARGS__}, result)

/* Names of callback ids, from CUPTI's own headers. */
static const char *const runtime_names[1024] = {
#include "fakes/runtime_names.inc"
};
static const char *const driver_names[1024] = {
#include "fakes/driver_names.inc"
};

static bool is_one_of(const char *name, const char *const *words)
{
	for (; *words; words++)
		if (strstr(name, *words))
			return true;
	return false;
}

static void expect_all_known(bool driver, const char *const *names)
{
	static const char *const words[] = {"GraphLaunch",
	                                    "GraphInstantiate",
	                                    "GraphUpload",
	                                    "GraphExec",
	                                    "NodeSetEnabled",
	                                    "GraphDestroyNode",
	                                    "GraphRemoveDependencies",
	                                    "GraphAddNode",
	                                    "GraphMemcpyNodeSetParams",
	                                    "GraphMemsetNodeSetParams",
	                                    "GraphNodeSetParams",
	                                    NULL};
	static const char *const others[] = {"GraphExecGetFlags", "GraphExecDestroy", NULL};

	for (CUpti_CallbackId id = 1; id < 1024; id++) {
		const char *name = names[id] ? names[id] : "";

		cr_expect(eq(int, gt_graph_call_find(driver, id) != NULL,
		             is_one_of(name, words) && !is_one_of(name, others)),
		          "%s", name);
	}
}

Test(graph_calls, knows_every_call_about_executable_graphs_by_its_name)
{
	expect_all_known(false, runtime_names);
	expect_all_known(true, driver_names);
}

Test(graph_calls, says_which_graph_is_launched_into_which_stream)
{
	struct gt_graph_facts facts = RUNTIME_FACTS(cudaGraphLaunch_v10000, NULL, exec, stream);

	cr_expect(eq(ptr, facts.exec, exec));
	cr_expect(eq(u64, facts.stream, 0x5000));
	facts = DRIVER_FACTS(cuGraphLaunch, NULL, exec, NULL);
	cr_expect(eq(ptr, facts.exec, exec));
	cr_expect(eq(u64, facts.stream, GT_STREAM_LEGACY));
	facts = DRIVER_FACTS(cuGraphLaunch_ptsz, NULL, exec, NULL);
	cr_expect(eq(ptr, facts.exec, exec));
	cr_expect(eq(u64, facts.stream, GT_STREAM_PER_THREAD));
	facts = DRIVER_FACTS(cuGraphUpload, NULL, exec, CU_STREAM_LEGACY);
	cr_expect(eq(u64, facts.stream, GT_STREAM_LEGACY));
}

Test(graph_calls, knows_an_executable_graph_only_when_it_was_made)
{
	static const int ok = 0;
	static const int failed = 1;
	CUgraphExec made = exec;
	struct gt_graph_facts facts =
		DRIVER_FACTS(cuGraphInstantiateWithFlags, NULL, &made, graph, 5);

	cr_expect(eq(ptr, facts.exec, NULL));
	cr_expect(eq(ptr, facts.graph, graph));
	cr_expect(eq(u32, facts.options, 5));
	facts = DRIVER_FACTS(cuGraphInstantiateWithFlags, &failed, &made, graph, 5);
	cr_expect(eq(ptr, facts.exec, NULL));
	facts = DRIVER_FACTS(cuGraphInstantiateWithFlags, &ok, &made, graph, 5);
	cr_expect(eq(ptr, facts.exec, exec));
}

Test(graph_calls, reads_flags_from_a_struct_of_parameters)
{
	cudaGraphInstantiateParams params = {.flags = 8};
	CUgraphExec made = NULL;
	const struct gt_graph_facts facts =
		RUNTIME_FACTS(cudaGraphInstantiateWithParams_v12000, NULL, &made, graph, &params);

	cr_expect(eq(u32, facts.options, 8));
	cr_expect(eq(u32,
	             RUNTIME_FACTS(cudaGraphInstantiateWithParams_v12000, NULL, &made, graph, NULL)
	                     .options,
	             0));
}

Test(graph_calls, tells_how_an_update_went_once_it_has_returned)
{
	static const int failed = 910;
	CUgraphExecUpdateResultInfo info = {.result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED};
	struct gt_graph_facts facts = DRIVER_FACTS(cuGraphExecUpdate_v2, NULL, exec, graph, &info);

	cr_expect(eq(i32, facts.outcome, GT_GRAPH_OUTCOME_UNKNOWN));
	facts = DRIVER_FACTS(cuGraphExecUpdate_v2, &failed, exec, graph, &info);
	cr_expect(eq(i32, facts.outcome, 2));
	cr_expect(eq(ptr, facts.exec, exec));
	cr_expect(eq(ptr, facts.graph, graph));
	info.result = (CUgraphExecUpdateResult)0x7f001234; /* an address, of an earlier runtime */
	facts = DRIVER_FACTS(cuGraphExecUpdate_v2, &failed, exec, graph, &info);
	cr_expect(eq(i32, facts.outcome, GT_GRAPH_OUTCOME_UNKNOWN));
	facts = DRIVER_FACTS(cuGraphExecUpdate_v2, &failed, exec, graph, NULL);
	cr_expect(eq(i32, facts.outcome, GT_GRAPH_OUTCOME_UNKNOWN));
}

Test(graph_calls, says_which_node_is_set)
{
	const struct gt_graph_facts facts =
		DRIVER_FACTS(cuGraphExecKernelNodeSetParams_v2, NULL, exec, node, NULL);

	cr_expect(eq(ptr, facts.exec, exec));
	cr_expect(eq(ptr, facts.node, node));
}

Test(graph_calls, says_which_node_of_a_graph_is_set)
{
	const struct gt_graph_facts facts =
		DRIVER_FACTS(cuGraphMemcpyNodeSetParams, NULL, node, NULL);

	cr_expect(eq(ptr, facts.exec, NULL));
	cr_expect(eq(ptr, facts.node, node));
}

Test(graph_calls, without_parameters_say_nothing)
{
	const struct gt_graph_facts facts =
		read_call(true, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, NULL, NULL);

	cr_expect(eq(ptr, facts.exec, NULL));
	cr_expect(eq(i32, facts.outcome, GT_GRAPH_OUTCOME_UNKNOWN));
}

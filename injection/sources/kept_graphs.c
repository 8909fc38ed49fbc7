/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "format/settings.h"
#include "injection/calls/graph.h"
#include "injection/calls/parameters.h"
#include "injection/session/services.h"
#include "injection/session/source.h"
#include "injection/snapshot/graphs/kept.h"

/*
 * The work of executable CUDA graphs (injection/snapshot/graphs/kept.h), as the driver's calls make,
 * change and destroy them. The runtime's are these inside. All is read when a call has returned, as
 * the graph that it names is still there then; what is destroyed is forgotten before the call.
 */

/* ---- calls that change a node ---- */

/* Members that all structs of the driver's about a kernel have. */
#define KERNEL_MEMBERS(asked)                                                                      \
	.func = (asked)->func, .gridDimX = (asked)->gridDimX, .gridDimY = (asked)->gridDimY,       \
	.gridDimZ = (asked)->gridDimZ, .blockDimX = (asked)->blockDimX,                            \
	.blockDimY = (asked)->blockDimY, .blockDimZ = (asked)->blockDimZ,                          \
	.sharedMemBytes = (asked)->sharedMemBytes, .kernelParams = (asked)->kernelParams,          \
	.extra = (asked)->extra

/* Without members that later structs have: of a function of the context. */
static CUDA_KERNEL_NODE_PARAMS old_kernel(const CUDA_KERNEL_NODE_PARAMS_v1 *asked)
{
	return (CUDA_KERNEL_NODE_PARAMS){KERNEL_MEMBERS(asked)};
}

static CUDA_KERNEL_NODE_PARAMS any_kernel(const CUDA_KERNEL_NODE_PARAMS_v3 *asked)
{
	return (CUDA_KERNEL_NODE_PARAMS){
		KERNEL_MEMBERS(asked),
		.kern = asked->kern,
		.ctx = asked->ctx,
	};
}

static CUDA_MEMSET_NODE_PARAMS any_fill(const CUDA_MEMSET_NODE_PARAMS_v2 *asked)
{
	return (CUDA_MEMSET_NODE_PARAMS){
		.dst = asked->dst,
		.pitch = asked->pitch,
		.value = asked->value,
		.elementSize = asked->elementSize,
		.width = asked->width,
		.height = asked->height,
	};
}

/* The structs that a change points to. */
struct changed {
	CUDA_KERNEL_NODE_PARAMS kernel;
	CUDA_MEMSET_NODE_PARAMS fill;
	struct gt_node_change change;
};

static void read_any(const CUgraphNodeParams *asked, struct changed *changed)
{
	if (asked && asked->type == CU_GRAPH_NODE_TYPE_KERNEL) {
		changed->kernel = any_kernel(&asked->kernel);
		changed->change.kernel = &changed->kernel;
	} else if (asked && asked->type == CU_GRAPH_NODE_TYPE_MEMSET) {
		changed->fill = any_fill(&asked->memset);
		changed->change.fill = &changed->fill;
	} else if (asked && asked->type == CU_GRAPH_NODE_TYPE_MEMCPY) {
		changed->change.copy = &asked->memcpy.copyParams;
	}
}

/* Nothing is set where the call is of none of these. */
static void read_change(CUpti_CallbackId id, const void *params, struct changed *changed)
{
	switch (id) {
	case CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams:
		changed->kernel = old_kernel(
			((const cuGraphExecKernelNodeSetParams_params *)params)->nodeParams);
		changed->change.kernel = &changed->kernel;
		break;
	case CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams_v2:
		changed->change.kernel =
			((const cuGraphExecKernelNodeSetParams_v2_params *)params)->nodeParams;
		break;
	case CUPTI_DRIVER_TRACE_CBID_cuGraphExecMemcpyNodeSetParams:
		changed->change.copy =
			((const cuGraphExecMemcpyNodeSetParams_params *)params)->copyParams;
		break;
	case CUPTI_DRIVER_TRACE_CBID_cuGraphExecMemsetNodeSetParams:
		changed->change.fill =
			((const cuGraphExecMemsetNodeSetParams_params *)params)->memsetParams;
		break;
	case CUPTI_DRIVER_TRACE_CBID_cuGraphExecNodeSetParams:
		read_any(((const cuGraphExecNodeSetParams_params *)params)->nodeParams, changed);
		break;
	case CUPTI_DRIVER_TRACE_CBID_cuGraphExecChildGraphNodeSetParams:
		changed->change.inside =
			&((const cuGraphExecChildGraphNodeSetParams_params *)params)->childGraph;
		break;
	case CUPTI_DRIVER_TRACE_CBID_cuGraphNodeSetEnabled:
		changed->change.enabled =
			&((const cuGraphNodeSetEnabled_params *)params)->isEnabled;
		break;
	default: /* CUPTI's numbers: what else changes a node is not followed */
		break;
	}
}

static void change(struct gt_kept_graphs *kept, struct gt_call call,
                   const struct gt_graph_facts *facts)
{
	struct changed changed = {.change = {.kernel = NULL}};

	if (!facts->exec) /* of the graph itself: what is made from it later is read then */
		return;
	read_change(call.id, call.data->functionParams, &changed);
	if (!changed.change.kernel && !changed.change.copy && !changed.change.fill &&
	    !changed.change.enabled && !changed.change.inside)
		changed.change.reason = "a node of the CUDA graph was changed in a way that is not "
					"followed";
	gt_kept_graphs_change(kept, facts->exec, facts->node, &changed.change);
}

/* ---- callbacks ---- */

static void *enter(struct gt_session *session, void *state, struct gt_call call)
{
	const int saved = errno;

	(void)session;
	if (call.id == CUPTI_DRIVER_TRACE_CBID_cuGraphExecDestroy && call.data->functionParams)
		gt_kept_graphs_remove(
			state,
			((const cuGraphExecDestroy_params *)call.data->functionParams)->hGraphExec);
	errno = saved;
	return call.id == CUPTI_DRIVER_TRACE_CBID_cuGraphExecDestroy ? NULL : state;
}

static void leave(struct gt_session *session, void *state, struct gt_call call, void *kept)
{
	const struct gt_graph_call *what = gt_graph_call_find(true, call.id);
	const int saved = errno;
	struct gt_kept_graphs *graphs = kept;
	struct gt_graph_facts facts;

	(void)session;
	(void)state;
	if (!graphs || !what || gt_call_result(call) != 0)
		return;
	gt_graph_call_read(what, call.data, &facts);
	if (what->kind == GT_GRAPH_CALL_INSTANTIATE)
		gt_kept_graphs_add(graphs, facts.exec, facts.graph, facts.options);
	else if (what->kind == GT_GRAPH_CALL_UPDATE)
		gt_kept_graphs_update(graphs, facts.exec, facts.graph);
	else
		change(graphs, call, &facts);
	errno = saved;
}

/* ---- its life ---- */

static bool is_known(bool driver, CUpti_CallbackId id)
{
	const struct gt_graph_call *what = driver ? gt_graph_call_find(true, id) : NULL;

	return (driver && id == CUPTI_DRIVER_TRACE_CBID_cuGraphExecDestroy) ||
	       (what &&
	        (what->kind == GT_GRAPH_CALL_INSTANTIATE || what->kind == GT_GRAPH_CALL_UPDATE ||
	         what->kind == GT_GRAPH_CALL_SET_NODE));
}

static int start(struct gt_session *session, void *state, struct gt_error *err)
{
	int result;

	if (!gt_captured_work(session))
		return 0;
	/* Without memory for it no graph is found in it. */
	gt_share(session, GT_SHARED_KEPT_GRAPHS, state);
	result = gt_kept_graphs_init(state, err);
	if (result == 0)
		gt_want_known(session, is_known);
	return result;
}

static void disarm(struct gt_session *session, void *state)
{
	(void)session;
	gt_kept_graphs_lose(state);
}

const struct gt_source gt_source_kept_graphs = {
	.name = "kept_graphs",
	.state_size = sizeof(struct gt_kept_graphs),
	.start = start,
	.disarm = disarm,
	.hears = {.enter = enter, .leave = leave},
};

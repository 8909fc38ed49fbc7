/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/graphs/node_types.h"

#include <stddef.h>
#include <string.h>

#include "model/kinds/graph.h"

/* The first word that the name of the call has, in any version of runtime or driver, holds. */
static const struct {
	const char *word;
	enum gt_graph_node_type type;
} words[] = {
	{"AddKernelNode", GT_GRAPH_NODE_KERNEL},
	{"AddMemcpyNode", GT_GRAPH_NODE_MEMCPY},
	{"AddMemsetNode", GT_GRAPH_NODE_MEMSET},
	{"AddHostNode", GT_GRAPH_NODE_HOST},
	{"AddChildGraphNode", GT_GRAPH_NODE_GRAPH},
	{"AddEmptyNode", GT_GRAPH_NODE_EMPTY},
	{"AddEventWaitNode", GT_GRAPH_NODE_WAIT_EVENT},
	{"AddEventRecordNode", GT_GRAPH_NODE_EVENT_RECORD},
	{"SemaphoresSignalNode", GT_GRAPH_NODE_SEMAPHORES_SIGNAL},
	{"SemaphoresWaitNode", GT_GRAPH_NODE_SEMAPHORES_WAIT},
	{"AddMemAllocNode", GT_GRAPH_NODE_MEM_ALLOC},
	{"AddMemFreeNode", GT_GRAPH_NODE_MEM_FREE},
	{"AddBatchMemOpNode", GT_GRAPH_NODE_BATCH_MEM_OP},
	{"GraphLaunch", GT_GRAPH_NODE_GRAPH},
	{"LaunchHostFunc", GT_GRAPH_NODE_HOST},
	{"AddCallback", GT_GRAPH_NODE_HOST},
	{"Launch", GT_GRAPH_NODE_KERNEL},
	{"Memcpy", GT_GRAPH_NODE_MEMCPY},
	{"Memset", GT_GRAPH_NODE_MEMSET},
	{"EventRecord", GT_GRAPH_NODE_EVENT_RECORD},
	{"WaitEvent", GT_GRAPH_NODE_WAIT_EVENT},
	{"SignalExternalSemaphores", GT_GRAPH_NODE_SEMAPHORES_SIGNAL},
	{"WaitExternalSemaphores", GT_GRAPH_NODE_SEMAPHORES_WAIT},
	{"llocAsync", GT_GRAPH_NODE_MEM_ALLOC},
	{"llocFromPool", GT_GRAPH_NODE_MEM_ALLOC},
	{"FreeAsync", GT_GRAPH_NODE_MEM_FREE},
	{"WaitValue", GT_GRAPH_NODE_BATCH_MEM_OP},
	{"WriteValue", GT_GRAPH_NODE_BATCH_MEM_OP},
	{"BatchMemOp", GT_GRAPH_NODE_BATCH_MEM_OP},
};

gt_count gt_graph_node_type_of(const char *call)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(call, words[i].word))
			return words[i].type;
	return GT_GRAPH_NODE_KERNEL;
}

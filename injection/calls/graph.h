/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_CALLS_GRAPH_H
#define GT_INJECTION_CALLS_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include <cupti.h>

/*
 * Facts of API calls about CUDA graphs, read from the parameters that CUPTI's callbacks carry.
 * Nothing here keeps state, so that it may be used from any thread and at any time.
 */

enum gt_graph_call_kind {
#define GRAPH_KIND(name, number, words) GT_GRAPH_CALL_##name = (number),
#include "format/kinds/graphs.def"
};

#define GT_GRAPH_OUTCOME_UNKNOWN (-1)

/* Handles are the program's own; NULL where the call names none, or none yet. */
struct gt_graph_facts {
	CUgraphExec exec; /* of an instantiation: once it has returned without an error */
	CUgraph graph;
	CUgraphNode node;
	uint64_t stream; /* CUstream as a number, or one of GT_STREAM_... */
	uint32_t options;
	int32_t outcome; /* CUgraphExecUpdateResult, once the call has returned */
};

struct gt_graph_call {
	enum gt_graph_call_kind kind;
	uint64_t default_stream; /* that NULL stands for: GT_STREAM_... */
	void (*read)(const CUpti_CallbackData *data, struct gt_graph_facts *facts);
};

/*
 * The call behind a callback id of the runtime's or the driver's domain; NULL if it is not about
 * executable graphs, or if the headers of this build do not know the id.
 */
const struct gt_graph_call *gt_graph_call_find(bool driver, CUpti_CallbackId id);

/* Reads the parameters of a call, at its entry or at its return. */
void gt_graph_call_read(const struct gt_graph_call *call, const CUpti_CallbackData *data,
                        struct gt_graph_facts *facts);

#endif

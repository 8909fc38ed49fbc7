/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_CALLS_LAUNCH_H
#define GT_INJECTION_CALLS_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include <cupti.h>

/*
 * The driver's API calls that launch kernels and graphs, as their callbacks tell of them: every
 * launch of the runtime is one of them inside. Launches on several devices at once are left out,
 * and those of CUDA 3.1 and earlier. Nothing here keeps state: from any thread and at any time.
 */

enum gt_launch_kind { GT_LAUNCH_KERNEL, GT_LAUNCH_GRAPH };

struct gt_launch {
	enum gt_launch_kind kind;
	CUstream stream;  /* as the call has it; NULL: the default stream, */
	bool per_thread;  /* which is that of the calling thread */
	CUgraphExec exec; /* of a graph */
};

/* False: the call with this id launches nothing of the kind. data may be without parameters. */
bool gt_launch_read(CUpti_CallbackId id, const CUpti_CallbackData *data, struct gt_launch *launch);

/* A kernel's launch, as the call asks for it. Pointers are the program's. */
struct gt_launch_shape {
	CUfunction function; /* or a CUkernel by the same type */
	CUstream stream;
	uint32_t grid[3];
	uint32_t block[3];
	uint32_t cluster[3]; /* 0: none is asked for */
	uint32_t shared_bytes;
	int32_t priority;
	int32_t carveout; /* percent, -2: the launch does not say */
	bool has_priority;
	bool cooperative;
	bool programmatic; /* programmatic stream serialisation */
	bool others;       /* it has attributes that are none of these, the first of which is: */
	CUlaunchAttributeID other;
	void **parameters; /* one pointer each; NULL: in extra */
	void **extra;
};

/* False: the call launches no kernel, or carries no parameters. */
bool gt_launch_describe(CUpti_CallbackId id, const CUpti_CallbackData *data,
                        struct gt_launch_shape *shape);

/*
 * The kernel that the call launches, or makes a node of a graph run: a CUfunction, or a CUkernel by
 * the same type. NULL: it is about none. For driver's calls only.
 */
CUfunction gt_launch_function(CUpti_CallbackId id, const CUpti_CallbackData *data);

/* Whether a call of the driver's is one that gt_launch_function reads. */
bool gt_launch_names_kernel(CUpti_CallbackId id);

/* 1: the call begins to capture a stream into a graph, -1: it ends that, 0: neither. */
int gt_capture_step(CUpti_CallbackId id);

#endif

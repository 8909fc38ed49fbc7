/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SNAPSHOT_LAUNCH_STEP_CALLS_H
#define GT_INJECTION_SNAPSHOT_LAUNCH_STEP_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include <cupti.h>

#include "format/bundle/bundle.h"
#include "injection/snapshot/launch/lists.h"

/*
 * The role of an API call in a sequence that is captured: a step, the end of memory, or something
 * that no sequence can have. Read from the parameters that CUPTI's callbacks carry; nothing here
 * keeps state. A runtime call makes driver calls inside: take the outermost of a thread alone, but
 * of launches, of which the driver's calls are known here and no others, and of copies by name.
 */

enum gt_step_call_kind {
	GT_STEP_CALL_NONE,  /* nothing that a sequence has to know of */
	GT_STEP_CALL_STEP,  /* of the kind step */
	GT_STEP_CALL_NAMED, /* a copy of a variable by its name: the driver's call in it is a step */
	GT_STEP_CALL_GRAPH,   /* a launch of the CUDA graph exec: its nodes are steps */
	GT_STEP_CALL_END,     /* of memory, at address, or of the array whose handle that is */
	GT_STEP_CALL_REFUSED, /* reason says why */
};

struct gt_step_call {
	enum gt_step_call_kind kind;
	enum gt_bundle_step_kind step;
	bool has_stream; /* false: of a wait of the host's for an event, or for all */
	CUstream stream; /* NULL: the default stream of the context */
	CUevent event;   /* NULL: none */
	bool blocks;     /* a copy that the host waits for */
	uint64_t to;
	uint64_t from;
	uint64_t bytes; /* of a row */
	uint64_t rows;
	uint64_t to_pitch;
	uint64_t from_pitch;
	uint64_t slices; /* of so many rows; only where each has several */
	uint64_t to_slice_pitch;
	uint64_t from_slice_pitch;
	uint32_t value; /* of a fill */
	uint32_t value_bytes;
	uint64_t address; /* of memory that ends; freed_bytes 0: all that is there */
	uint64_t freed_bytes;
	CUgraphExec exec;
	unsigned number;      /* of a copy, of those of the call */
	bool more;            /* the call makes more copies than this one */
	bool prefers_overlap; /* with kernels: a hint */
	const char *reason;   /* a sentence without its end */
};

/* Whether gt_step_call_read may say anything else than NONE: gt_knows_call. */
bool gt_step_call_is_known(bool driver, CUpti_CallbackId id);

/* At the entry of the call. For a launch only that it is one, and its stream. */
void gt_step_call_read(bool driver, CUpti_CallbackId id, const CUpti_CallbackData *data,
                       struct gt_step_call *call);

/* The next copy of the same call; false: there is none. */
bool gt_step_call_next(bool driver, CUpti_CallbackId id, const CUpti_CallbackData *data,
                       struct gt_step_call *call);

/* A step of that kind, with what it copies or fills; of no call, stream or event yet. */
struct gt_capture_step gt_step_of_call(const struct gt_step_call *call);

/* Reads a node of a CUDA graph that copies or fills; it has no stream. */
void gt_step_call_read_copy(const CUDA_MEMCPY3D *copy, struct gt_step_call *call);
void gt_step_call_read_fill(const CUDA_MEMSET_NODE_PARAMS *fill, struct gt_step_call *call);

#endif

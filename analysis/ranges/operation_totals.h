/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_RANGES_OPERATION_TOTALS_H
#define GT_ANALYSIS_RANGES_OPERATION_TOTALS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/statistics/spread.h"
#include "base/array.h"
#include "model/naming/operations.h"
#include "model/ranges/ranges.h"

struct gt_strings;

/*
 * GPU time of the operations of frameworks (model/naming/operations.h): modules and operations of
 * PyTorch, instructions of HLO. Work belongs to the innermost of each kind in whose range it was
 * asked for; work of a graph to those in which its node was made, and each launch of the graph is a
 * call. Where XLA's ranges are missing, kernels of a process that runs XLA's belong to the
 * instruction that their name tells.
 */
struct gt_operation_total {
	enum gt_operation_kind kind;
	enum gt_direction direction;
	const char *name;
	const char *around; /* HLO: its module; an operation of backward: the forward one; or "" */
	const char *sizes;  /* of the operands, where rows are told apart by them; "": not known */
	const char *kernel; /* HLO: the one that took most of own_ns; "": it has none */
	enum gt_hlo_category category;
	bool from_names; /* HLO: of kernels' names, not of ranges: calls are not known */
	bool in_graphs;  /* graphs ran of it: calls are their launches, too */
	bool has_inner;  /* a module in backward: its calls have parts of others in them */
	uint64_t calls;  /* ranges; of a module in backward, stretches of parts of it and of those
	                    inside */
	uint64_t own_ns; /* of kernels, copies and fills; what overlaps counts in full */
	uint64_t inclusive_ns; /* with what was asked for in operations of the kind inside it */
	uint64_t launches;     /* kernels, copies and fills of own_ns */
	uint64_t idle_ns; /* of the GPU, between the first start and the last end of each call */
	struct gt_spread each; /* GPU time of a call, with what is inside, ns */

	/* On the host, of those of its ranges that ended; what is inside on other threads is not */
	uint64_t timed;       /* such ranges */
	uint64_t wall_ns;     /* one that is inside another of the row counts once */
	uint64_t own_wall_ns; /* without operations of the kind inside it on the thread */
	uint64_t own_api_ns;  /* of that: the thread was in a CUDA call */
};

/* Role of a range, with what is around it. Rows are those of rows, unless said otherwise. */
struct gt_operation_scope {
	enum gt_operation_kind kind;
	enum gt_direction direction; /* with what it has of what is around it */
	gt_id group;                 /* GT_NONE: it is no operation, or one with that around it */
	gt_id module;                /* module of HLO it is, or is in; GT_NONE: none */
	gt_id root;                  /* the outermost module around it, or itself; GT_NONE: none */
	gt_id tied;   /* row of ranges: forward operation of the innermost numbered one
	                 of backward around it, or of itself; GT_NONE: none */
	gt_id engine; /* what autograd's engine runs right around it; GT_NONE: nothing */
};

struct gt_operation_totals {
	const struct gt_trace *trace;
	bool by_sizes; /* operations of PyTorch with operands of other sizes have other rows */
	struct gt_ranges ranges;
	struct gt_strings *keys;  /* of rows, in their order */
	struct gt_strings *words; /* that rows have */
	gt_array(struct gt_operation_total) rows;
	struct gt_operation_scope *scopes; /* by row of ranges */
	uint64_t kernels_ns;               /* of all kernels */
	uint64_t busy_ns;                  /* of all kernels, copies and fills */
	uint64_t buffers_ns; /* of command buffers of HLO, whose instructions are not known */
	uint64_t owned_ns[GT_OPERATION_KINDS];
};

/* The trace must outlive it. by_sizes: whether rows are told apart by the sizes of operands. */
void gt_operation_totals_init(struct gt_operation_totals *totals, const struct gt_trace *trace,
                              bool by_sizes);
void gt_operation_totals_release(struct gt_operation_totals *totals);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_MEMORY_USE_H
#define GT_MODEL_MEMORY_USE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "model/trace.h"

struct gt_view;

/*
 * How much memory is in use over time: allocations and blocks of pools, their begins and ends one
 * after the other in order of time, with what their holder has then. A holder is what is counted
 * together: one kind of allocation of a process on one GPU, or the blocks of one pool.
 *
 * The blocks of a pool lie in allocations: whoever adds up holders takes one or the other. Which
 * kinds of allocations are memory of a GPU, and not another name of some, model/memory/owned.h says.
 */
struct gt_memory_holder {
	gt_id process;
	gt_id device;  /* GT_NONE: the host's memory, or not known */
	gt_id pool;    /* whose blocks they are; GT_NONE: they are allocations */
	gt_count kind; /* of allocations: enum gt_memory_call_kind */
};

/* A begin or an end. */
struct gt_memory_step {
	gt_time time_ns;
	gt_size size_bytes;  /* of the row */
	gt_size live_bytes;  /* that the holder has after it */
	uint64_t live_count; /* in so many */
	uint32_t holder;     /* row of holders */
	gt_id row;           /* of pool_blocks where the holder is a pool, else of allocations */
	bool ends;
};

/* Inner: when a row begins or ends. */
struct gt_memory_moment {
	gt_time time_ns;
	gt_id row;
	bool is_block;
	bool late; /* it ends when it begins: after begins of the same time, the others before these
	            */
};

/* Memory that a holder has at a moment. */
struct gt_memory_live {
	gt_size bytes;
	uint64_t count;
};

struct gt_memory_use {
	const struct gt_trace *trace;
	gt_array(struct gt_memory_holder) holders;
	struct gt_memory_live *live; /* by holder, as of the step that was given last */
	uint32_t *holder_of_allocation;
	uint32_t *holder_of_block;
	gt_array(struct gt_memory_moment) begins; /* both in order of time */
	gt_array(struct gt_memory_moment) ends;
	size_t next_begin;
	size_t next_end;
};

/*
 * Takes a view's rows and window: rows from before the window begin with it, rows that end after
 * it do not end. The view and its trace must outlive the use. 40 bytes a row, and the time to sort
 * them.
 */
void gt_memory_use_init(struct gt_memory_use *use, const struct gt_view *view);
void gt_memory_use_release(struct gt_memory_use *use);

/*
 * Returns 1 with the next step, or 0 at the end. Rows that end when others begin end first.
 */
int gt_memory_use_next(struct gt_memory_use *use, struct gt_memory_step *step);

/* Back to before the first step. */
void gt_memory_use_rewind(struct gt_memory_use *use);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_MEMORY_ORIGINS_H
#define GT_ANALYSIS_MEMORY_ORIGINS_H

#include <stdint.h>

#include "base/array.h"
#include "model/ranges/ranges.h"
#include "model/trace.h"

struct gt_index;

/* Property by which memory is counted together, beside its sort. */
enum gt_memory_by {
	GT_MEMORY_BY_ORIGIN, /* path of ranges, shared object and API call */
	GT_MEMORY_BY_RANGE,  /* path of ranges */
	GT_MEMORY_BY_NAME,   /* name of the innermost range: an operation, where these are ranges */
	GT_MEMORY_BY_LIBRARY, /* shared object */
	GT_MEMORY_BY_CALL,    /* API call */
};

/* The words for these, in their order, with NULL behind them. */
extern const char *const gt_memory_by_words[];

enum gt_memory_by gt_memory_by(const char *word);

/* Where memory comes from: a key, without padding. */
struct gt_memory_origin {
	gt_id device;
	gt_id process;
	gt_id pool;      /* whose blocks they are; GT_NONE: they are allocations */
	gt_count kind;   /* of these: enum gt_memory_call_kind */
	gt_id carries;   /* pool whose blocks lie in these, GT_NONE: none */
	gt_id path;      /* of ranges; GT_NONE: none */
	gt_id name;      /* the same for BY_NAME: row of names of gt_ranges */
	gt_id library;   /* a gt_string; 0: not known */
	gt_id function;  /* the same */
	gt_count cached; /* 1: what carries has and nobody uses; its origin is that pool */
};

struct gt_memory_sum {
	struct gt_memory_origin origin;
	uint64_t bytes;
	uint64_t count;
	uint64_t largest;
	gt_time first_ns; /* when the first and the last of them began */
	gt_time last_ns;
};

struct gt_memory_origins {
	const struct gt_trace *trace;
	const struct gt_ranges *ranges;
	const gt_id *carriers; /* gt_memory_carriers */
	enum gt_memory_by by;
	struct gt_index *index;
	gt_array(struct gt_memory_sum) groups;
};

/* The arguments must outlive it. */
void gt_memory_origins_init(struct gt_memory_origins *origins, const struct gt_ranges *ranges,
                            const gt_id *carriers, enum gt_memory_by by);
void gt_memory_origins_release(struct gt_memory_origins *origins);

/* Rows of allocations and of pool_blocks. */
void gt_memory_origins_add(struct gt_memory_origins *origins, gt_id row);
void gt_memory_origins_add_block(struct gt_memory_origins *origins, gt_id row);

/*
 * All memory on a device at a moment. In place of allocations that carry blocks these blocks, and
 * one group for what is left of them.
 */
void gt_memory_origins_add_there(struct gt_memory_origins *origins, gt_id device, gt_time at_ns);

/* Those with most bytes first. */
void gt_memory_origins_sort(struct gt_memory_origins *origins);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_REPORTS_HAZARDS_HAZARDS_H
#define GT_ANALYSIS_REPORTS_HAZARDS_HAZARDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "model/trace.h"

/*
 * Two uses of the same memory that nothing puts in order: by copies and fills whose addresses were
 * recorded, kernels that say what they use, and allocations and frees in the order of a stream. All
 * uses are walked once, in the order in which the host asked for them, with a clock for each stream
 * (analysis/reports/hazards/stream_clocks.h); of each piece of memory the last write and the reads
 * since are kept.
 */
enum gt_hazard_kind {
	GT_HAZARD_READ_AFTER_WRITE,
	GT_HAZARD_WRITE_AFTER_READ,
	GT_HAZARD_WRITE_AFTER_WRITE,
	GT_HAZARD_USE_AFTER_FREE,
	GT_HAZARD_USE_BEFORE_ALLOCATION,
	GT_HAZARD_KINDS,
};

/* One of both uses. */
struct gt_hazard_use {
	size_t table; /* GT_TABLE_kernels, copies, fills or memory_calls */
	gt_id row;
	gt_id stream;
	gt_id api_call;
	gt_time given_ns; /* when the host asked for it */
	gt_id node;       /* of a graph, that it is a run of; GT_NONE: of none */
};

struct gt_hazard {
	enum gt_hazard_kind kind;
	struct gt_hazard_use earlier; /* that the host asked for first; of nodes that made first */
	struct gt_hazard_use later;
	uint64_t address; /* of the first byte that both use */
	uint64_t size_bytes;
	bool in_graph; /* both are nodes of one launch, and none waits for the other */
	bool happened; /* both ran at the same time, or memory was used after the call that freed it
	                */
};

/* How much of the work is known well enough to be looked at. */
struct gt_hazard_cover {
	uint64_t kernels;
	uint64_t known_kernels;
	uint64_t copies;
	uint64_t known_copies;
	uint64_t fills;
	uint64_t known_fills;
	uint64_t ordered_calls; /* allocations and frees in the order of a stream */
};

struct gt_hazards {
	gt_array(struct gt_hazard) list; /* in the order of the later use; in_graph last */
	struct gt_hazard_cover cover;
	bool cut_short; /* the memory is in so many pieces that not all were compared */
	bool has_lost;  /* a process waits for values or semaphores that nobody is seen to write */
	bool has_unclocked; /* there are more streams than are told apart */
};

/* In n log n; a pair of uses is in it once, however many pieces of memory they share. */
void gt_hazards_init(struct gt_hazards *hazards, const struct gt_trace *trace);
void gt_hazards_release(struct gt_hazards *hazards);

/* "read after write", ...; constant. */
const char *gt_hazard_name(enum gt_hazard_kind kind);

#endif

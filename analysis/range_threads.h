/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_RANGE_THREADS_H
#define GT_ANALYSIS_RANGE_THREADS_H

#include <stdint.h>

#include "model/ranges/ranges.h"

struct gt_result;

/*
 * How much GPU time threads launched for ranges of other threads (docs/terms.md), and how that is
 * known: sums of kernels, copies and fills.
 */
struct gt_range_threads {
	uint64_t all_ns;
	uint64_t by_number_ns; /* PyTorch's backward pass, by sequence numbers */
	uint64_t by_time_ns;   /* one other thread alone had ranges open */
	uint64_t untold_ns;    /* several had: it is in none of them */
};

struct gt_range_threads gt_range_threads_of(const struct gt_ranges *ranges);

/* Remarks on it; none where there is no such time. */
void gt_remark_range_threads(struct gt_result *result, const struct gt_range_threads *threads);

#endif

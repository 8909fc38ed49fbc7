/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_KERNELS_FAMILY_SHARES_H
#define GT_ANALYSIS_KERNELS_FAMILY_SHARES_H

#include <stddef.h>
#include <stdint.h>

#include "model/naming/kernel_names.h"

struct gt_result;
struct gt_trace;

/* Time of the kernels of one family. */
struct gt_family_share {
	uint64_t calls;
	uint64_t total_ns;
	double percent;
	uint64_t kernels; /* different functions */
	uint32_t family;
};

/* Shares of the families that ran, the largest first; returns their number. */
size_t gt_family_shares(const struct gt_trace *trace,
                        struct gt_family_share shares[GT_FAMILY_COUNT]);

/* Adds the table families: what the GPUs' time went into, the most first. */
void gt_add_families(struct gt_result *result, const struct gt_trace *trace);

#endif

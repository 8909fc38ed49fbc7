/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_REPORTS_SUMMARY_BUSIEST_H
#define GT_ANALYSIS_REPORTS_SUMMARY_BUSIEST_H

#include <stdint.h>

#include "analysis/ranges/figures.h"
#include "analysis/result.h"
#include "model/trace.h"

/*
 * Tables of the report summary that say what was busiest: kernels, API calls, copies, ranges.
 */

/* top: rows at most, of each. */
void gt_summary_add_top_kernels(const struct gt_trace *trace, struct gt_result *result,
                                uint64_t top);
void gt_summary_add_top_api_calls(const struct gt_trace *trace, struct gt_result *result,
                                  uint64_t top);
void gt_summary_add_top_ranges(const struct gt_range_totals *totals, struct gt_result *result,
                               uint64_t top);
void gt_summary_add_copies(const struct gt_trace *trace, struct gt_result *result);

#endif

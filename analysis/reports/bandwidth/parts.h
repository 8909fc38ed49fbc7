/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_REPORTS_BANDWIDTH_PARTS_H
#define GT_ANALYSIS_REPORTS_BANDWIDTH_PARTS_H

#include <stdint.h>

#include "analysis/result.h"
#include "analysis/traffic/traffic.h"

/*
 * Tables of the report bandwidth by parts of the program: NVTX ranges, and operations of frameworks.
 */

/* most: rows, of each. */
void gt_bandwidth_add_ranges(struct gt_result *result, struct gt_traffic_facts *facts,
                             uint64_t most);
void gt_bandwidth_add_ops(struct gt_result *result, struct gt_traffic_facts *facts, uint64_t most);

#endif

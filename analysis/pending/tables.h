/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_PENDING_TABLES_H
#define GT_ANALYSIS_PENDING_TABLES_H

#include <stddef.h>

struct gt_pending;
struct gt_result;

/*
 * The tables of gputrace pending: work, of collectives first; waits of streams; threads inside
 * calls; streams; processes. Rows of several recordings stand one behind the other. Each of them,
 * and its trace, must outlive the result.
 */
void gt_pending_add_tables(struct gt_result *result, const struct gt_pending *pendings,
                           size_t count);

#endif

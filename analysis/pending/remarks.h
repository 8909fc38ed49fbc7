/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_PENDING_REMARKS_H
#define GT_ANALYSIS_PENDING_REMARKS_H

#include <stddef.h>

struct gt_pending;
struct gt_result;

/* Sentences on how to read the tables, and on what is not known, of all recordings together. */
void gt_pending_remark(struct gt_result *result, const struct gt_pending *pendings, size_t count);

#endif

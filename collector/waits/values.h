/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_WAITS_VALUES_H
#define GT_COLLECTOR_WAITS_VALUES_H

#include "model/trace.h"

/* Values in memory that streams write and wait for. */

/* Finds for each wait the write that it is for. */
void gt_follow_values(struct gt_trace *trace);

#endif

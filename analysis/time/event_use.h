/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_TIME_EVENT_USE_H
#define GT_ANALYSIS_TIME_EVENT_USE_H

struct gt_result;
struct gt_trace;

/* Adds the table events: what each process makes of its events, and how often in vain. */
void gt_add_event_use(struct gt_result *result, const struct gt_trace *trace);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_RUN_JOB_TIMES_H
#define GT_CLI_RUN_JOB_TIMES_H

struct gt_error;
struct gt_trace;

/*
 * Tells the bundles of launches that were captured how long these took in the program, and other
 * launches of the same kernel in the same shape: that is known only once CUPTI's records are read,
 * after bundles were written. A bundle that is not there
 * any more, or that has a time, stays as it is. Fails in a sentence on the first that cannot be
 * written.
 */
int gt_job_times_write(const char *recording, const struct gt_trace *trace, struct gt_error *err);

#endif

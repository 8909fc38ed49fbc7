/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_RUN_SEQUENCE_TIMES_H
#define GT_CLI_RUN_SEQUENCE_TIMES_H

struct gt_error;
struct gt_trace;

/*
 * Tells the bundles of sequences how long their steps take in the program, which the captured
 * occurrence of the range does not show: medians over the others that the GPU did the same in, or
 * in missing that there is none. And in which ranges each step was made, which is known by now.
 * Fails in a sentence on the first that cannot be written.
 */
int gt_sequence_times_write(const char *recording, const struct gt_trace *trace,
                            struct gt_error *err);

#endif

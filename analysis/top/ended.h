/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_TOP_ENDED_H
#define GT_ANALYSIS_TOP_ENDED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "model/trace.h"

struct gt_result;

/*
 * Kernels or NVTX ranges that ended, look after look (gt_collect_look), each once. Those that
 * ended up to a moment are given out in the order of their ends; that moment lies so far back that
 * their records have been fetched, and that their times do not change any more, as clocks were read
 * later. One whose record comes later still is given out in the next look.
 */
enum gt_ended_of { GT_ENDED_KERNELS, GT_ENDED_RANGES };

/* The words for these, in their order, with NULL behind them. */
extern const char *const gt_ended_words[];

struct gt_ended {
	enum gt_ended_of of;
	gt_time from_ns;         /* those that ended before are not wanted */
	gt_time until_ns;        /* all that ended before was given out; 0: there was no look */
	gt_array(uint64_t) seen; /* sorted: those that a look to come may hold again */
};

void gt_ended_release(struct gt_ended *ended);

/* Begins their table. */
void gt_ended_begin(const struct gt_ended *ended, struct gt_result *result);

/*
 * Adds those that ended since the look before to their table. now_ns: of the boot-time clock,
 * before the trace was read.
 */
void gt_ended_add(struct gt_ended *ended, const struct gt_trace *trace, gt_time now_ns,
                  struct gt_result *result);

#endif

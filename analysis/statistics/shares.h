/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_STATISTICS_SHARES_H
#define GT_ANALYSIS_STATISTICS_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/trace.h"
#include "model/work/intervals.h"

struct gt_view;

/*
 * Shares of wall time that cannot be over 100 percent. A time belongs to a unit: a thread, a
 * process, a GPU, or the recording. Times of one unit are united, so that no moment counts twice,
 * before they are divided by wall time. Sums over units are not divided by wall time at all.
 */

enum gt_whose {
	GT_OF_RECORDING, /* at least one of the units */
	GT_OF_PROCESS,
	GT_OF_THREAD,
	GT_OF_GPU,
};

/* The whole that shares are of: a window, or the parts of it that a filter left. */
struct gt_wall {
	gt_time start_ns;
	gt_time end_ns;
	const struct gt_interval *parts; /* in order and apart */
	size_t part_count;               /* 0: all of the window */
	uint64_t ns;
};

struct gt_wall gt_wall_of(const struct gt_view *view);

/* The whole window, for samples of a GPU: a choice of ranges does not choose among them. */
struct gt_wall gt_wall_of_window(const struct gt_view *view);

/* United time of one unit; zero-initialise it. */
struct gt_united {
	struct gt_cover cover;
};

/* In order of their start. Time outside of the wall time does not count. */
void gt_unite(struct gt_united *united, const struct gt_wall *wall, struct gt_interval when);

/* Only the functions below make one: ns <= whole_ns always. */
struct gt_share {
	enum gt_whose whose;
	gt_id row;   /* of threads, processes or devices; GT_NONE: not known, or the recording */
	uint64_t ns; /* united */
	uint64_t whole_ns; /* wall time */
};

struct gt_share gt_share_of(const struct gt_united *united, const struct gt_wall *wall,
                            enum gt_whose whose, gt_id row);

/* Share of times in any order, which are sorted and merged in place. */
struct gt_share gt_share_of_intervals(const struct gt_wall *wall, struct gt_interval *intervals,
                                      size_t count, enum gt_whose whose, gt_id row);

/*
 * Share of a sum of times of one unit that lie apart, such as the gaps of a GPU. A sum of times
 * that may overlap is a bound: no more than the wall time is left of it.
 */
struct gt_share gt_share_of_apart(const struct gt_wall *wall, uint64_t ns, enum gt_whose whose,
                                  gt_id row);

/* So much of it, 0 to 1. */
struct gt_share gt_share_part(const struct gt_share *share, double part);

/* NAN of no wall time. */
double gt_share_percent(const struct gt_share *share);

/* Whether it is so many percent or more; false of no wall time. */
bool gt_share_reaches(const struct gt_share *share, unsigned percent);

/* "thread worker (7)", "process app (100)", "GPU 0", "the recording". */
struct gt_unit_name {
	char text[220];
};
struct gt_unit_name gt_share_unit(const struct gt_share *share, const struct gt_trace *trace);

/* Times of one sort, united for each unit that they are of. */
struct gt_unit_times {
	struct gt_wall wall;
	enum gt_whose whose;     /* not GT_OF_RECORDING */
	size_t count;            /* rows of the units' table */
	struct gt_united *units; /* by row; one more: those whose unit is not known */
	struct gt_united any;    /* at least one unit had some */
};

/* The view must outlive it. */
void gt_unit_times_init(struct gt_unit_times *times, const struct gt_view *view,
                        enum gt_whose whose);
void gt_unit_times_release(struct gt_unit_times *times);

/* In order of their start. */
void gt_unit_times_add(struct gt_unit_times *times, gt_id row, struct gt_interval when);

/* Share of one unit; GT_NONE: of those that are not known. */
struct gt_share gt_unit_times_of(const struct gt_unit_times *times, gt_id row);

/* Share of the unit that had most; ns 0: none had any. */
struct gt_share gt_unit_times_most(const struct gt_unit_times *times);

/* How long at least one of them had some: a change to all of them cannot save more wall time. */
struct gt_share gt_unit_times_any(const struct gt_unit_times *times);

/* How many units had some. */
size_t gt_unit_times_used(const struct gt_unit_times *times);

/* All units together: a sum, and no share of wall time. */
uint64_t gt_unit_times_sum(const struct gt_unit_times *times);

#endif

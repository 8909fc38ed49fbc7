/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_RANGES_RANGES_H
#define GT_MODEL_RANGES_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "model/known.h"
#include "model/trace.h"

/*
 * The ranges of NVTX as people speak of them. Those that are open on a thread at a moment are a
 * chain: the innermost, around it the one that was begun last before it, and so on. The names in
 * the chain in which a range was begun, from the outermost to its own, are its path, as
 * "train/step/forward". Ranges that were started instead of pushed need not lie in one another, so
 * that one around another may end before it: it is in the path, but not in the chain any more.
 *
 * Where a framework began a range for one of another thread, the chain goes on there: behind the
 * operations of PyTorch's backward pass comes the range that waits for them. Paths do not.
 */

/*
 * The one place that says how a path is written: names with this between them, from the outermost
 * on. In a name itself it stands behind GT_RANGE_ESCAPE, as that does. Names of domains other than
 * the default one stand before the name, with GT_RANGE_DOMAIN behind them: "NCCL:ncclAllReduce".
 */
#define GT_RANGE_SEPARATOR '/'
#define GT_RANGE_ESCAPE    '\\'
#define GT_RANGE_DOMAIN    ':'

enum {
	GT_RANGE_PATH_BYTES = 2048, /* of a path as text; a longer one begins with ".../" */
	GT_RANGE_NAME_BYTES = 1024,
	/* Where there are more than 16,384 paths, each has fewer, so that all take no more than
	   this */
	GT_RANGE_PATHS_BYTES = 32 << 20,
	GT_RANGE_PATH_LEAST_BYTES = 256, /* or so many each */
};

/* Name of ranges: those of one name, in one domain, in whatever process. */
struct gt_range_name {
	gt_string domain; /* name of it, 0 for the default one */
	gt_string text;
	gt_count folded; /* its numbers that differ in those that are one name with it, 0: none are */
};

struct gt_range_path {
	gt_id outer; /* the path around it; GT_NONE: it begins here */
	gt_id name;  /* row of names */
	uint32_t depth;
};

/* All ranges of a trace, which must outlive it and not change. */
struct gt_range_folds;

struct gt_ranges {
	const struct gt_trace *trace;
	const struct gt_range_folds *folds; /* NULL: none */
	gt_array(struct gt_range_name) names;
	gt_array(struct gt_range_path) paths; /* the outer before the inner */
	gt_id *path_of;                       /* by row of ranges: row of paths */
	gt_id *order;              /* rows of ranges, what is around another one before that */
	gt_id *around;             /* by row of ranges: parent, but never in a circle */
	gt_id *outlasting;         /* by row of ranges: the next around it that ends after it */
	bool for_others;           /* a range was begun for one of another thread */
	gt_time *whole_until_ns;   /* by row of ranges: when the first of its path ends */
	size_t walked;             /* steps up chains for paths that were made anew */
	struct gt_known name_rows; /* by domain and text */
	struct gt_known path_rows; /* by outer path and name */
};

void gt_ranges_init(struct gt_ranges *ranges, const struct gt_trace *trace);

/* The same with one name for those that are folded; the folds must outlive it. */
void gt_ranges_init_folded(struct gt_ranges *ranges, const struct gt_trace *trace,
                           const struct gt_range_folds *folds);
void gt_ranges_release(struct gt_ranges *ranges);

/* When a range ended; INT64_MAX for one that did not. */
gt_time gt_range_end(const struct gt_range *range);

/*
 * The next of the chain at a moment: the innermost range around this one that was still open then;
 * GT_NONE when none was. A walk up the chain begins with the innermost range and asks for the next
 * until there is none.
 */
gt_id gt_ranges_around(const struct gt_ranges *ranges, gt_id range, gt_time at_ns);

/* The same, but never on to another thread by time alone. */
gt_id gt_ranges_around_sure(const struct gt_ranges *ranges, gt_id range, gt_time at_ns);

/* Whether this step up a chain leads to another thread by time alone. */
bool gt_ranges_by_time(const struct gt_ranges *ranges, gt_id range, gt_id around);

/*
 * Where the chain goes on behind this range's thread: the next range of it that was open on another
 * thread at a moment; GT_NONE: the chain ends there.
 */
gt_id gt_ranges_beyond(const struct gt_ranges *ranges, gt_id range, gt_time at_ns);

/* The range of another thread that one was begun for, open or not; GT_NONE: none. Never in a
 * circle. */
gt_id gt_ranges_for(const struct gt_ranges *ranges, gt_id range);

/* The row of paths of a row of ranges; GT_NONE when there is no such range. */
static inline gt_id gt_ranges_path(const struct gt_ranges *ranges, gt_id range)
{
	return range < ranges->trace->ranges.count ? ranges->path_of[range] : GT_NONE;
}

/* A path as text, cut at its beginning where it is longer. Returns its length. */
size_t gt_range_path_text(const struct gt_ranges *ranges, gt_id path,
                          char text[GT_RANGE_PATH_BYTES]);

/* One part of a path, of a mark too: "NCCL:ncclAllReduce". Returns its length. */
size_t gt_range_name_text(const struct gt_trace *trace, struct gt_range_name name,
                          char text[GT_RANGE_NAME_BYTES]);

#endif

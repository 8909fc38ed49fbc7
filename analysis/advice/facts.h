/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_ADVICE_FACTS_H
#define GT_ANALYSIS_ADVICE_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/advice/range_losses.h"
#include "analysis/advice/variables.h"
#include "analysis/gaps/host_waits.h"
#include "analysis/gaps/idle.h"
#include "analysis/gaps/totals.h"
#include "analysis/kernels/shape_totals.h"
#include "analysis/memory/failures.h"
#include "analysis/memory/totals.h"
#include "analysis/ranges/figures.h"
#include "analysis/statistics/shares.h"
#include "analysis/time/busy.h"
#include "analysis/time/covered.h"
#include "analysis/time/host_calls.h"
#include "analysis/time/throttles.h"

struct gt_view;

/*
 * Facts that overview and findings are made of: every part of a trace looked at once. Times that
 * are to be compared with wall time are shares of a unit (analysis/statistics/shares.h), never sums
 * over units.
 */

/* Calls or waits of one sort. The names are the trace's or constant. */
struct gt_amount {
	uint64_t count;
	uint64_t summed_ns;         /* of all of them, also of those that go on at the same time */
	struct gt_unit_times times; /* united by the unit that they keep from going on */
	const char *most;           /* the function or kind that took most of the sum; NULL: none */
	uint64_t most_ns;           /* how much */
	gt_time start_ns;           /* of API calls: when the first of them was entered, */
	gt_time end_ns;             /* and when the last of them returned */
};

/*
 * "28 calls, most of it in cuLibraryLoadData"; "28 calls of all threads, ..." where several units
 * have some.
 */
struct gt_amount_calls {
	char text[160];
};
struct gt_amount_calls gt_amount_calls(const struct gt_amount *amount);

struct gt_facts {
	const struct gt_view *view;
	struct gt_wall wall;          /* of the view: what shares are shares of */
	struct gt_busy *busy;         /* by device */
	struct gt_idle *idle;         /* by device, with its longest gap */
	struct gt_thread_calls calls; /* of all that happened, as gaps and host_waits */
	struct gt_gap_totals gaps;    /* those that took most first */
	struct gt_throttles throttles;
	struct gt_variables variables;
	struct gt_range_totals ranges; /* by path */
	struct gt_range_losses range_losses;
	struct gt_memory_totals allocated;
	struct gt_memory_failures not_allocated;
	struct gt_host_waits host_waits;
	struct gt_covered *work; /* by device: when it was busy; empty where no rule asks */
	struct gt_shape_totals shapes;
	/* By device, of the host's copies between first and last kernel: time without a kernel. */
	uint64_t *alone_ns;
	uint64_t *of_default_stream; /* by device: kernels, copies and fills on default streams */
	uint64_t *default_streams; /* by device: these streams, one of each context that has some */
	uint64_t *of_other_streams; /* by device: and on others, or on ones that are not known */
	const struct gt_api_call *first_failed; /* NULL: none */
	uint64_t failed;                        /* API calls that failed */
	uint64_t memory_calls;                  /* that allocate or free, with times */
	uint64_t copied_bytes;                  /* of copies with times */
	struct gt_amount waits;                 /* of the host, by thread */
	struct gt_amount loads;                 /* API calls that take code in, by process */
	struct gt_unit_times loading; /* all that loading code took, by process; 0: not known */
};

void gt_facts_init(struct gt_facts *facts, const struct gt_view *view);
void gt_facts_release(struct gt_facts *facts);

/* Whether all that ran on a GPU was on default streams of contexts, and that was not just a little.
 */
bool gt_facts_on_default_stream(const struct gt_facts *facts, gt_id device);

/* How to say what overlapping these copies would bring. */
#define GT_ALONE_HOW                                                                                        \
	"copies of the host between the first and the last kernel while none ran, or the kernels' time if " \
	"that is less"

#endif

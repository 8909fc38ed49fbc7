/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_WHOLE_H
#define GT_MODEL_WHOLE_H

#include <stdbool.h>

#include "model/trace.h"

/*
 * All that happened, beside what a filter left to be shown. A filter chooses rows; how busy or idle
 * a GPU was, what it waited for, and the critical path are questions about all that happened
 * (docs/terms.md).
 */

struct gt_whole {
	struct gt_trace trace;          /* before the filter; it borrows its strings */
	gt_id *shown[GT_TABLE_COUNT];   /* by row of that trace: the row that is left, or GT_NONE */
	gt_id *origins[GT_TABLE_COUNT]; /* by row that is left: its row of that trace */
	bool *asked_about; /* by row of its devices: nothing, or --device, chooses it */
	bool *named;       /* by row of devices that are left: for copies that name it alone */
	gt_time until_ns;  /* where the window ends */
};

/*
 * The trace with all that happened: trace itself where no filter took rows out of it. Rows have
 * other numbers in it; strings are the same. It lives as long as the trace.
 */
const struct gt_trace *gt_whole_of(const struct gt_trace *trace);

/* The row of the trace that a row of gt_whole_of(trace) is; GT_NONE: the filter took it out. */
gt_id gt_whole_shown(const struct gt_trace *trace, int table, gt_id row);

/* The other way round: the row of gt_whole_of(trace) that a row of the trace is. */
gt_id gt_whole_origin(const struct gt_trace *trace, int table, gt_id row);

/*
 * Maps a GPU, a row of gt_whole_of(trace), to its row of the trace, where it has rows of its own in
 * reports. GT_NONE: the filter took it out, or it is left for copies that name it alone.
 */
gt_id gt_whole_device(const struct gt_trace *trace, gt_id device);

/* Whether a GPU, a row of the trace, has rows of its own. */
bool gt_whole_has_rows(const struct gt_trace *trace, gt_id device);

/* How many have. */
size_t gt_whole_devices(const struct gt_trace *trace);

/*
 * Whether questions about all GPUs together, as when none had anything to do, are about this one, a
 * row of gt_whole_of(trace): all are, but where --device chooses some. GT_NONE: one not known.
 */
bool gt_whole_asks_about(const struct gt_trace *trace, gt_id device);

/* Where the window of the trace ends; INT64_MAX: with the recording. */
gt_time gt_whole_until(const struct gt_trace *trace);

/* Frees it; NULL is fine. */
void gt_whole_free(struct gt_whole *whole);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_VIEW_VIEW_H
#define GT_MODEL_VIEW_VIEW_H

#include <stdbool.h>

#include "model/ledger.h"
#include "model/trace.h"

struct gt_error;
struct gt_filter;

/*
 * Input of reports and exporters: a trace, all of it or what a filter left of it to be shown,
 * and the window that its figures are of. A filter is applied by taking rows out of the trace, so
 * nobody who reads the trace can forget it. Everything else that happened is in
 * gt_whole_of(trace), for questions that no filter changes (model/whole.h, docs/terms.md).
 */
struct gt_view {
	const struct gt_trace *trace;
	gt_time start_ns;        /* of the window. The trace's own start_ns and end_ns are the */
	gt_time end_ns;          /* recording's, with any filter */
	bool by_work;            /* the filter chooses devices, streams, kernels or ranges */
	bool by_ranges;          /* it chooses ranges */
	bool splits_streams;     /* it chooses kernels or ranges: some of the work of a stream */
	const char *restriction; /* the filter as options, its own text; NULL: all of the trace */
	struct gt_ledger_state recording; /* of the whole recording, with any filter */
};

/*
 * How long the window is, in ns: what shares of time are shares of. It is trace->parts where there
 * are any. With chosen ranges these are the time in which one of them was open, or GPUs were
 * between the first start and the last end of what was launched in one of them. Time in which
 * launches were held up, for their counters or to be captured, is in no window.
 */
uint64_t gt_view_lasts_ns(const struct gt_view *view);

/* All of a trace, which must outlive the view and not change. */
struct gt_view gt_view_of(const struct gt_trace *trace);

/*
 * Takes everything out of the trace that the filter did not choose, and makes a view of the rest.
 * The filter must outlive the view. These stay:
 * - With a window, what starts in it, from <= start < to, also when it ends later. Rows without
 *   a time, because they had not begun when their process ended, go.
 *   Samples of series count as what starts then.
 * - With processes, everything of these processes.
 * - With devices, streams or kernels, the work on the GPU that is on such a device, on such a
 *   stream and of such a kernel: chosen kernels leave no copies or fills. An API call, a wait or
 *   an overhead stays if it asked for such work, in the window or not, a wait also if it waited for
 *   a stream that stays, with its call. Figures of a GPU over time stay with the GPU.
 * - With ranges, what was asked for inside a chosen one, or by another thread for it, or captured
 *   inside it as part of a graph, with the calls, waits, marks and ranges that were made inside.
 *   With own_threads what other threads did for ranges is in none of them. Queries, which are
 *   counted together, go. Ranges around others stay, as GT_AROUND. In gt_whole_of(trace) the chosen
 *   ranges are GT_CHOSEN.
 * - Devices, streams and processes that are not chosen go, except devices that copies name.
 * - The ledger and the notes: they are always of the whole recording.
 * A column that named a row that went is GT_NONE. All that was there is in gt_whole_of(trace).
 *
 * Fails with -EINVAL for a window that ends before it begins and -ENODATA when nothing is left, or
 * something chosen is not there; the trace is then as it was, but for what own_threads forgets.
 */
int gt_view_cut(struct gt_view *view, struct gt_trace *trace, const struct gt_filter *filter,
                struct gt_error *err);

#endif

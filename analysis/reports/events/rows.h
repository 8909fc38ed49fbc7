/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_REPORTS_EVENTS_ROWS_H
#define GT_ANALYSIS_REPORTS_EVENTS_ROWS_H

#include <stddef.h>

#include "model/ranges/ranges.h"
#include "model/trace.h"

struct gt_activity;
struct gt_result;

/* The table of the report events: its columns, and a row for each sort of event. */

/* Sorts of rows; the table has the columns that those in it need. */
enum gt_events_of {
	GT_EVENTS_OF_GPUS = 1,
	GT_EVENTS_OF_CALLS = 2,
	GT_EVENTS_OF_RANGES = 4,
};

/* Texts of the rows of a table: each is made once, however many cells show it. */
struct gt_event_texts {
	const char **of_row;
	size_t count;
};

struct gt_event_rows {
	const struct gt_trace *trace;
	unsigned of; /* enum gt_events_of: GPUs alone, calls alone, ranges alone, or all */
	struct gt_result *result;
	struct gt_ranges ranges;
	struct gt_event_texts devices;
	struct gt_event_texts grids;
	struct gt_event_texts blocks;
	struct gt_event_texts threads;
	struct gt_event_texts processes;
	struct gt_event_texts paths; /* by row of ranges.paths */
};

/* Begins the table; the trace and the result must outlive the rows. */
void gt_event_rows_init(struct gt_event_rows *rows, const struct gt_trace *trace, unsigned of,
                        struct gt_result *result);
void gt_event_rows_release(struct gt_event_rows *rows);

/* One row each; row is a row of api_calls, or of ranges, that exists. */
void gt_event_rows_add_work(struct gt_event_rows *rows, const struct gt_activity *activity);
void gt_event_rows_add_call(struct gt_event_rows *rows, gt_id row);
void gt_event_rows_add_range(struct gt_event_rows *rows, gt_id row);

#endif

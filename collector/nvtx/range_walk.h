/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_NVTX_RANGE_WALK_H
#define GT_COLLECTOR_NVTX_RANGE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/nvtx/names.h"
#include "collector/nvtx/payloads.h"
#include "collector/stage.h"

/*
 * Ranges and marks of NVTX in the making, for the stage ranges: their rows, and tables of things
 * that threads did, each in a range.
 */

/* A begin of one capture, on its way to its row. */
struct gt_range_start {
	gt_time time_ns;
	gt_id thread;
	uint32_t order;
	uint32_t capture;
	uint32_t begin; /* in the capture's raw_range_begins */
};

/* Links of open ranges, by row of ranges. */
struct gt_range_link {
	gt_id before; /* in the list of the thread; GT_NONE: it is the first */
	gt_id after;
	gt_id below; /* pushed before it in its domain, and still open */
	uint32_t level;
	bool open;
};

/* A table in the order of time whose rows are things that threads did, each in a range. */
struct gt_deeds {
	uint8_t *rows; /* they begin with start_ns */
	size_t row_size;
	size_t count;
	size_t thread; /* offsets of columns */
	size_t range;
	size_t threads;   /* of the trace when they were sorted */
	size_t *ends;     /* by thread: where those of it end in by_thread */
	gt_id *by_thread; /* rows, by thread and time */
	size_t next;      /* of those of the thread at hand */
	size_t end;
};

enum { GT_DEEDS_CALLS, GT_DEEDS_BLOCKS, GT_DEEDS };

/* State of one capture while rows are filled. */
struct gt_range_source {
	struct gt_nvtx_names names;
	struct gt_payloads payloads;
	gt_id *rows; /* by raw_range_begins: of ranges or marks */
};

struct gt_range_walk {
	struct gt_trace *trace;
	struct gt_capture *capture;
	struct gt_range_source *sources;        /* by capture */
	struct gt_payloads *payloads;           /* of the capture's source */
	gt_array(struct gt_range_start) ranges; /* of all captures; their places are the rows */
	gt_array(struct gt_range_start) marks;
	struct gt_range_link *links;
	const gt_id *rows;    /* of the capture's source */
	struct gt_known tops; /* what was pushed last: places of top_rows by life and domain */
	gt_array(gt_id) top_rows;
	uint32_t life; /* of the thread at hand: its id may be another thread's later */
	gt_id last;    /* that is open on it and began last */
	const struct gt_pause *pause; /* of the process, that the thread comes to next; NULL: none */
	bool was_paused;              /* it has come through one */
	uint64_t torn;
	uint64_t unopened;
	uint64_t work_left_ns; /* of GT_MOST_WORK_NS */
	struct gt_deeds deeds[GT_DEEDS];
};

/* When a row of a table in the order of time began. */
gt_time gt_deed_time(const uint8_t *row);

/* The next one of the thread at hand. */
uint8_t *gt_next_deed(const struct gt_deeds *deeds);

/* API calls and blocks of pools. */
void gt_make_deeds(struct gt_range_walk *walk);

/* Whether that kind is ended by its id. */
bool gt_range_has_id(uint32_t kind);
void gt_range_make_rows(struct gt_range_walk *walk);
void gt_range_fill_rows(struct gt_range_walk *walk);
void gt_range_init_sources(struct gt_range_walk *walk, struct gt_collection *collection);
void gt_range_release_sources(struct gt_range_walk *walk, size_t count);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_STAGE_H
#define GT_COLLECTOR_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "format/recording.h"
#include "format/records.h"
#include "model/trace.h"

struct gt_error;

/* Rows of a table that one capture brought, until stage order mixes them. */
struct gt_range {
	size_t first;
	size_t count;
};

/* A row that a capture knows by a number of its own. */
struct gt_known {
	uint64_t number;
	gt_id row;
};

/* One capture file, with the arena beside it if there is one, on its way into the trace. */
struct gt_capture {
	char *path;
	char *name;       /* inside path */
	char *arena_path; /* NULL: there is none */
	gt_id process;
	gt_array(gt_string) strings; /* by the capture's string id */
	gt_array(gt_id) shapes;      /* rows of launch_shapes by the capture's shape id */
	gt_array(struct gt_record_shape) raw_shapes;
	gt_array(struct gt_record_thread) raw_threads;
	gt_array(struct gt_record_note) raw_notes;
	gt_array(struct gt_record_device) raw_devices;
	gt_array(struct gt_record_ledger) raw_ledger; /* the last value of each name */
	gt_array(struct gt_record_clock) clocks;
	gt_array(struct gt_known) devices;  /* by ordinal */
	gt_array(struct gt_known) contexts; /* by CUPTI's id */
	gt_array(struct gt_known) streams;  /* by context << 32 | stream */
	gt_array(struct gt_known) threads;  /* by tid */
	gt_array(struct gt_known) events;   /* by handle */
	struct gt_range kernels;
	struct gt_range copies;
	struct gt_range fills;
	struct gt_range syncs;
	struct gt_range overheads;
	struct gt_range api_calls;
	bool api_known;    /* it says whether API calls were asked for */
	bool api_recorded; /* API calls were asked for */
	bool clean;        /* the process wrote its end */
	bool died;         /* a salvager wrote its end, or its arena was read here */
	bool running;
};

struct gt_collection {
	struct gt_trace *trace;
	gt_array(struct gt_capture) captures;
};

/* One step from captures to a trace. To add one: see stages.def. */
struct gt_stage {
	const char *name;
	int (*run)(struct gt_collection *collection, struct gt_error *err);
};

/* A row of the notes table. */
__attribute__((format(printf, 4, 5))) void gt_collection_note(struct gt_collection *collection,
                                                              gt_id process, const char *topic,
                                                              const char *fmt, ...);

/* The text a capture calls by this id; 0 ("") when it never said. */
gt_string gt_capture_string(const struct gt_capture *capture, uint32_t id);

#endif

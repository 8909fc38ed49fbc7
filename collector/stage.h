/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_STAGE_H
#define GT_COLLECTOR_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "collector/left_notes.h"
#include "format/recording.h"
#include "format/records.h"
#include "format/roll.h"
#include "model/gpu/calibration.h"
#include "model/known.h"
#include "model/trace.h"

struct gt_error;
struct gt_kinds;
struct gt_look;
struct gt_watch;

/*
 * The shares that a watch is told: decoding takes about as long as all other stages, which are told
 * one by one.
 */
enum { GT_SHARE_OF_DECODE = 500, GT_SHARE_OF_REST = 500 };

/* All durations of a table together: a century and a half. More than that would overflow. */
#define GT_MOST_WORK_NS ((uint64_t)1 << 61)

/*
 * Rows that one capture brought as records of one kind, one behind the other in the kind's table;
 * until stage order mixes them.
 */
struct gt_segment {
	uint32_t kind; /* GT_RECORD_... */
	size_t first;
	size_t count;
};

/* Samples that one capture brought. */
struct gt_raw_series {
	uint32_t number; /* that the capture gives the series */
	uint8_t clock;   /* enum gt_series_clock */
	size_t place;    /* of the trace's series */
};

/* Records of one kind in a capture. */
struct gt_record_count {
	uint64_t told; /* that the process wrote, by its own count */
	uint64_t read; /* in chunks that were found, whatever became of them */
	uint64_t gone; /* that were taken out of the capture, as was asked */
};

/* A kernel of gputrace's own that read the GPU's clock: it is no row, but when it ran matters. */
struct gt_own_kernel {
	gt_time start_ns; /* of CUPTI's clock until stage clocks has run */
	gt_time end_ns;
	uint32_t correlation;
};

/* One capture file, with the arena beside it if there is one, on its way into the trace. */
struct gt_capture {
	char *path;
	char *name;       /* inside path */
	char *arena_path; /* NULL: there is none */
	bool missing;     /* there is no capture, only its arena */
	bool unread;      /* the capture could not be read */
	gt_id process;
	gt_string boot;              /* of the machine it is from, 0: not known */
	gt_array(gt_string) strings; /* by the capture's string id */
	struct gt_known shapes;      /* rows of launch_shapes by the capture's shape id */
#define KEPT(record, list) gt_array(struct gt_record_##record) list;
#include "collector/kept.def"
	gt_array(struct gt_record_shape) raw_shapes;
	gt_array(struct gt_record_ledger) raw_ledger; /* the last value of each name */
	struct gt_known ledger_names;                 /* rows of it by name */
	bool counts_written;                          /* it says how many records it has */
	struct gt_record_count written[GT_RECORD_KIND_COUNT];
	gt_array(struct gt_record_clock) clocks;
	gt_array(struct gt_raw_series) raw_series;
	uint64_t chunks_left_out;       /* they would have taken too much memory */
	uint64_t chunks_damaged;        /* their contents do not fit their kind */
	uint64_t bytes_damaged;         /* of its file, which had to be skipped */
	struct gt_known series_places;  /* raw_series by number and clock */
	struct gt_known series_numbers; /* by number: the first */
	struct gt_known devices;        /* by ordinal */
	struct gt_known contexts;       /* by CUPTI's id */
	struct gt_known streams;        /* by context << 32 | stream */
	struct gt_known threads;        /* by tid */
	struct gt_known events;         /* by handle */
	struct gt_known pools;          /* by number */
	gt_array(uint64_t) handles; /* of streams; until stage handles a column stream of a record
	                               with handles holds its place here */
	struct gt_known handle_places; /* by handle */
	gt_array(struct gt_segment) segments;
	gt_time gone_until;    /* all that began later is there; 0: all is. From stage gone on */
	uint64_t kernels_gone; /* and of what was read those that are no rows any more */
	gt_array(struct gt_own_kernel) own_kernels; /* that raw_device_times are of */
	bool api_known;                             /* it says whether API calls were asked for */
	bool api_recorded;                          /* API calls were asked for */
	bool clean;                                 /* the process wrote its end */
	bool imported;     /* clean, and made of another profiler's file, which counts nothing */
	bool died;         /* a salvager wrote its end, or its arena was read here */
	gt_time dumped_at; /* what began later is there in part; 0: it is no dump */
	bool dumped;       /* died, but for its process: that ran on when this was copied */
	bool running;
	uint64_t passed_cupti_ns; /* latest end of work, and */
	uint64_t passed_host_ns;  /* of calls, that a look left out; 0: it left out none */
};

/* The roll of one machine: what is in no capture. */
struct gt_host_roll {
	char host[65];
	struct gt_roll_lines lines;
};

struct gt_collection {
	struct gt_trace *trace;
	const struct gt_kinds *kinds;
	const struct gt_watch *watch; /* NULL: nobody wants to know how far it is */
	bool live;                    /* arenas of processes that run are read, too */
	struct gt_look *look;         /* that this is; NULL: none */
	gt_array(struct gt_capture) captures;
	gt_array(struct gt_host_roll) rolls; /* that say something */
	uint64_t rolls_unread;
	gt_array(struct gt_capture) machines; /* HOST.topology: of no process */
	struct gt_left_notes left_notes;
	struct gt_calibrations calibrations; /* that lie in the recording */
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

/* Rows of segments of a kind: how many there are in all. */
size_t gt_capture_count(const struct gt_capture *capture, uint32_t kind);

/* The text a capture calls by this id; 0 ("") when it never said. */
static inline gt_string gt_capture_string(const struct gt_capture *capture, uint32_t id)
{
	return id < capture->strings.count ? capture->strings.rows[id] : 0;
}

#endif

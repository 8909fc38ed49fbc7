/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_TIMELINE_TIMELINE_H
#define GT_ANALYSIS_TIMELINE_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/statistics/thinned.h"
#include "base/array.h"
#include "model/trace.h"

struct gt_strings;
struct gt_view;

/*
 * A view as a picture with tracks over time, small enough for a page: when each GPU was busy and
 * why it was idle, the work of the busiest streams, the ranges of the threads that have most, and
 * the memory in use. Busy and idle time are of all that happened, all else is of the view.
 *
 * However much happened, there are at most so many pieces. Where there would be more, neighbours on
 * a lane that lie together within together_ns become one piece, with the count, the sum of times
 * and the longest of the pieces that it stands for.
 */
enum {
	GT_TIMELINE_GPUS = 16,
	GT_TIMELINE_STREAMS = 16,
	GT_TIMELINE_THREADS = 4,
	GT_TIMELINE_LANES = 8,       /* of a track: pieces that go on at the same time */
	GT_TIMELINE_STRETCHES = 700, /* of a curve that changes often */
	GT_TIMELINE_LABEL = 400,
};

struct gt_timeline_piece {
	gt_time start_ns;
	gt_time end_ns;
	uint64_t count;     /* of the pieces that it stands for; 1: it is one itself */
	uint64_t total_ns;  /* sum of their lengths */
	gt_time longest_ns; /* of these */
	uint32_t name;      /* of the longest: of names */
};

/* Pieces one after the other. */
struct gt_timeline_lane {
	gt_time end_ns; /* of the last one */
	gt_array(struct gt_timeline_piece) pieces;
};

enum gt_timeline_kind {
	GT_TIMELINE_BUSY, /* of a GPU: kernels and whole graphs, united; count is of these */
	GT_TIMELINE_IDLE, /* of a GPU: gaps, by their cause */
	GT_TIMELINE_STREAM,
	GT_TIMELINE_RANGES, /* of a thread */
};

struct gt_timeline_track {
	enum gt_timeline_kind kind;
	gt_id device; /* GT_NONE: of none, or not known */
	gt_id row;    /* of devices, streams or threads, as kind says */
	char label[GT_TIMELINE_LABEL];
	gt_array(struct gt_timeline_lane) lanes;
	uint64_t hidden; /* pieces for which no lane was free */
};

/* Memory in use on a GPU. */
struct gt_timeline_curve {
	gt_id device;
	char label[GT_TIMELINE_LABEL];
	struct gt_thinned values; /* bytes */
	double peak;
};

struct gt_timeline {
	const struct gt_view *view;
	struct gt_strings *names;
	size_t most; /* pieces that there may be */
	size_t piece_count;
	gt_time together_ns; /* 0: every piece stands for itself alone */
	gt_array(struct gt_timeline_track) tracks;
	gt_array(struct gt_timeline_curve) curves;
	gt_time least_gap_ns; /* shorter gaps are in no track */
	/* Left out, as the figures above say how many there may be. */
	uint64_t gpus_left_out;
	uint64_t streams_left_out;
	uint64_t threads_left_out;
};

/* The view and its trace must outlive it. */
void gt_timeline_init(struct gt_timeline *timeline, const struct gt_view *view, size_t most);
void gt_timeline_release(struct gt_timeline *timeline);

/* Pieces of all tracks for which no lane was free. */
uint64_t gt_timeline_hidden(const struct gt_timeline *timeline);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_PERFETTO_TRACKS_H
#define GT_EXPORTERS_PERFETTO_TRACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/minima.h"
#include "exporters/perfetto/wire/sequence.h"

struct gt_perfetto;

/*
 * Tracks of the host, for any part: a track of its own for a thread (gt_threads), or as many as
 * are needed for slices that overlap (gt_lanes). Slices of one track must nest, or Perfetto cuts
 * them short without a word; that is seen to here.
 */

/* A value beside a slice, "debug.NAME" in SQL. */
struct gt_annotation {
	enum { GT_VALUE_NUMBER, GT_VALUE_TEXT, GT_VALUE_ADDRESS, GT_VALUE_REAL } type;
	uint32_t name;  /* as gt_names_add gives it */
	int64_t number; /* the value, or as gt_names_add gives it */
	double real;    /* of GT_VALUE_REAL */
};

/* Slices on a GPU, as gt_ids_slice numbers them. Borrowed. */
struct gt_slices {
	const uint32_t *numbers;
	size_t count;
};

struct gt_slice {
	gt_time start_ns;
	gt_time end_ns; /* INT64_MAX: never, it stays open */
	uint32_t name;  /* as gt_names_add gives it */
	bool nested;    /* lies inside what is open on its track; else that ends before it */
	bool instant;   /* a mark at start_ns, without a length */
	bool is_range;  /* of NVTX: what comes lies in it, nested or not, until it ends */
	const struct gt_annotation *annotations; /* borrowed */
	size_t annotation_count;
	struct gt_slices launched; /* arrows lead to them */
	struct gt_slices awaited;  /* arrows come from them */
	uint64_t flow; /* an arrow between slices of the host, as gt_perfetto_add_flows gives it; 0:
	                  none */
	bool flow_ends; /* the arrow ends here; else it begins */
};

/* Parts that are the same in all events, looked up and packed once. */
struct gt_track_wire {
	uint32_t event_tag;
	uint32_t name_tag;
	uint32_t arrows_tag;
	uint32_t launched_tag;
	uint32_t awaited_tag;
	size_t begin_size;
	size_t instant_size;
	size_t end_size;
	size_t range_size;
	size_t mark_size;
	uint8_t begin[8]; /* but for the name */
	uint8_t instant[8];
	uint8_t range[8]; /* begin and instant of what is_range: it has a category of its own */
	uint8_t mark[8];
	uint8_t end[8];
};

/* A slice that has begun. */
struct gt_open_slice {
	gt_time end_ns; /* INT64_MAX: it stays open */
	bool is_range;
};

/* One track and the sequence that its slices are on. */
struct gt_track {
	struct gt_perfetto *perfetto;
	struct gt_sequence sequence;
	gt_array(struct gt_open_slice) open; /* the outer first */
	bool knows_ranges;                   /* the sequence has their category */
	gt_array(uint8_t) known;   /* by number of a text: what the sequence knows it as */
	gt_array(uint8_t) message; /* the one being made */
	struct gt_track_wire wire;
};

/* Starts the sequence of a track that the file describes, or will. */
void gt_track_start(struct gt_track *track, struct gt_perfetto *perfetto, uint64_t uuid,
                    const char *category);

/*
 * Describes a track below another one, whose further tracks stand in the order of their ranks.
 * Returns its uuid.
 */
uint64_t gt_track_describe_group(struct gt_perfetto *perfetto, uint64_t parent_uuid,
                                 const char *kind, uint64_t number, const char *name);

/* Describes a track of such a group. rank: among those of the group. Returns its uuid. */
uint64_t gt_track_describe_ranked(struct gt_perfetto *perfetto, uint64_t parent_uuid,
                                  const char *kind, uint64_t number, const char *name,
                                  int32_t rank);

/* Slices come in order of their start. */
void gt_track_put(struct gt_track *track, const struct gt_slice *slice);

/* Ends every slice that has an end, and releases the track. */
void gt_track_finish(struct gt_track *track);

/* Tracks of one category by thread; a thread that has no slices gets none. */
struct gt_threads {
	struct gt_perfetto *perfetto;
	const char *category;
	const char *name;        /* NULL: the threads' own tracks, else further ones below them */
	struct gt_track *tracks; /* by row of threads */
};

/* Only one part may use the threads' own tracks. The texts are borrowed. */
void gt_threads_init(struct gt_threads *threads, struct gt_perfetto *perfetto, const char *category,
                     const char *name);

/* The track of a thread, started. The row must be one that gt_ids_has_thread. */
struct gt_track *gt_threads_get(struct gt_threads *threads, gt_id thread);

void gt_threads_finish(struct gt_threads *threads);

/*
 * As many tracks of one name as slices that overlap need; viewers merge them. Slices come in
 * order of their start, or in order of their end, and do not stay open.
 */
struct gt_lanes {
	struct gt_perfetto *perfetto;
	uint64_t parent_uuid; /* 0: below nothing */
	const char *category;
	const char *name;
	gt_array(struct gt_track) rows;
	struct gt_minima ends; /* when each is free again, ns */
};

/* No other lanes may have both this parent and this name. The texts are borrowed. */
void gt_lanes_init(struct gt_lanes *lanes, struct gt_perfetto *perfetto, uint64_t parent_uuid,
                   const char *category, const char *name);
void gt_lanes_put(struct gt_lanes *lanes, const struct gt_slice *slice);
void gt_lanes_finish(struct gt_lanes *lanes);

/*
 * As many tracks of one name as are needed for slices that lie in one another, or do not: those
 * that do share one. Slices come in order of their start, of equals the outer one first, and may
 * stay open.
 */
struct gt_stacks {
	struct gt_perfetto *perfetto;
	uint64_t parent_uuid; /* 0: below nothing */
	const char *category;
	const char *name;
	uint32_t number; /* tells stacks of one parent and name apart; 0 by itself */
	gt_array(struct gt_track) rows;
};

/* As for lanes. */
void gt_stacks_init(struct gt_stacks *stacks, struct gt_perfetto *perfetto, uint64_t parent_uuid,
                    const char *category, const char *name);

/* False: more slices overlap than there may be tracks, and this one is left out. */
bool gt_stacks_put(struct gt_stacks *stacks, const struct gt_slice *slice);
void gt_stacks_finish(struct gt_stacks *stacks);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SNAPSHOT_MEMORY_SEGMENTS_H
#define GT_INJECTION_SNAPSHOT_MEMORY_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_bundle_writer;
struct gt_capture_lists;
struct gt_capture_objects;
struct gt_error;
struct gt_reach;
struct gt_reached;

/*
 * Memory that copies and fills reach and nobody is known to have asked for: it may be where a
 * module has its variables, which the driver may tell of as one. Its earlier contents are held
 * until a launch tells of the module: then each variable becomes memory of its own. Contents of a
 * bounded size, in memory of its own; for one thread.
 */

enum {
	GT_SEGMENTS_MOST = 64,
	GT_SEGMENTS_BYTES = 16 << 20, /* of all of them */
};

struct gt_segment {
	uint32_t number; /* of the reach's memory */
	uint64_t address;
	uint64_t size;
	uint8_t *before; /* its contents */
	bool split;      /* its number is that of the first variable in it */
};

struct gt_segments {
	bool wanted;
	uint8_t *room;
	size_t used;
	uint32_t count;
	struct gt_segment list[GT_SEGMENTS_MOST];
};

/* Room for what is in memory, which the caller fills; NULL: it is not held. */
uint8_t *gt_segments_add(struct gt_segments *segments, uint32_t number,
                         const struct gt_reached *memory);

/* Forgets all, and gives its memory back. */
void gt_segments_empty(struct gt_segments *segments);

/*
 * A variable: 1, it is memory of the reach now; 0, it is new, with its contents before where it is
 * of a segment. Negative with a sentence where it was reached as other memory.
 */
int gt_segments_take(struct gt_segments *segments, struct gt_reach *reach,
                     struct gt_capture_objects *objects, struct gt_bundle_writer *writer,
                     struct gt_reached *variable, struct gt_error *err);

/*
 * After the variables of a module: what steps before used of segments is of these, and pointers and
 * handles that were found in segments are, where they lie in them.
 */
int gt_segments_settle(const struct gt_segments *segments, struct gt_reach *reach,
                       struct gt_capture_objects *objects, const struct gt_capture_lists *lists,
                       struct gt_error *err);

/* After all modules: pointers and handles that lie in no variable are forgotten. */
void gt_segments_end(struct gt_reach *reach, struct gt_capture_objects *objects);

#endif

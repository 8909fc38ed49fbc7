/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_TIMELINE_MEMORY_PARTS_H
#define GT_EXPORTERS_TIMELINE_MEMORY_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "exporters/timeline/memory_shown.h"
#include "model/memory/use.h"
#include "model/view/view.h"

/*
 * Where each step of memory in use goes: the group and the lines of what has it. For
 * exporters/timeline/memory_shown.c alone.
 */

/* Where the steps of a holder go. */
struct gt_memory_part {
	uint32_t group;
	uint32_t total; /* lines; GT_NONE: none */
	uint32_t line;
};

struct gt_memory_maker {
	struct gt_memory_shown *shown;
	const struct gt_view *view;
	const struct gt_trace *trace;
	struct gt_memory_use use;
	struct gt_index *groups;
	struct gt_memory_part *parts;    /* by holder */
	struct gt_memory_in_use *in_use; /* by group, as of now */
	uint64_t *line_bytes;            /* by line that is no total, as of now */
	bool *peak_marked;               /* by group */
	bool *allocations;               /* by row: it has marks */
	bool *blocks;
	size_t next_call; /* of memory_calls, to be looked at for failures */
};

/* Both return a number: of a new line, and of the group, which is made where there is none. */
uint32_t gt_memory_add_line(struct gt_memory_shown *shown, const struct gt_memory_line *line);
uint32_t gt_memory_maker_group(struct gt_memory_maker *maker, struct gt_memory_group group);

struct gt_memory_group gt_memory_group_of_pool(const struct gt_trace *trace, gt_id row);

/* For each holder of the memory in use; groups and lines are made for them. */
void gt_memory_find_parts(struct gt_memory_maker *maker);

/* Groups are all known before the first step: what is known of each lies in arrays. */
void gt_memory_find_other_groups(struct gt_memory_maker *maker);

/* The group that a call is about which failed. */
uint32_t gt_memory_group_of_call(struct gt_memory_maker *maker, const struct gt_memory_call *call);

/* Whether a call that was to make or free memory failed. */
bool gt_memory_has_failed(const struct gt_trace *trace, const struct gt_memory_call *call);

/* The samples of what a pool says of itself; NULL: it is about no pool, or has none. */
const struct gt_series *gt_memory_series_of(const struct gt_trace *trace,
                                            const struct gt_counter *counter);

#endif

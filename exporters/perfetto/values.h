/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_PERFETTO_VALUES_H
#define GT_EXPORTERS_PERFETTO_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "exporters/perfetto/wire/sequence.h"

struct gt_perfetto;

/*
 * A value over time that is no GPU's, on a track of its own below a process or another track. It
 * holds from its time to the next one, in readers of all versions.
 */

enum gt_value_unit {
	GT_VALUE_UNIT_TEXT = 0, /* as unit_text says */
	GT_VALUE_UNIT_COUNT = 2,
	GT_VALUE_UNIT_BYTES = 3,
};

/* Description of a value track. Texts are borrowed until gt_values_start. */
struct gt_value_track {
	uint64_t parent_uuid;
	const char *kind; /* with number it tells the tracks of one parent apart */
	uint64_t number;
	const char *name;
	enum gt_value_unit unit;
	const char *unit_text;   /* "": none */
	const char *share_scale; /* NULL, or what tracks of the process have that are drawn to one
	                            scale */
	int32_t rank;            /* among the tracks of the parent, where it is a group */
};

struct gt_values {
	struct gt_perfetto *perfetto;
	struct gt_sequence sequence;
	uint32_t event_tag;
};

void gt_values_start(struct gt_values *values, struct gt_perfetto *perfetto,
                     const struct gt_value_track *track);

/* Values come in order of time. False: it could not be placed in time, and counts as skipped. */
bool gt_values_put(struct gt_values *values, gt_time time_ns, double value);

#endif

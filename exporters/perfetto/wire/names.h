/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_PERFETTO_WIRE_NAMES_H
#define GT_EXPORTERS_PERFETTO_WIRE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "model/trace.h"

struct gt_strings;

/*
 * Numbers, from 1, for the texts that slices of the host use: their names, those of annotations
 * and of values. They are the same in the whole file and for all parts; a track says each text
 * when it first uses it.
 */
struct gt_names {
	const struct gt_trace *trace;
	struct gt_strings *texts; /* the id of a text is its number */
	uint32_t *by_text;        /* by gt_string; 0: not asked for yet */
	size_t limit;
};

void gt_names_init(struct gt_names *names, const struct gt_trace *trace);
void gt_names_release(struct gt_names *names);

/* The number of a text, which is copied; one that is empty reads "(no name)". */
uint32_t gt_names_add(struct gt_names *names, const char *text);

/* The same for a text of the trace, without looking at it a second time. */
uint32_t gt_names_of(struct gt_names *names, gt_string text);

/* Lives as long as names. */
const char *gt_names_text(const struct gt_names *names, uint32_t number);

#endif

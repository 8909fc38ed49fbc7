/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_PERFETTO_WIRE_TEXTS_H
#define GT_EXPORTERS_PERFETTO_WIRE_TEXTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "model/trace.h"

/* Small numbers, from 1, for the texts of a trace that are used as names somewhere. */
struct gt_texts {
	uint32_t *numbers; /* by gt_string; 0: not used yet */
	size_t limit;
	gt_array(gt_string) used; /* row + 1 is the number */
};

void gt_texts_init(struct gt_texts *texts, const struct gt_trace *trace);
void gt_texts_release(struct gt_texts *texts);

/* The number of a text, a new one when it has none yet. */
uint32_t gt_texts_add(struct gt_texts *texts, gt_string text);

/* A name for something whose own is not known: a slice without a name is not drawn. */
static inline const char *gt_name_or(const char *name, const char *instead)
{
	return *name ? name : instead;
}

#endif

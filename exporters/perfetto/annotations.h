/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_PERFETTO_ANNOTATIONS_H
#define GT_EXPORTERS_PERFETTO_ANNOTATIONS_H

#include <stddef.h>
#include <stdint.h>

#include "exporters/perfetto/tracks.h"

struct gt_names;

/* The values beside a slice while they are being collected. The caller has room for all of them. */
struct gt_annotations {
	struct gt_names *names;
	struct gt_annotation *rows;
	size_t count;
};

void gt_annotations_add_number(struct gt_annotations *list, const char *name, int64_t number);

/* Bytes or a count; what is more than fits is the most that does. */
void gt_annotations_add_size(struct gt_annotations *list, const char *name, uint64_t size);

/* An address or a handle; 0 is none and is left out. */
void gt_annotations_add_address(struct gt_annotations *list, const char *name, uint64_t address);

/* A text; an empty one is left out. */
void gt_annotations_add_text(struct gt_annotations *list, const char *name, const char *text);

/* The same for a text of the trace. */
void gt_annotations_add_string(struct gt_annotations *list, const char *name, gt_string text);

#endif

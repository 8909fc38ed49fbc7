/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_PERFETTO_RANGE_SLICES_H
#define GT_EXPORTERS_PERFETTO_RANGE_SLICES_H

#include <stddef.h>
#include <stdint.h>

#include "exporters/perfetto/tracks.h"

struct gt_perfetto;

/*
 * Ranges and marks of NVTX as slices of the host, for the parts that show them, with what is said
 * beside them: "domain", "category", "payload", "color" as #rrggbb, and "data", extended payloads.
 * An operation of PyTorch, each of which has numbers of its own in its text, is called as the
 * operation is, so that those of one name can be counted together; "text" is then all of it.
 */
enum { GT_RANGE_ANNOTATIONS = 6 };

/* The name of the slice of a range, as gt_names_of gives it. */
uint32_t gt_range_slice_name(struct gt_perfetto *perfetto, const struct gt_range *range);

/* annotations: room for so many; they live as long as the slice is used. */
struct gt_slice gt_range_slice(struct gt_perfetto *perfetto, const struct gt_range *range,
                               struct gt_annotation *annotations);
struct gt_slice gt_mark_slice(struct gt_perfetto *perfetto, const struct gt_mark *mark,
                              struct gt_annotation *annotations);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_PERFETTO_SLICES_H
#define GT_EXPORTERS_PERFETTO_SLICES_H

#include <stddef.h>
#include <stdint.h>

#include <perfetto.pb-c.h>

#include "model/trace.h"

struct gt_perfetto;
struct gt_sequence;

/*
 * Slices on one track of the host, a sequence for each track: every begin needs its end, and they
 * must nest, or Perfetto cuts them short.
 */

/*
 * Starts the sequence on a track: its slices have this category, their annotations the numbers
 * from 1 for these names.
 */
void gt_slices_start(struct gt_perfetto *perfetto, struct gt_sequence *sequence,
                     uint64_t track_uuid, const char *category, const char *const *annotations,
                     size_t annotation_count);

void gt_slices_intern_name(struct gt_sequence *sequence, uint64_t iid, const char *name);

/* A text that annotations can have for a value. */
void gt_slices_intern_text(struct gt_sequence *sequence, uint64_t iid, const char *text);

/* The begin of a slice, to be put with gt_sequence_put. Returns how many of the bytes it took. */
enum { GT_SLICE_BEGIN_MAX = 128 };
size_t gt_slices_pack_begin(uint64_t name_iid, Perfetto__DebugAnnotation *annotation,
                            uint8_t bytes[GT_SLICE_BEGIN_MAX]);

void gt_slices_end(struct gt_sequence *sequence, gt_time time_ns);

/* The field of a packet that slices are in. */
uint32_t gt_slices_tag(void);

#endif

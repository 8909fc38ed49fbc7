/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_WORK_SYNC_H
#define GT_MODEL_WORK_SYNC_H

#include <stdbool.h>
#include <stdint.h>

#include "model/trace.h"

/* Values of the column "kind" of syncs and queries; the numbers are those of captures. */
enum gt_sync_kind {
#define SYNC_KIND(name, number, words, waits_host) GT_SYNC_##name = (number),
#include "format/kinds/sync.def"
};

/* Whether the host may wait in such a call. */
bool gt_sync_waits_host(uint32_t kind);

/*
 * The stream that a call waits for, or is about: of a wait for an event the one that its record was
 * made on, also where a filter took the record out. sync: a row of the trace's syncs. GT_NONE: all
 * streams of the context, or not known.
 */
gt_id gt_sync_stream(const struct gt_trace *trace, const struct gt_sync *sync);

#endif

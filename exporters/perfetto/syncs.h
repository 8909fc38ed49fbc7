/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_PERFETTO_SYNCS_H
#define GT_EXPORTERS_PERFETTO_SYNCS_H

#include <stddef.h>

#include "exporters/perfetto/tracks.h"

struct gt_perfetto;
struct gt_sync;

/*
 * Annotations of a row of syncs beside its slice: "sync" (its kind), "stream", "event",
 * "event_name", "record" (which one of the event), "record_stream" (that the record was made on),
 * "address" and "value"; only what is known. annotations: room for so many.
 */
enum { GT_SYNC_ANNOTATIONS = 8 };
size_t gt_syncs_annotate(struct gt_perfetto *perfetto, const struct gt_sync *sync,
                         struct gt_annotation *annotations);

#endif

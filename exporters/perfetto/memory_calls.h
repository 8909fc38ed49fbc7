/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_PERFETTO_MEMORY_CALLS_H
#define GT_EXPORTERS_PERFETTO_MEMORY_CALLS_H

#include <stddef.h>

#include "exporters/perfetto/tracks.h"

struct gt_memory_call;
struct gt_perfetto;

/*
 * Annotations of a row of memory_calls beside the slice of its call: "memory" (its kind), "bytes",
 * "address" and "handle"; only what is known. Addresses and handles, which Perfetto keeps apart for
 * each slice, only where there are few such calls. annotations: room for so many.
 */
enum { GT_MEMORY_CALL_ANNOTATIONS = 4, GT_MEMORY_CALLS_WITH_ADDRESS = 100000 };
size_t gt_memory_call_annotate(struct gt_perfetto *perfetto, const struct gt_memory_call *call,
                               struct gt_annotation *annotations);

#endif

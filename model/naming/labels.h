/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_NAMING_LABELS_H
#define GT_MODEL_NAMING_LABELS_H

#include <stddef.h>

#include "model/trace.h"

/*
 * Readable labels of things that have a number, and a name where the program gave them one
 * through NVTX. The rows must be there.
 */
enum { GT_LABEL_BYTES = 192 };

/* "7", or "7: copies". */
void gt_stream_label(const struct gt_trace *trace, gt_id stream, char *text, size_t size);

/* "NVIDIA H200", or "NVIDIA H200 (trainer)". */
void gt_device_label(const struct gt_trace *trace, gt_id device, char *text, size_t size);

/* "2", or "2: decoder". */
void gt_context_label(const struct gt_trace *trace, gt_id context, char *text, size_t size);

/* "graph 3"; "graph exec 5" where its graph is not known; "graph" where the row is not there. */
void gt_graph_exec_label(const struct gt_trace *trace, gt_id exec, char *text, size_t size);

#endif

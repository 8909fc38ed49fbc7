/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SNAPSHOT_GRAPHS_ASKING_H
#define GT_INJECTION_SNAPSHOT_GRAPHS_ASKING_H

#include <stdbool.h>

#include <cuda.h>

#include "injection/process/thread.h"
#include "injection/snapshot/graphs/kept.h"

/*
 * Asking the driver of graphs, on the thread of the program that changed one, with the turn; and
 * the reason where one cannot be captured.
 */

struct gt_graph_asking {
	struct gt_set_aside calls;
	CUstreamCaptureMode mode;
};

/* The driver is opened at the first use; false, with a sentence: it cannot be asked. */
bool gt_graph_asking_open(struct gt_kept_graphs *kept, struct gt_error *err);

/* Nobody hears of it, and what another thread captures forbids nothing. */
void gt_graph_asking_begin(const struct gt_kept_graphs *kept, struct gt_graph_asking *asking);
void gt_graph_asking_end(const struct gt_kept_graphs *kept, struct gt_graph_asking *asking);

/* Its launches are not captured from here on. */
void gt_kept_graph_set_reason(struct gt_kept_graph *graph, const char *reason);

#endif

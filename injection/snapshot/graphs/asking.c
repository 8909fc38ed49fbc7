/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/graphs/asking.h"

#include <stdio.h>

#include "injection/snapshot/graphs/nodes.h"

void gt_graph_asking_begin(const struct gt_kept_graphs *kept, struct gt_graph_asking *asking)
{
	asking->mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	gt_own_set_aside(&asking->calls);
	(void)kept->driver.exchange_capture(&asking->mode);
}

void gt_graph_asking_end(const struct gt_kept_graphs *kept, struct gt_graph_asking *asking)
{
	(void)kept->driver.exchange_capture(&asking->mode);
	gt_own_take_up(&asking->calls);
}

bool gt_graph_asking_open(struct gt_kept_graphs *kept, struct gt_error *err)
{
	if (!kept->driver_open)
		kept->driver_open = gt_capture_driver_open(&kept->driver, err) == 0;
	kept->reader->driver = &kept->driver;
	return kept->driver_open;
}

void gt_kept_graph_set_reason(struct gt_kept_graph *graph, const char *reason)
{
	(void)snprintf(graph->reason, sizeof(graph->reason), "%s", reason);
}

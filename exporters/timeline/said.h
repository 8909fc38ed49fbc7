/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_TIMELINE_SAID_H
#define GT_EXPORTERS_TIMELINE_SAID_H

#include "model/trace.h"

/* Attributes that a program gives a range or mark of NVTX besides its name. */
struct gt_said {
	gt_id domain;
	gt_string category;
	gt_string data;
	gt_wide payload;
	gt_count payload_type;
	gt_count color;
};

static inline struct gt_said gt_said_of_range(const struct gt_range *range)
{
	return (struct gt_said){range->domain,  range->category,     range->data,
	                        range->payload, range->payload_type, range->color};
}

static inline struct gt_said gt_said_of_mark(const struct gt_mark *mark)
{
	return (struct gt_said){mark->domain,  mark->category,     mark->data,
	                        mark->payload, mark->payload_type, mark->color};
}

#endif

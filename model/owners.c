/* SPDX-License-Identifier: Apache-2.0 */
#include "model/owners.h"

struct gt_owner gt_owner_of_call(const struct gt_trace *trace, gt_id api_call)
{
	struct gt_owner owner = {.range = GT_NONE};

	if (api_call >= trace->api_calls.count)
		return owner;
	owner.at_ns = trace->api_calls.rows[api_call].start_ns;
	if (trace->api_calls.rows[api_call].range < trace->ranges.count)
		owner.range = trace->api_calls.rows[api_call].range;
	return owner;
}

struct gt_owners gt_owners_of(const struct gt_trace *trace, enum gt_activity_type type, gt_id row)
{
	gt_id launch = GT_NONE;

	switch (type) {
	case GT_ACTIVITY_KERNEL:
		launch = trace->kernels.rows[row].api_call;
		break;
	case GT_ACTIVITY_COPY:
		launch = trace->copies.rows[row].api_call;
		break;
	case GT_ACTIVITY_FILL:
		launch = trace->fills.rows[row].api_call;
		break;
	}
	return (struct gt_owners){
		.launched = gt_owner_of_call(trace, launch),
		.captured = {.range = GT_NONE},
	};
}

struct gt_owner gt_owner_of(const struct gt_trace *trace, enum gt_activity_type type, gt_id row)
{
	const struct gt_owners owners = gt_owners_of(trace, type, row);

	return owners.captured.range != GT_NONE ? owners.captured : owners.launched;
}

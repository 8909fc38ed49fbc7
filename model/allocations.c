/* SPDX-License-Identifier: Apache-2.0 */
#include "model/allocations.h"

#include "model/whole.h"

gt_time gt_memory_begin(const struct gt_trace *trace, const struct gt_allocation *allocation)
{
	const struct gt_trace *whole = gt_whole_of(trace);
	const gt_id row = gt_whole_origin(trace, GT_TABLE_allocations,
	                                  (gt_id)(allocation - trace->allocations.rows));
	const gt_id made_by = whole->allocations.rows[row].made_by;
	const struct gt_memory_call *call =
		made_by < whole->memory_calls.count ? &whole->memory_calls.rows[made_by] : NULL;

	return call && call->end_ns > allocation->start_ns ? call->end_ns : allocation->start_ns;
}

bool gt_memory_is_there(const struct gt_trace *trace, const struct gt_allocation *allocation,
                        gt_time at_ns)
{
	return gt_memory_begin(trace, allocation) <= at_ns &&
	       (allocation->flags & GT_UNFINISHED || allocation->end_ns > at_ns);
}

bool gt_memory_block_is_out(const struct gt_pool_block *block, gt_time at_ns)
{
	return block->start_ns <= at_ns && (block->flags & GT_UNFINISHED || block->end_ns > at_ns);
}

gt_size gt_memory_of_rings(const struct gt_trace *trace, gt_id process, gt_id device, gt_time at_ns)
{
	gt_size bytes = 0;

	gt_array_each(const struct gt_device_ring, ring, &trace->device_rings)
		if (ring->context < trace->contexts.count &&
		    trace->contexts.rows[ring->context].device == device &&
		    (process == GT_NONE || ring->process == process) && ring->made_ns &&
		    ring->made_ns <= at_ns && (!ring->gone_ns || ring->gone_ns > at_ns))
			bytes += ring->bytes;
	return bytes;
}

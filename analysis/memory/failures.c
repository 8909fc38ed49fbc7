/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/memory/failures.h"

#include "analysis/memory/totals.h"
#include "model/kinds/memory.h"
#include "model/memory/use.h"
#include "model/view/view.h"

bool gt_memory_call_failed(const struct gt_memory_call *call)
{
	return call->result != 0 && !(call->flags & GT_UNFINISHED) &&
	       gt_memory_does(call->kind) == GT_MEMORY_MAKES;
}

/* As the call says, or its context. */
static gt_id device_of(const struct gt_trace *trace, const struct gt_memory_call *call)
{
	struct gt_allocation meant = {
		.device = call->place, .handle = call->handle, .kind = call->kind};

	if (meant.device == GT_NONE && call->context < trace->contexts.count)
		meant.device = trace->contexts.rows[call->context].device;
	return gt_memory_is_on_device(&meant) ? meant.device : GT_NONE;
}

/* Fills in what was there at those failures that are before a moment; the first that is not. */
static size_t fill_in(struct gt_memory_failures *failures, const struct gt_trace *trace,
                      size_t next, gt_time before_ns, const uint64_t *live)
{
	for (; next < failures->rows.count; next++) {
		struct gt_memory_failure *failure = &failures->rows.rows[next];

		if (trace->memory_calls.rows[failure->call].start_ns >= before_ns)
			break;
		if (failure->device < trace->devices.count)
			failure->live_bytes = live[failure->device];
	}
	return next;
}

/* In one walk for all. */
static void look_around(struct gt_memory_failures *failures, const struct gt_view *view)
{
	const struct gt_trace *trace = view->trace;
	uint64_t *live = gt_allocate_zeroed(trace->devices.count + 1, sizeof(*live));
	struct gt_memory_use use;
	struct gt_memory_step step;
	size_t next = 0;

	gt_memory_use_init(&use, view);
	while (gt_memory_use_next(&use, &step) == 1) {
		const struct gt_memory_holder *holder = &use.holders.rows[step.holder];

		next = fill_in(failures, trace, next, step.time_ns, live);
		if (holder->device < trace->devices.count && gt_memory_holder_is_on_device(holder))
			live[holder->device] += step.ends ? 0 - step.size_bytes : step.size_bytes;
	}
	(void)fill_in(failures, trace, next, INT64_MAX, live);
	gt_memory_use_release(&use);
	gt_array_free(live);
}

void gt_memory_failures_init(struct gt_memory_failures *failures, const struct gt_view *view)
{
	const struct gt_trace *trace = view->trace;

	*failures = (struct gt_memory_failures){0};
	for (size_t i = 0; i < trace->memory_calls.count; i++) {
		const struct gt_memory_call *call = &trace->memory_calls.rows[i];

		if (gt_memory_call_failed(call))
			*gt_array_push(&failures->rows) = (struct gt_memory_failure){
				.call = (gt_id)i, .device = device_of(trace, call)};
	}
	if (failures->rows.count)
		look_around(failures, view);
}

void gt_memory_failures_release(struct gt_memory_failures *failures)
{
	gt_array_release(&failures->rows);
}

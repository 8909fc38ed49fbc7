/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "collector/stage.h"
#include "model/known.h"

/*
 * Which kernels were captured with all that running them again needs, by process and CUPTI's
 * correlation id. The kernel ran once, as it would have; the time of the API call is no figure: it
 * lasts as long as the memory took to copy. No kernel of a sequence is told: its bundle tells them.
 */

static uint64_t number_of(uint32_t process, uint32_t correlation)
{
	return (uint64_t)process << 32 | correlation;
}

/*
 * All that was called meanwhile waited for memory to be copied; the first call began before the
 * capture did.
 */
static void mark_sequence(struct gt_trace *trace, const struct gt_captured_launch *sequence)
{
	gt_array_each(struct gt_api_call, call, &trace->api_calls)
		if ((call->start_ns >= sequence->start_ns || call->end_ns >= sequence->start_ns) &&
		    call->start_ns <= sequence->end_ns &&
		    gt_trace_process_of(trace, GT_TABLE_api_calls, call) == sequence->process)
			call->flags |= GT_PROFILED;
}

/* All kernels of a CUDA graph's launch have the number: the first of the name is as the others. */
static bool is_of(const struct gt_trace *trace, const struct gt_captured_launch *launch,
                  const struct gt_kernel *kernel)
{
	const char *node = gt_trace_text(trace, launch->node);

	return !*node ||
	       (launch->kernel == GT_NONE && kernel->shape < trace->launch_shapes.count &&
	        strcmp(node, gt_trace_text(trace, trace->launch_shapes.rows[kernel->shape].name)) ==
	                0);
}

static int run(struct gt_collection *collection, struct gt_error *err)
{
	struct gt_trace *trace = collection->trace;
	struct gt_known launches = {0};

	(void)err;
	for (size_t i = 0; i < trace->captured_launches.count; i++) {
		struct gt_captured_launch *launch = &trace->captured_launches.rows[i];
		const uint64_t number = number_of(launch->process, launch->correlation);

		launch->kernel = GT_NONE;
		if (*gt_trace_text(trace, launch->range)) {
			mark_sequence(trace, launch);
			continue;
		}
		if (launch->correlation == 0 || launch->number == 0)
			continue;
		if (gt_known_find(&launches, number) == GT_NONE)
			gt_known_add(&launches, number, (gt_id)i);
		if (launch->api_call < trace->api_calls.count)
			trace->api_calls.rows[launch->api_call].flags |= GT_PROFILED;
	}
	for (size_t i = 0; launches.count && i < trace->kernels.count; i++) {
		const struct gt_kernel *kernel = &trace->kernels.rows[i];
		const gt_id row = gt_known_find(
			&launches, number_of(gt_trace_process_of(trace, GT_TABLE_kernels, kernel),
		                             kernel->correlation));

		if (kernel->correlation && row != GT_NONE &&
		    is_of(trace, &trace->captured_launches.rows[row], kernel))
			trace->captured_launches.rows[row].kernel = (gt_id)i;
	}
	gt_known_release(&launches);
	return 0;
}

const struct gt_stage gt_stage_captured_launches = {
	.name = "captured_launches",
	.run = run,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "model/work/unmeasured.h"

#include "base/search.h"
#include "model/whole.h"
#include "model/work/intervals.h"
#include "model/work/timed.h"

/* From when the program was held up to when the launch's work had ended. */
static struct gt_interval stretch_of(const struct gt_trace *trace,
                                     const struct gt_profiled_launch *launch)
{
	struct gt_interval stretch = {launch->start_ns, launch->end_ns};
	const struct gt_kernel *kernel =
		launch->kernel < trace->kernels.count ? &trace->kernels.rows[launch->kernel] : NULL;

	if (!kernel || !gt_timed(GT_TIMES_ANY, kernel->flags, kernel->start_ns, kernel->end_ns))
		return stretch;
	if (kernel->start_ns < stretch.start_ns)
		stretch.start_ns = kernel->start_ns;
	if (kernel->end_ns > stretch.end_ns)
		stretch.end_ns = kernel->end_ns;
	return stretch;
}

/* Recording has no contexts of a process that used no GPU: its pauses say nothing of GPUs. */
static bool uses_gpus(const struct gt_trace *trace, gt_id process)
{
	gt_array_each(const struct gt_context, context, &trace->contexts)
		if (context->process == process)
			return true;
	return false;
}

/* Work that was launched in a pause has no row: until the first that has one nobody knows of it. */
static gt_time known_from(const struct gt_trace *trace, const struct gt_pause *pause)
{
	size_t row = gt_count_before(&trace->kernels, &pause->end_ns, gt_by_i64);

	for (; row < trace->kernels.count; row++) {
		const struct gt_kernel *kernel = &trace->kernels.rows[row];

		if (gt_trace_process_of(trace, GT_TABLE_kernels, kernel) == pause->process)
			return kernel->start_ns;
	}
	return pause->end_ns;
}

static void add_pauses(struct gt_unmeasured *unmeasured, const struct gt_trace *trace)
{
	gt_array_each(const struct gt_pause, pause, &trace->pauses)
		if (uses_gpus(trace, pause->process))
			*gt_array_push(&unmeasured->list) = (struct gt_interval){
				pause->start_ns,
				pause->resumed_by ? known_from(trace, pause) : pause->end_ns};
}

void gt_unmeasured_init(struct gt_unmeasured *unmeasured, const struct gt_trace *trace)
{
	const struct gt_trace *whole = gt_whole_of(trace);

	*unmeasured = (struct gt_unmeasured){0};
	gt_array_each(const struct gt_profiled_launch, profiled, &whole->profiled_launches)
		*gt_array_push(&unmeasured->list) = stretch_of(whole, profiled);
	gt_array_each(const struct gt_captured_launch, captured, &whole->captured_launches)
		*gt_array_push(&unmeasured->list) =
			(struct gt_interval){captured->start_ns, captured->end_ns};
	add_pauses(unmeasured, whole);
	unmeasured->list.count = gt_intervals_merge(unmeasured->list.rows, unmeasured->list.count);
}

void gt_unmeasured_release(struct gt_unmeasured *unmeasured)
{
	gt_array_release(&unmeasured->list);
}

const struct gt_interval *gt_unmeasured_next(const struct gt_unmeasured *unmeasured, size_t *next,
                                             gt_time until_ns)
{
	if (*next >= unmeasured->list.count || unmeasured->list.rows[*next].start_ns > until_ns)
		return NULL;
	return &unmeasured->list.rows[(*next)++];
}

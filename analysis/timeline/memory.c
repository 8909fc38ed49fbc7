/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/memory/totals.h"
#include "analysis/timeline/parts.h"
#include "model/memory/use.h"
#include "model/view/view.h"

/* Memory in use on each GPU, as report memory counts it: no byte twice. */

/* The row of devices that a step is on; GT_NONE: on none, or it is memory that is counted elsewhere.
 */
static gt_id device_of(const struct gt_memory_use *use, const struct gt_memory_step *step)
{
	const struct gt_memory_holder *holder = &use->holders.rows[step->holder];

	return gt_memory_holder_is_on_device(holder) ? holder->device : GT_NONE;
}

static void begin_curve(struct gt_timeline *timeline, gt_id device, uint64_t changes)
{
	const struct gt_view *view = timeline->view;
	struct gt_timeline_curve *curve = gt_array_push(&timeline->curves);

	*curve = (struct gt_timeline_curve){.device = device};
	gt_timeline_label_gpu(timeline, device, " memory", curve->label);
	gt_thinned_init(&curve->values, (struct gt_interval){view->start_ns, view->end_ns}, changes,
	                GT_TIMELINE_STRETCHES);
	gt_thinned_add(&curve->values, view->start_ns, 0);
}

/* A curve for each GPU with memory; by row of devices its number. The caller frees it. */
static size_t *begin_curves(struct gt_timeline *timeline, struct gt_memory_use *use)
{
	const size_t count = timeline->view->trace->devices.count;
	uint64_t *changes = gt_allocate_zeroed(count + 1, sizeof(*changes));
	size_t *curves = gt_allocate((count + 1) * sizeof(*curves));
	struct gt_memory_step step;

	while (gt_memory_use_next(use, &step) == 1)
		if (device_of(use, &step) < count)
			changes[device_of(use, &step)]++;
	gt_memory_use_rewind(use);
	for (gt_id i = 0; i < count; i++) {
		curves[i] = timeline->curves.count;
		if (changes[i] > 0 && timeline->curves.count < GT_TIMELINE_GPUS)
			begin_curve(timeline, i, changes[i] + 1);
		else
			curves[i] = SIZE_MAX;
	}
	gt_array_free(changes);
	return curves;
}

void gt_timeline_add_memory(struct gt_timeline *timeline)
{
	const size_t count = timeline->view->trace->devices.count;
	uint64_t *now = gt_allocate_zeroed(count + 1, sizeof(*now));
	struct gt_memory_use use;
	struct gt_memory_step step;
	size_t *curves;

	gt_memory_use_init(&use, timeline->view);
	curves = begin_curves(timeline, &use);
	while (gt_memory_use_next(&use, &step) == 1) {
		const gt_id device = device_of(&use, &step);

		if (device >= count || curves[device] == SIZE_MAX)
			continue;

		struct gt_timeline_curve *curve = &timeline->curves.rows[curves[device]];

		now[device] += step.ends ? 0 - step.size_bytes : step.size_bytes;
		if ((double)now[device] > curve->peak)
			curve->peak = (double)now[device];
		gt_thinned_add(&curve->values, step.time_ns, (double)now[device]);
	}
	gt_array_each(struct gt_timeline_curve, curve, &timeline->curves)
		gt_thinned_finish(&curve->values);
	gt_memory_use_release(&use);
	gt_array_free(curves);
	gt_array_free(now);
}

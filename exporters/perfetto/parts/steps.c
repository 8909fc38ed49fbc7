/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "analysis/ranges/steps/steps.h"
#include "base/array.h"
#include "exporters/perfetto/tracks.h"
#include "exporters/perfetto/writer.h"

/* Steps of each process, as report steps finds and numbers them, on a track of their own. */

static void put_step(struct gt_lanes *lanes, const struct gt_step *step, int64_t median_ns)
{
	struct gt_names *names = &lanes->perfetto->names;
	struct gt_slice slice = {.start_ns = step->start_ns, .end_ns = step->end_ns};
	struct gt_annotation annotations[] = {
		{.type = GT_VALUE_NUMBER, .name = gt_names_add(names, "kernels")},
		{.type = GT_VALUE_NUMBER, .name = gt_names_add(names, "busy_ns")},
		{.type = GT_VALUE_NUMBER, .name = gt_names_add(names, "quiet_ns")},
		{.type = GT_VALUE_NUMBER, .name = gt_names_add(names, "median_ns")},
	};
	char name[48];

	annotations[0].number = (int64_t)step->kernels;
	annotations[1].number = (int64_t)step->busy_ns;
	annotations[2].number = (int64_t)step->quiet_ns;
	annotations[3].number = median_ns;
	snprintf(name, sizeof(name), "step %llu%s", (unsigned long long)step->number,
	         step->range == GT_NONE ? " (guessed)" : "");
	slice.name = gt_names_add(names, name);
	slice.annotations = annotations;
	slice.annotation_count = GT_COUNT_OF(annotations);
	gt_lanes_put(lanes, &slice);
}

static void put_steps(struct gt_perfetto *perfetto, const struct gt_steps *steps)
{
	gt_array_each(const struct gt_step_group, group, &steps->groups) {
		const struct gt_step *first = &steps->rows.rows[group->first];
		struct gt_lanes lanes;

		if (first->process >= perfetto->trace->processes.count)
			continue;
		gt_lanes_init(&lanes, perfetto, perfetto->ids.process_uuids[first->process], "step",
		              "Steps");
		for (size_t i = 0; i < group->count; i++)
			if (gt_ids_time_is_sound(first[i].start_ns))
				put_step(&lanes, &first[i], group->wall.spread.median);
		gt_lanes_finish(&lanes);
	}
}

void gt_perfetto_write_steps(struct gt_perfetto *perfetto)
{
	struct gt_steps steps;

	if (perfetto->steps) {
		put_steps(perfetto, perfetto->steps);
		return;
	}
	gt_steps_init(&steps, perfetto->view);
	put_steps(perfetto, &steps);
	gt_steps_release(&steps);
}

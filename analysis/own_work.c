/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/own_work.h"

#include "model/activity.h"
#include "model/index.h"
#include "model/whole.h"

struct key {
	gt_id process;
	gt_id device;
};

static void find_places(struct gt_own_work *work, const struct gt_trace *trace)
{
	struct gt_index *index = gt_index_new(sizeof(struct key));

	for (size_t i = 0; i < trace->contexts.count; i++) {
		const struct gt_context *context = &trace->contexts.rows[i];
		const struct key key = {context->process, context->device};

		work->of_context[i] = (gt_id)gt_index_add(index, &key);
		if (work->of_context[i] == work->list.count)
			*gt_array_push(&work->list) = (struct gt_own_place){
				.process = context->process,
				.device = context->device,
			};
	}
	gt_index_free(index);
}

void gt_own_work_init(struct gt_own_work *work, const struct gt_trace *trace)
{
	const struct gt_trace *whole = gt_whole_of(trace);
	struct gt_activity_walk walk;
	struct gt_activity activity;

	*work = (struct gt_own_work){
		.of_context = gt_allocate(trace->contexts.count * sizeof(*work->of_context)),
	};
	find_places(work, trace);
	gt_activity_walk_init(&walk, whole, GT_WORK_ALL);
	while (gt_activity_next(&walk, &activity)) {
		const gt_id stream = gt_activity_stream(whole, &activity);
		const gt_id context =
			stream < whole->streams.count
				? gt_whole_shown(trace, GT_TABLE_contexts,
		                                 whole->streams.rows[stream].context)
				: GT_NONE;

		if (gt_activity_is_work(activity.type) && context < trace->contexts.count)
			gt_covered_add(&work->list.rows[work->of_context[context]].covered,
			               (struct gt_interval){activity.start_ns, activity.end_ns},
			               activity.api_call);
	}
}

void gt_own_work_release(struct gt_own_work *work)
{
	gt_array_each(struct gt_own_place, place, &work->list)
		gt_covered_release(&place->covered);
	gt_array_release(&work->list);
	gt_array_free(work->of_context);
	*work = (struct gt_own_work){0};
}

const struct gt_covered *gt_own_work_at(const struct gt_own_work *work, gt_id context,
                                        gt_id process, struct gt_interval when)
{
	const struct gt_covered *least = NULL;
	uint64_t least_ns = UINT64_MAX;

	if (context != GT_NONE)
		return &work->list.rows[work->of_context[context]].covered;
	gt_array_each(const struct gt_own_place, place, &work->list) {
		const uint64_t ns =
			place->process == process ? gt_covered_within(&place->covered, when) : 0;

		if (place->process != process || ns >= least_ns)
			continue;
		least = &place->covered;
		least_ns = ns;
	}
	return least;
}

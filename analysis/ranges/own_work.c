/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ranges/own_work.h"

#include "model/index.h"
#include "model/whole.h"
#include "model/work/activity.h"

struct key {
	gt_id process;
	gt_id device;
};

/* By context of all that happened: the row of list. The caller frees it with gt_array_free. */
static gt_id *find_places(struct gt_own_work *work, const struct gt_trace *trace)
{
	const struct gt_trace *whole = gt_whole_of(trace);
	gt_id *places = gt_allocate(whole->contexts.count * sizeof(*places));
	struct gt_index *index = gt_index_new(sizeof(struct key));

	for (gt_id i = 0; i < whole->contexts.count; i++) {
		const struct gt_context *context = &whole->contexts.rows[i];
		const struct key key = {context->process, context->device};
		const gt_id shown = gt_whole_shown(trace, GT_TABLE_contexts, i);

		places[i] = (gt_id)gt_index_add(index, &key);
		if (places[i] == work->list.count)
			*gt_array_push(&work->list) = (struct gt_own_place){
				.process =
					gt_whole_shown(trace, GT_TABLE_processes, context->process),
			};
		if (shown < trace->contexts.count)
			work->of_context[shown] = places[i];
	}
	gt_index_free(index);
	return places;
}

void gt_own_work_init(struct gt_own_work *work, const struct gt_trace *trace)
{
	const struct gt_trace *whole = gt_whole_of(trace);
	struct gt_activity_walk walk;
	struct gt_activity activity;
	gt_id *places;

	*work = (struct gt_own_work){
		.of_context = gt_allocate(trace->contexts.count * sizeof(*work->of_context)),
	};
	places = find_places(work, trace);
	gt_activity_walk_init(&walk, whole, GT_WORK_BUSY);
	while (gt_activity_next(&walk, &activity)) {
		const gt_id stream = gt_activity_stream(whole, &activity);
		const gt_id context = stream < whole->streams.count
		                              ? whole->streams.rows[stream].context
		                              : GT_NONE;

		if (gt_activity_is_work(activity.type) && context < whole->contexts.count)
			gt_covered_add(&work->list.rows[places[context]].covered,
			               (struct gt_interval){activity.start_ns, activity.end_ns},
			               GT_NOT_ASKED);
	}
	gt_array_free(places);
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
	uint64_t least_ns = 0;

	if (context != GT_NONE)
		return &work->list.rows[work->of_context[context]].covered;
	gt_array_each(const struct gt_own_place, place, &work->list) {
		uint64_t ns;

		if (process == GT_NONE || place->process != process)
			continue;
		ns = gt_covered_within(&place->covered, when);
		if (least && ns >= least_ns)
			continue;
		least = &place->covered;
		least_ns = ns;
	}
	return least;
}

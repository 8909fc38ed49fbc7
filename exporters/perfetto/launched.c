/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/perfetto/launched.h"

#include <string.h>

#include "base/array.h"
#include "exporters/perfetto/ids.h"

/* The call that the activity's arrow comes from, GT_NONE for no arrow. */
static gt_id call_of(const struct gt_ids *ids, size_t number)
{
	const struct gt_trace *trace = ids->trace;
	const struct gt_activity activity = gt_ids_activity_at(ids, number);
	gt_id thread;

	if (!activity.placed || activity.api_call >= trace->api_calls.count)
		return GT_NONE;
	thread = trace->api_calls.rows[activity.api_call].thread;
	if (thread >= trace->threads.count ||
	    trace->threads.rows[thread].process != activity.process)
		return GT_NONE;
	return activity.api_call;
}

/* A counting sort: count per call, sum up to the ends, then fill from the back. */
void gt_launched_init(struct gt_launched *launched, const struct gt_ids *ids)
{
	const size_t calls = ids->trace->api_calls.count;
	const size_t activities = gt_ids_activity_count(ids);

	launched->first = gt_allocate((calls + 1) * sizeof(*launched->first));
	launched->activities = gt_allocate(activities * sizeof(*launched->activities));
	memset(launched->first, 0, (calls + 1) * sizeof(*launched->first));

	for (size_t i = 0; i < activities; i++) {
		const gt_id call = call_of(ids, i);

		if (call != GT_NONE)
			launched->first[call]++;
	}
	for (size_t i = 0; i < calls; i++)
		launched->first[i + 1] += launched->first[i];
	for (size_t i = activities; i-- > 0;) {
		const gt_id call = call_of(ids, i);

		if (call != GT_NONE)
			launched->activities[--launched->first[call]] = (uint32_t)i;
	}
}

void gt_launched_release(struct gt_launched *launched)
{
	gt_array_free(launched->first);
	gt_array_free(launched->activities);
	*launched = (struct gt_launched){0};
}

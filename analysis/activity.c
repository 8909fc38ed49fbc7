/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/activity.h"

/* Each finds the first row of its table from row on that has times; false at the table's end. */
static bool find_kernel(const struct gt_trace *trace, size_t row, struct gt_activity *activity)
{
	for (; row < trace->kernels.count; row++) {
		const struct gt_kernel *kernel = &trace->kernels.rows[row];

		if (gt_timed(kernel->flags, kernel->start_ns, kernel->end_ns)) {
			*activity = (struct gt_activity){
				kernel->start_ns, kernel->end_ns, GT_ACTIVITY_KERNEL,
				(gt_id)row,       kernel->device, kernel->api_call,
			};
			return true;
		}
	}
	return false;
}

static bool find_copy(const struct gt_trace *trace, size_t row, struct gt_activity *activity)
{
	for (; row < trace->copies.count; row++) {
		const struct gt_copy *copy = &trace->copies.rows[row];

		if (gt_timed(copy->flags, copy->start_ns, copy->end_ns)) {
			*activity = (struct gt_activity){
				copy->start_ns, copy->end_ns, GT_ACTIVITY_COPY,
				(gt_id)row,     copy->device, copy->api_call,
			};
			return true;
		}
	}
	return false;
}

static bool find_fill(const struct gt_trace *trace, size_t row, struct gt_activity *activity)
{
	for (; row < trace->fills.count; row++) {
		const struct gt_fill *fill = &trace->fills.rows[row];

		if (gt_timed(fill->flags, fill->start_ns, fill->end_ns)) {
			*activity = (struct gt_activity){
				fill->start_ns, fill->end_ns, GT_ACTIVITY_FILL,
				(gt_id)row,     fill->device, fill->api_call,
			};
			return true;
		}
	}
	return false;
}

static void move_head(struct gt_activity_walk *walk, enum gt_activity_type type, size_t row)
{
	struct gt_activity *head = &walk->heads[type];

	switch (type) {
	case GT_ACTIVITY_KERNEL:
		walk->ended[type] = !find_kernel(walk->trace, row, head);
		break;
	case GT_ACTIVITY_COPY:
		walk->ended[type] = !find_copy(walk->trace, row, head);
		break;
	case GT_ACTIVITY_FILL:
		walk->ended[type] = !find_fill(walk->trace, row, head);
		break;
	}
}

void gt_activity_walk_init(struct gt_activity_walk *walk, const struct gt_trace *trace)
{
	*walk = (struct gt_activity_walk){.trace = trace};
	move_head(walk, GT_ACTIVITY_KERNEL, 0);
	move_head(walk, GT_ACTIVITY_COPY, 0);
	move_head(walk, GT_ACTIVITY_FILL, 0);
}

int gt_activity_next(struct gt_activity_walk *walk, struct gt_activity *activity)
{
	const struct gt_activity *earliest = NULL;

	for (size_t i = 0; i < sizeof(walk->heads) / sizeof(walk->heads[0]); i++)
		if (!walk->ended[i] && (!earliest || walk->heads[i].start_ns < earliest->start_ns))
			earliest = &walk->heads[i];
	if (!earliest)
		return 0;
	*activity = *earliest;
	move_head(walk, activity->type, (size_t)activity->row + 1);
	return 1;
}

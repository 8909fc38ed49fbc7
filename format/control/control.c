/* SPDX-License-Identifier: Apache-2.0 */
#include "format/control/control.h"

uint64_t gt_order_give(struct gt_roll *roll, bool record)
{
	uint64_t before = gt_order_of(roll);
	uint64_t order;

	do
		order = ((before >> 1) + 1) << 1 | (record ? 1 : 0);
	while (!atomic_compare_exchange_weak_explicit(&roll->order, &before, order,
	                                              memory_order_acq_rel, memory_order_acquire));
	return order;
}

void gt_order_forget(struct gt_roll *roll)
{
	atomic_store_explicit(&roll->order, 0, memory_order_release);
}

/* Those of processes that run. */
struct live {
	void (*see)(void *context, const struct gt_arena_counts *process);
	void *context;
	int count;
};

static void see_live(void *context, const struct gt_arena_counts *process)
{
	struct live *live = context;

	if (!process->is_live)
		return;
	live->see(live->context, process);
	live->count++;
}

int gt_control_each(const char *folder,
                    void (*see)(void *context, const struct gt_arena_counts *process),
                    void *context, struct gt_error *err)
{
	struct live live = {see, context, 0};
	const int result = gt_arena_each_counts(folder, see_live, &live, err);

	return result < 0 ? result : live.count;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/memory/totals.h"

#include "base/array.h"
#include "base/sums.h"
#include "model/allocations.h"
#include "model/view/view.h"

enum gt_memory_owner gt_memory_holder_owner(const struct gt_memory_holder *holder)
{
	/* Memory of the default pool, which is a device's, has no handle. */
	const struct gt_allocation allocation = {
		.device = holder->device,
		.handle = holder->device == GT_NONE,
		.kind = holder->kind,
	};

	return holder->pool == GT_NONE ? gt_memory_owner(&allocation) : GT_MEMORY_OF_NOBODY;
}

bool gt_memory_holder_is_on_device(const struct gt_memory_holder *holder)
{
	const enum gt_memory_owner owner = gt_memory_holder_owner(holder);

	return owner == GT_MEMORY_OF_DEVICE || owner == GT_MEMORY_OF_POOL ||
	       owner == GT_MEMORY_OF_GRAPH;
}

static struct gt_memory_total *new_totals(size_t count)
{
	struct gt_memory_total *totals = gt_allocate_zeroed(count + 1, sizeof(*totals));

	return totals;
}

static void see_begin(struct gt_memory_total *total, const struct gt_memory_step *step,
                      bool in_window, bool kept)
{
	total->now += step->size_bytes;
	total->now_count++;
	if (step->size_bytes > total->largest)
		total->largest = step->size_bytes;
	if (total->now > total->peak) {
		total->peak = total->now;
		total->peak_ns = step->time_ns;
	}
	if (in_window) {
		total->begun++;
		gt_sum_add(&total->begun_bytes, step->size_bytes);
	}
	if (kept) {
		gt_sum_add(&total->kept, step->size_bytes);
		total->kept_count++;
	}
}

static void see_end(struct gt_memory_total *total, const struct gt_memory_step *step)
{
	total->now -= step->size_bytes;
	total->now_count--;
	total->ended++;
}

/* How a row begins. */
struct birth {
	bool in_window; /* and not before it */
	bool kept;
};

static struct birth birth_of(const struct gt_memory_totals *totals, const struct gt_view *view,
                             const struct gt_memory_step *step)
{
	const struct gt_trace *trace = view->trace;
	gt_count flags;
	gt_time begin_ns;

	if (totals->use.holders.rows[step->holder].pool == GT_NONE) {
		flags = trace->allocations.rows[step->row].flags;
		begin_ns = gt_memory_begin(trace, &trace->allocations.rows[step->row]);
	} else {
		flags = trace->pool_blocks.rows[step->row].flags;
		begin_ns = trace->pool_blocks.rows[step->row].start_ns;
	}
	return (struct birth){begin_ns >= view->start_ns, (flags & GT_UNFINISHED) != 0};
}

static void see(struct gt_memory_totals *totals, const struct gt_view *view,
                const struct gt_memory_step *step)
{
	const struct gt_memory_holder *holder = &totals->use.holders.rows[step->holder];
	struct gt_memory_total *device =
		holder->device < totals->device_count && gt_memory_holder_is_on_device(holder)
			? &totals->of_device[holder->device]
			: NULL;
	struct birth birth;

	if (step->ends) {
		see_end(&totals->of_holder[step->holder], step);
		if (device)
			see_end(device, step);
		return;
	}
	birth = birth_of(totals, view, step);
	see_begin(&totals->of_holder[step->holder], step, birth.in_window, birth.kept);
	if (device)
		see_begin(device, step, birth.in_window, birth.kept);
}

void gt_memory_totals_init(struct gt_memory_totals *totals, const struct gt_view *view)
{
	struct gt_memory_step step;

	*totals = (struct gt_memory_totals){.device_count = view->trace->devices.count};
	gt_memory_use_init(&totals->use, view);
	totals->of_holder = new_totals(totals->use.holders.count);
	totals->of_device = new_totals(totals->device_count);
	while (gt_memory_use_next(&totals->use, &step) == 1)
		see(totals, view, &step);
}

void gt_memory_totals_release(struct gt_memory_totals *totals)
{
	gt_memory_use_release(&totals->use);
	gt_array_free(totals->of_holder);
	gt_array_free(totals->of_device);
	*totals = (struct gt_memory_totals){0};
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/memory/modules.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/memory/totals.h"
#include "analysis/time/measured.h"
#include "base/array.h"
#include "model/allocations.h"
#include "model/memory/use.h"
#include "model/view/view.h"

struct loading {
	gt_time begin_ns;
	gt_time end_ns;
};

struct loadings {
	gt_array(struct loading) list; /* by end */
	size_t next;
};

/* Memory that is allocated, as time goes on. */
struct live {
	struct gt_memory_use use;
	struct gt_memory_step step;
	gt_id device;
	double bytes;
	bool more; /* the step is yet to be counted */
};

static int by_end(const void *a, const void *b)
{
	const struct loading *left = a;
	const struct loading *right = b;

	return (left->end_ns > right->end_ns) - (left->end_ns < right->end_ns);
}

static void find_loadings(struct loadings *loadings, const struct gt_trace *trace, gt_id device)
{
	gt_array_each(const struct gt_module, module, &trace->modules) {
		const double took_ns = isnan(module->load_ns) ? 0 : module->load_ns;

		if (module->context >= trace->contexts.count ||
		    trace->contexts.rows[module->context].device != device)
			continue;
		*gt_array_push(&loadings->list) =
			(struct loading){module->loaded_ns - (gt_time)took_ns, module->loaded_ns};
	}
	if (loadings->list.count)
		qsort(loadings->list.rows, loadings->list.count, sizeof(*loadings->list.rows),
		      by_end);
}

/* Whether one was going on between two samples; asked in order of time. */
static bool was_loading(struct loadings *loadings, gt_time from_ns, gt_time to_ns)
{
	while (loadings->next < loadings->list.count &&
	       loadings->list.rows[loadings->next].end_ns <= from_ns)
		loadings->next++;
	return loadings->next < loadings->list.count &&
	       loadings->list.rows[loadings->next].begin_ns <= to_ns + GT_NVML_READ_NS;
}

bool gt_memory_is_replayed(const struct gt_trace *trace, gt_id device, gt_time at_ns)
{
	gt_array_each(const struct gt_profiled_launch, launch, &trace->profiled_launches) {
		const gt_id kernel = launch->kernel;

		if (launch->start_ns > at_ns + GT_NVML_READ_NS)
			break;
		if (launch->end_ns >= at_ns && (kernel >= trace->kernels.count ||
		                                trace->kernels.rows[kernel].device == device))
			return true;
	}
	return false;
}

static void live_init(struct live *live, const struct gt_view *view, gt_id device)
{
	*live = (struct live){.device = device};
	gt_memory_use_init(&live->use, view);
	live->more = gt_memory_use_next(&live->use, &live->step) == 1;
}

static double live_at(struct live *live, gt_time at_ns)
{
	while (live->more && live->step.time_ns <= at_ns) {
		const struct gt_memory_holder *holder = &live->use.holders.rows[live->step.holder];

		if (holder->device == live->device && gt_memory_holder_is_on_device(holder))
			live->bytes += live->step.ends ? -(double)live->step.size_bytes
			                               : (double)live->step.size_bytes;
		live->more = gt_memory_use_next(&live->use, &live->step) == 1;
	}
	return live->bytes;
}

double gt_memory_of_modules(const struct gt_view *view, gt_id device, gt_time from_ns,
                            double from_bytes, gt_time to_ns)
{
	const struct gt_counter *counter =
		gt_counter_find(view->trace, device, "memory_used_bytes");
	struct loadings loadings = {0};
	struct gt_measured used = {0};
	struct live live;
	double before = NAN;
	gt_time before_ns = INT64_MIN;
	double grown = 0;

	find_loadings(&loadings, view->trace, device);
	if (counter && loadings.list.count)
		used = gt_measured_of(view->trace, counter);
	live_init(&live, view, device);
	for (size_t i = 0; i < used.count && used.times_ns[i] <= to_ns; i++) {
		const gt_time at_ns = used.times_ns[i];
		const double least = at_ns == from_ns ? from_bytes : 0;
		double rest;

		if (gt_memory_is_replayed(view->trace, device, at_ns))
			continue;
		rest = fmax(used.values[i], least) - live_at(&live, at_ns) -
		       (double)gt_memory_of_rings(view->trace, GT_NONE, device, at_ns);
		if (before_ns >= from_ns && was_loading(&loadings, before_ns, at_ns))
			grown += rest - before;
		before = rest;
		before_ns = at_ns;
	}
	gt_memory_use_release(&live.use);
	gt_measured_release(&used);
	gt_array_release(&loadings.list);
	return fmax(0, grown);
}

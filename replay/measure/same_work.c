/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/measure/measuring.h"

#include <math.h>

#include "replay/measure/estimate.h"
#include "replay/types/role.h"

enum {
	/*
	 * Memory restored between runs that follow each other comes through the level-2 cache, and
	 * so does its source: of a share of it as small as that 97 of 100 lines stay.
	 */
	SMALL_SHARE = 64,
	SMALL_BYTES = 64 << 10, /* where its size is not known */
	PAIRS = 7,              /* of runs that say whether two kinds take as long */
};

#define PAIRS_NS   5e8   /* that pairs may take */
#define SAME_SHARE 0.01  /* by which times of the same work may differ at least */
#define SAME_NS    100.0 /* steps of the GPU's clock are 32 ns and more */

/* Whether a run over what one left takes as long as one over recorded memory, both from a cold
 * cache. */
static int time_pair(struct gt_measuring *measuring, struct gt_error *err)
{
	const struct gt_gpu *gpu = measuring->steps->gpu;
	struct gt_run_sample restored = gt_no_sample;
	struct gt_run_sample left = gt_no_sample;
	int result = gt_restored_reset(measuring->restored, err);

	if (result == 0)
		result = gt_measuring_flush(measuring, err);
	if (result == 0)
		result = gt_gpu_wait(gpu, err);
	if (result == 0)
		result = gt_measuring_time_run(measuring, &restored, err);
	if (result == 0)
		result = gt_work_restore(&measuring->same, err);
	if (result == 0)
		result = gt_measuring_flush(measuring, err);
	if (result == 0)
		result = gt_gpu_wait(gpu, err);
	if (result == 0)
		result = gt_measuring_time_run(measuring, &left, err);
	*gt_array_push(&measuring->samples) = restored;
	*gt_array_push(&measuring->samples) = left;
	return result;
}

/* By the estimates of every second sample. */
static bool take_as_long(const struct gt_measuring *measuring)
{
	struct gt_estimate found[2];
	double values[PAIRS];
	double most;

	for (size_t which = 0; which < 2; which++) {
		size_t count = 0;

		for (size_t i = which; i < measuring->samples.count; i += 2) {
			const double value = gt_sample_value(&measuring->samples.rows[i],
			                                     gt_measuring_clock(measuring));

			if (isfinite(value))
				values[count++] = value;
		}
		found[which] = gt_estimate_of(values, count);
	}
	most = fmax(fmax(found[0].p95 - found[0].p05, found[1].p95 - found[1].p05),
	            fmax(SAME_SHARE * found[0].median, SAME_NS));
	return fabs(found[0].median - found[1].median) <= most;
}

/* Memory left alone is restored as well where the time says that the work is other without. */
static int confirm_by_time(struct gt_measuring *measuring, struct gt_error *err)
{
	const double pairs = PAIRS_NS / (2 * fmax(measuring->run_ns, 1));
	const size_t count = (size_t)fmin(fmax(pairs, 3), PAIRS);
	int result = 0;

	if (gt_work_bytes(&measuring->same, true) == 0)
		return 0;
	gt_measuring_tell(measuring, "comparing runs with and without restored memory");
	if (gt_measuring_make_scratch(measuring, NULL) < 0) {
		gt_work_leave_nothing(&measuring->same);
		return 0;
	}
	for (size_t i = 0; result == 0 && i < count; i++)
		result = time_pair(measuring, err);
	if (result == 0)
		gt_measuring_take_times(measuring, 0);
	if (result == 0 && !take_as_long(measuring))
		gt_work_leave_nothing(&measuring->same);
	measuring->samples.count = 0;
	return result;
}

int gt_measuring_choose_warm(struct gt_measuring *measuring, bool over_poison, struct gt_error *err)
{
	const struct gt_roles *roles = measuring->options->roles;
	const int64_t bytes = gt_measuring_cache_bytes(measuring);
	const uint64_t small = bytes > 0 ? (uint64_t)bytes / SMALL_SHARE : SMALL_BYTES;
	const int64_t begun_ns = gt_gpu_now_ns();
	int result;

	gt_measuring_tell(measuring, "looking for what has to be restored");
	if (roles && roles->unproven)
		result = gt_work_choose(&measuring->same, UINT64_MAX, false, err);
	else
		result = gt_work_choose(&measuring->same, small, over_poison, err);
	if (result == 0)
		result = confirm_by_time(measuring, err);
	measuring->lead_ins = gt_lead_ins_for(measuring->run_ns);
	measuring->begun_ns += gt_gpu_now_ns() - begun_ns; /* that is no time for measuring */
	return result;
}

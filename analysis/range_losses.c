/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/range_losses.h"

#include <stddef.h>

#include "analysis/advice.h"
#include "analysis/facts.h"

enum {
	LEAST_PERCENT = 50,           /* of the path's time */
	LEAST_RECORDING_PERCENT = 10, /* of the recording */
	INSIDE_PERCENT = 80,          /* of it in one path inside: that one is told of */
};

struct gt_range_loss gt_range_quiet(const struct gt_range_figures *figures)
{
	return (struct gt_range_loss){figures->quiet_ns, (uint64_t)figures->wall.spread.total};
}

struct gt_range_loss gt_range_gaps(const struct gt_range_figures *figures)
{
	return (struct gt_range_loss){(uint64_t)figures->idle.spread.total, figures->span_ns};
}

/* By path: the most that one of those in it loses. The caller frees it with gt_array_free. */
static uint64_t *lost_inside(const struct gt_range_totals *ranges,
                             struct gt_range_loss (*loss_of)(const struct gt_range_figures *))
{
	uint64_t *inside = gt_allocate(ranges->count * sizeof(*inside));

	for (size_t i = 0; i < ranges->count; i++)
		inside[i] = 0;
	for (size_t i = 0; i < ranges->count; i++) {
		const gt_id outer = ranges->ranges.paths.rows[i].outer;
		const uint64_t lost_ns = loss_of(&ranges->rows[i]).lost_ns;

		if (outer != GT_NONE && lost_ns > inside[outer])
			inside[outer] = lost_ns;
	}
	return inside;
}

gt_id gt_range_worst(const struct gt_facts *facts,
                     struct gt_range_loss (*loss_of)(const struct gt_range_figures *figures))
{
	const struct gt_range_totals *ranges = &facts->ranges;
	uint64_t *inside = lost_inside(ranges, loss_of);
	uint64_t most_ns = 0;
	gt_id worst = GT_NONE;

	for (gt_id i = 0; i < ranges->count; i++) {
		const struct gt_range_loss loss = loss_of(&ranges->rows[i]);

		if (loss.lost_ns <= most_ns || ranges->rows[i].ranges == 0 ||
		    !gt_is_share(loss.lost_ns, loss.whole_ns, LEAST_PERCENT) ||
		    !gt_is_share(loss.lost_ns, gt_facts_duration_ns(facts),
		                 LEAST_RECORDING_PERCENT) ||
		    gt_is_share(inside[i], loss.lost_ns, INSIDE_PERCENT))
			continue;
		most_ns = loss.lost_ns;
		worst = i;
	}
	gt_array_free(inside);
	return worst;
}

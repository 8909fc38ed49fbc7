/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/traffic/standings.h"

#include <math.h>
#include <stdlib.h>

static void consider(struct gt_standing *standing, const struct gt_roof *roof, double rate)
{
	const double share = rate / gt_roof_height(roof);

	if (standing->roof.name != GT_CEILINGS && !(share > standing->roof_share))
		return;
	standing->roof = *roof;
	standing->roof_share = share;
}

/* Roofs of operations of all kinds that the kernels do. */
static void consider_flops(struct gt_standing *standing, const struct gt_trace *trace, gt_id device,
                           struct gt_result *result)
{
	for (unsigned kind = 0; kind < GT_FLOPS_KINDS; kind++) {
		const double rate = standing->work.flops_per_second[kind];
		const struct gt_roof roof = gt_roof_of_flops(trace, device, (enum gt_flops)kind);

		if (!(rate > 0))
			continue;
		if (kind == GT_FLOPS_UNSAID)
			standing->missing = "the payload does not say of what precision the "
					    "operations are: gputrace.flops.NAME does";
		else if (roof.name == GT_CEILINGS)
			standing->missing =
				gt_result_keep(result,
			                       "no ceiling of %s: gputrace calibrate measures it",
			                       gt_flops_name((enum gt_flops)kind));
		else
			consider(standing, &roof, rate);
	}
}

/* The roof that binds is the one that it comes nearest to: it would take longest to be there. */
static void find_roof(struct gt_standing *standing, struct gt_standings *standings, gt_id device,
                      struct gt_result *result)
{
	const struct gt_traffic_bytes *bytes = &standing->bytes;
	const struct gt_roof memory = gt_roof_of_memory(standings->facts.trace, device,
	                                                bytes->read_bytes, bytes->write_bytes);

	standing->roof = (struct gt_roof){GT_CEILINGS, NAN, NAN, 0};
	standing->roof_share = NAN;
	if (standing->work.source == GT_TRAFFIC_UNKNOWN)
		standing->missing = gt_result_keep(result, "operations were not measured: %s",
		                                   gt_traffic_why_no_flops(&standings->facts,
		                                                           standing->traffic));
	else if (isnan(bytes->bytes_per_second))
		standing->missing =
			gt_result_keep(result, "bytes were not measured: %s",
		                       gt_traffic_why(&standings->facts, standing->traffic));
	else if (memory.name == GT_CEILINGS)
		standing->missing = "no ceiling of device memory: gputrace calibrate measures it";
	if (standing->missing)
		return;
	consider(standing, &memory, bytes->bytes_per_second);
	consider_flops(standing, standings->facts.trace, device, result);
}

static double sum_of_rates(const struct gt_traffic_work *work)
{
	double sum = 0;

	for (size_t i = 0; i < GT_FLOPS_KINDS; i++)
		sum += work->flops_per_second[i];
	return work->source == GT_TRAFFIC_UNKNOWN ? NAN : sum;
}

static void add_standing(struct gt_standings *standings, gt_id place, struct gt_result *result)
{
	const struct gt_traffic *traffic = &standings->traffics[place];
	const gt_id device = (gt_id)gt_kernel_place(&standings->places, place)->device;
	struct gt_standing standing = {
		.place = place,
		.traffic = traffic,
		.bytes = gt_traffic_bytes(traffic),
		.work = gt_traffic_work(traffic),
	};

	standing.flops = gt_flops_total(&standing.work.flops);
	standing.flops_per_second = sum_of_rates(&standing.work);
	find_roof(&standing, standings, device, result);
	standings->total_ns += traffic->time_ns;
	*gt_array_push(&standings->list) = standing;
}

static int by_time(const void *a, const void *b)
{
	const struct gt_standing *left = a;
	const struct gt_standing *right = b;

	if (left->traffic->time_ns != right->traffic->time_ns)
		return left->traffic->time_ns > right->traffic->time_ns ? -1 : 1;
	return (left->place > right->place) - (left->place < right->place);
}

void gt_standings_init(struct gt_standings *standings, const struct gt_view *view,
                       enum gt_group_by by, struct gt_result *result)
{
	*standings = (struct gt_standings){.total_ns = 0};
	gt_traffic_init(&standings->facts, view);
	gt_kernel_places_init(&standings->places, view->trace, by);
	standings->traffics = gt_traffic_of(&standings->facts, &standings->places.sampled,
	                                    standings->places.count);
	for (gt_id i = 0; i < standings->places.count; i++)
		if (standings->traffics[i].calls > 0)
			add_standing(standings, i, result);
	if (standings->list.count > 1)
		qsort(standings->list.rows, standings->list.count, sizeof(*standings->list.rows),
		      by_time);
}

void gt_standings_release(struct gt_standings *standings)
{
	gt_array_release(&standings->list);
	gt_array_free(standings->traffics);
	gt_kernel_places_release(&standings->places);
	gt_traffic_release(&standings->facts);
}

const char *gt_standing_label(const struct gt_standings *standings,
                              const struct gt_standing *standing)
{
	const struct gt_kernel_place *place = gt_kernel_place(&standings->places, standing->place);

	return standings->places.groups.labels[place->group];
}

double gt_standing_intensity(const struct gt_standing *standing)
{
	return standing->bytes.bytes > 0 ? standing->flops / standing->bytes.bytes : NAN;
}

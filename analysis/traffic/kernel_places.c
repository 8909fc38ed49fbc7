/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/traffic/kernel_places.h"

#include "analysis/traffic/traffic.h"
#include "base/array.h"

static void begin(struct gt_kernel_places *places, const struct gt_trace *trace,
                  enum gt_group_by by)
{
	*places = (struct gt_kernel_places){
		.index = gt_index_new(sizeof(struct gt_kernel_place)),
		.of_kernel = gt_allocate(trace->kernels.count * sizeof(*places->of_kernel)),
	};
	gt_kernel_groups_init(&places->groups, trace, by);
	places->sampled.of_kernel = places->of_kernel;
}

void gt_kernel_places_init(struct gt_kernel_places *places, const struct gt_trace *trace,
                           enum gt_group_by by)
{
	begin(places, trace, by);
	gt_array_each(const struct gt_kernel, kernel, &trace->kernels) {
		const struct gt_kernel_place place = {
			.group = gt_kernel_group_of(&places->groups, kernel),
			.device = kernel->device,
		};

		places->of_kernel[kernel - trace->kernels.rows] =
			(gt_id)gt_index_add(places->index, &place);
	}
	places->count = gt_index_count(places->index);
}

/* Bytes as a key; what is not declared is as 0. */
static uint64_t key_of(double bytes)
{
	return bytes > 0 && bytes < 1e18 ? (uint64_t)bytes : 0;
}

void gt_kernel_sizes_init(struct gt_kernel_places *places, const struct gt_traffic_facts *facts)
{
	const struct gt_trace *trace = facts->trace;
	struct gt_kernel_groups shapes;

	begin(places, trace, GT_BY_NAME);
	gt_kernel_groups_init(&shapes, trace, GT_BY_SHAPE);
	gt_array_each(const struct gt_kernel, kernel, &trace->kernels) {
		const gt_id row = (gt_id)(kernel - trace->kernels.rows);
		const struct gt_declaration *said = gt_traffic_declared(facts, row);
		const struct gt_kernel_place place = {
			.group = gt_kernel_group_of(&places->groups, kernel),
			.device = kernel->device,
			.shape = gt_kernel_group_of(&shapes, kernel),
			.declared_read = said ? key_of(said->read_bytes) : 0,
			.declared_write = said ? key_of(said->write_bytes) : 0,
		};

		places->of_kernel[row] = (gt_id)gt_index_add(places->index, &place);
	}
	places->count = gt_index_count(places->index);
	gt_kernel_groups_release(&places->groups);
	places->groups = shapes;
}

void gt_kernel_places_release(struct gt_kernel_places *places)
{
	gt_kernel_groups_release(&places->groups);
	gt_index_free(places->index);
	gt_array_free(places->of_kernel);
	*places = (struct gt_kernel_places){0};
}

const struct gt_kernel_place *gt_kernel_place(const struct gt_kernel_places *places, size_t number)
{
	return gt_index_key(places->index, number);
}

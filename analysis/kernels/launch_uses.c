/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/kernels/launch_uses.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/figures.h"
#include "analysis/result.h"
#include "base/array.h"
#include "model/index.h"
#include "model/naming/shape_names.h"
#include "model/work/timed.h"

/* Key of a use in an index: its rows and multiprocessors. */
struct key {
	gt_id shape;
	gt_id device;
	gt_count sm_count;
};

static struct key key_of(const struct gt_trace *trace, const struct gt_kernel *kernel)
{
	return (struct key){
		.shape = kernel->shape < trace->launch_shapes.count ? kernel->shape : GT_NONE,
		.device = kernel->device < trace->devices.count ? kernel->device : GT_NONE,
		.sm_count = gt_multiprocessors_of(trace, kernel->stream, kernel->device),
	};
}

static void number_kernels(struct gt_launch_uses *uses, const struct gt_trace *trace)
{
	struct gt_index *index = gt_index_new(sizeof(struct key));

	for (size_t i = 0; i < trace->kernels.count; i++) {
		const struct key key = key_of(trace, &trace->kernels.rows[i]);

		uses->of_kernel[i] = (uint32_t)gt_index_add(index, &key);
	}
	uses->count = gt_index_count(index);
	uses->rows = gt_allocate(uses->count * sizeof(*uses->rows));
	for (size_t i = 0; i < uses->count; i++) {
		const struct key *key = gt_index_key(index, i);

		uses->rows[i] = (struct gt_launch_use){
			.shape = key->shape,
			.device = key->device,
			.sm_count = key->sm_count,
			.first_seen = (gt_count)i,
		};
	}
	gt_index_free(index);
}

static void count_kernels(struct gt_launch_uses *uses, const struct gt_trace *trace)
{
	for (size_t i = 0; i < trace->kernels.count; i++) {
		const struct gt_kernel *kernel = &trace->kernels.rows[i];
		struct gt_launch_use *use = &uses->rows[uses->of_kernel[i]];

		use->profiled += (kernel->flags & GT_PROFILED) != 0;
		if (gt_timed(GT_TIMES_FIGURES, kernel->flags, kernel->start_ns, kernel->end_ns)) {
			use->calls++;
			use->total_ns += (uint64_t)(kernel->end_ns - kernel->start_ns);
		}
	}
}

static int by_total(const void *a, const void *b)
{
	const struct gt_launch_use *left = a;
	const struct gt_launch_use *right = b;

	if (left->total_ns != right->total_ns)
		return left->total_ns < right->total_ns ? 1 : -1;
	if (left->shape != right->shape)
		return left->shape > right->shape ? 1 : -1;
	if (left->device != right->device)
		return left->device > right->device ? 1 : -1;
	return (left->sm_count > right->sm_count) - (left->sm_count < right->sm_count);
}

static void sort(struct gt_launch_uses *uses, size_t kernel_count)
{
	uint32_t *places = gt_allocate(uses->count * sizeof(*places));

	qsort(uses->rows, uses->count, sizeof(*uses->rows), by_total);
	for (size_t i = 0; i < uses->count; i++)
		places[uses->rows[i].first_seen] = (uint32_t)i;
	for (size_t i = 0; i < kernel_count; i++)
		uses->of_kernel[i] = places[uses->of_kernel[i]];
	gt_array_free(places);
}

void gt_launch_uses_init(struct gt_launch_uses *uses, const struct gt_trace *trace)
{
	*uses = (struct gt_launch_uses){
		.of_kernel = gt_allocate(trace->kernels.count * sizeof(*uses->of_kernel)),
	};
	number_kernels(uses, trace);
	count_kernels(uses, trace);
	sort(uses, trace->kernels.count);
}

void gt_launch_uses_release(struct gt_launch_uses *uses)
{
	gt_array_free(uses->rows);
	gt_array_free(uses->of_kernel);
	*uses = (struct gt_launch_uses){0};
}

struct gt_device gt_launch_use_device(const struct gt_trace *trace, const struct gt_launch_use *use)
{
	struct gt_device device = {0};

	if (use->device < trace->devices.count) {
		device = trace->devices.rows[use->device];
		device.sm_count = use->sm_count;
	}
	return device;
}

struct gt_occupancy gt_launch_use_occupancy(const struct gt_trace *trace,
                                            const struct gt_launch_use *use)
{
	const struct gt_device device = gt_launch_use_device(trace, use);

	if (use->shape >= trace->launch_shapes.count)
		return (struct gt_occupancy){.percent = NAN, .waves_per_sm = NAN};
	return gt_occupancy_of(&device, &trace->launch_shapes.rows[use->shape]);
}

void gt_add_size(struct gt_result *result, gt_count x, gt_count y, gt_count z)
{
	if (x)
		gt_result_add_format(result, "%ux%ux%u", x, y, z);
	else
		gt_result_add_unknown(result);
}

void gt_add_launch(struct gt_result *result, const struct gt_trace *trace, gt_id shape)
{
	const struct gt_launch_shape *row;

	if (shape >= trace->launch_shapes.count) {
		gt_result_add_unknowns(result, 6);
		return;
	}
	row = &trace->launch_shapes.rows[shape];
	gt_add_size(result, row->grid_x, row->grid_y, row->grid_z);
	gt_add_size(result, row->block_x, row->block_y, row->block_z);
	gt_add_size(result, row->cluster_x, row->cluster_y, row->cluster_z);
	gt_result_add_count(result, row->registers);
	gt_result_add_count(result, (int64_t)row->shared_static_bytes);
	gt_result_add_count(result, (int64_t)row->shared_dynamic_bytes);
}

void gt_add_occupancy(struct gt_result *result, const struct gt_occupancy *occupancy)
{
	gt_result_add_real(result, occupancy->percent);
	if (occupancy->limit == GT_LIMIT_UNKNOWN)
		gt_result_add_unknown(result);
	else
		gt_result_add_text(result, gt_occupancy_limit_name(occupancy->limit));
}

void gt_add_names(struct gt_result *result, const struct gt_trace *trace, gt_id shape)
{
	const struct gt_launch_shape *row;

	if (shape >= trace->launch_shapes.count) {
		gt_result_add_unknowns(result, 2);
		return;
	}
	row = &trace->launch_shapes.rows[shape];
	gt_add_string(result, trace, gt_shape_string(trace, row, GT_NAMES_FULL));
	gt_add_string(result, trace, row->name);
}

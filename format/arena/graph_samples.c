/* SPDX-License-Identifier: Apache-2.0 */
#include "format/arena/graph_samples.h"

#include <stdatomic.h>

void gt_graph_samples_mark(struct gt_graph_samples *samples, uint32_t correlation)
{
	/* Relaxed: CUPTI's buffers carry the order, as no record comes before its launch. */
	atomic_store_explicit(&samples->marks[correlation % GT_SAMPLED_LAUNCHES], correlation,
	                      memory_order_relaxed);
}

bool gt_graph_samples_has(const struct gt_graph_samples *samples, uint32_t correlation)
{
	return atomic_load_explicit(&samples->marks[correlation % GT_SAMPLED_LAUNCHES],
	                            memory_order_relaxed) == correlation;
}

/* The record as far as it makes a launch: NULL-like with correlation 0 where it makes none. */
static struct gt_record_graph_trace part_of(uint32_t kind, const void *record)
{
#define PART(type)                                                                                 \
	if (kind == GT_RECORD_##type) {                                                            \
		const struct gt_record_##type *row = record;                                       \
                                                                                                   \
		if (row->graph_node == 0 || row->end_ns == 0)                                      \
			return (struct gt_record_graph_trace){0};                                  \
		return (struct gt_record_graph_trace){                                             \
			.start_ns = row->start_ns,                                                 \
			.end_ns = row->end_ns,                                                     \
			.work_ns = row->end_ns - row->start_ns,                                    \
			.activities = 1,                                                           \
			.correlation = row->correlation,                                           \
			.device = row->device + 1,                                                 \
			.context = row->context,                                                   \
			.stream = row->stream,                                                     \
			.graph = row->graph,                                                       \
			.flags = row->flags,                                                       \
		};                                                                                 \
	}
	PART(kernel)
	PART(copy)
	PART(fill)
#undef PART
	return (struct gt_record_graph_trace){0};
}

static struct gt_record_graph_trace *find(struct gt_graph_folds *folds,
                                          const struct gt_record_graph_trace *part)
{
	for (uint32_t i = 0; i < folds->count; i++) {
		struct gt_record_graph_trace *row = &folds->rows[(folds->last + i) % folds->count];

		if (row->correlation != part->correlation || row->graph != part->graph)
			continue;
		folds->last = (uint32_t)(row - folds->rows);
		return row;
	}
	return NULL;
}

bool gt_graph_folds_take(struct gt_graph_folds *folds, const struct gt_graph_samples *samples,
                         uint32_t kind, const void *record)
{
	struct gt_record_graph_trace part;
	struct gt_record_graph_trace *row;

	if (samples->wanted == 0)
		return false;
	part = part_of(kind, record);
	if (part.correlation == 0 || gt_graph_samples_has(samples, part.correlation))
		return false;
	row = find(folds, &part);
	if (!row) {
		folds->last = folds->count;
		folds->rows[folds->count++] = part;
		return true;
	}
	if (part.start_ns < row->start_ns)
		row->start_ns = part.start_ns;
	if (part.end_ns > row->end_ns)
		row->end_ns = part.end_ns;
	row->work_ns += part.work_ns;
	row->activities++;
	return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/timeline/memory_parts.h"

#include "model/index.h"
#include "model/kinds/memory.h"
#include "model/memory/owned.h"

uint32_t gt_memory_maker_group(struct gt_memory_maker *maker, struct gt_memory_group group)
{
	const size_t number = gt_index_add(maker->groups, &group);

	if (number == maker->shown->groups.count)
		*gt_array_push(&maker->shown->groups) = group;
	return (uint32_t)number;
}

uint32_t gt_memory_add_line(struct gt_memory_shown *shown, const struct gt_memory_line *line)
{
	*gt_array_push(&shown->lines) = *line;
	return (uint32_t)shown->lines.count - 1;
}

/* The line of that kind of a group, a new one where it has none. */
static uint32_t line_of(struct gt_memory_shown *shown, uint32_t group, enum gt_memory_line_kind is,
                        gt_count kind)
{
	for (uint32_t i = 0; i < shown->lines.count; i++) {
		const struct gt_memory_line *line = &shown->lines.rows[i];

		if (line->group == group && line->is == is && line->kind == kind)
			return i;
	}
	return gt_memory_add_line(
		shown, &(struct gt_memory_line){
			       .is = is, .group = group, .kind = kind, .counter = GT_NONE});
}

static bool is_of_host(gt_count kind, gt_id device)
{
	const enum gt_memory_space space = gt_memory_space(kind);

	return space == GT_MEMORY_SPACE_HOST || space == GT_MEMORY_SPACE_REGISTERED ||
	       ((kind == GT_MEMORY_CALL_CREATE || kind == GT_MEMORY_CALL_ALLOCATE_ORDERED) &&
	        device == GT_NONE);
}

static gt_id known_device(const struct gt_trace *trace, gt_id device)
{
	return device < trace->devices.count ? device : GT_NONE;
}

static struct gt_memory_group group_of_kind(const struct gt_trace *trace, gt_id process,
                                            gt_id device, gt_count kind)
{
	const bool is_host = is_of_host(kind, device);

	return (struct gt_memory_group){
		.process = process,
		.device = is_host ? GT_NONE : known_device(trace, device),
		.pool = GT_NONE,
		.is_host = is_host,
	};
}

struct gt_memory_group gt_memory_group_of_pool(const struct gt_trace *trace, gt_id row)
{
	const struct gt_pool *pool = &trace->pools.rows[row];

	return (struct gt_memory_group){
		.process = pool->process,
		.device = known_device(trace, pool->device),
		.pool = row,
		.is_host = pool->device == GT_NONE,
	};
}

/* Whether memory of a kind is part of what is in use of its GPU, or of the host. */
static bool is_counted(const struct gt_memory_holder *holder)
{
	const struct gt_allocation row = {
		.device = holder->device, .kind = holder->kind, .handle = 1};

	return gt_memory_is_on_device(&row) || gt_memory_owner(&row) == GT_MEMORY_OF_HOST;
}

/* Addresses that are reserved and what is mapped there are other names of memory, not more of it. */
static bool has_line(gt_count kind)
{
	switch (gt_memory_space(kind)) {
	case GT_MEMORY_SPACE_POINTER:
	case GT_MEMORY_SPACE_HOST:
	case GT_MEMORY_SPACE_REGISTERED:
	case GT_MEMORY_SPACE_IMPORTED:
	case GT_MEMORY_SPACE_ARRAY:
	case GT_MEMORY_SPACE_EXTERNAL:
		return true;
	case GT_MEMORY_SPACE_HANDLE:
		return kind != GT_MEMORY_CALL_RETAIN && kind != GT_MEMORY_CALL_CREATE_MULTICAST;
	case GT_MEMORY_SPACE_NONE:
	case GT_MEMORY_SPACE_ADDRESSES:
	case GT_MEMORY_SPACE_MAPPING:
	case GT_MEMORY_SPACE_POOL:
		break;
	}
	return false;
}

static struct gt_memory_part part_of(struct gt_memory_maker *maker,
                                     const struct gt_memory_holder *holder)
{
	struct gt_memory_shown *shown = maker->shown;
	struct gt_memory_part part = {.total = GT_NONE, .line = GT_NONE};

	if (holder->pool < maker->trace->pools.count) {
		part.group = gt_memory_maker_group(maker, gt_memory_group_of_pool(maker->trace,
		                                                                  holder->pool));
		part.total = line_of(shown, part.group, GT_MEMORY_LINE_BLOCKS, 0);
		return part;
	}
	part.group = gt_memory_maker_group(maker, group_of_kind(maker->trace, holder->process,
	                                                        holder->device, holder->kind));
	if (is_counted(holder)) {
		part.total = line_of(shown, part.group, GT_MEMORY_LINE_TOTAL, 0);
		part.line = line_of(shown, part.group, GT_MEMORY_LINE_PART, holder->kind);
	} else if (has_line(holder->kind)) {
		part.line = line_of(shown, part.group, GT_MEMORY_LINE_APART, holder->kind);
	}
	return part;
}

void gt_memory_find_parts(struct gt_memory_maker *maker)
{
	const size_t count = maker->use.holders.count;

	maker->parts = gt_allocate((count + 1) * sizeof(*maker->parts));
	for (size_t i = 0; i < count; i++)
		maker->parts[i] = part_of(maker, &maker->use.holders.rows[i]);
}

uint32_t gt_memory_group_of_call(struct gt_memory_maker *maker, const struct gt_memory_call *call)
{
	const struct gt_trace *trace = maker->trace;
	gt_id device = call->place;

	if (device == GT_NONE && call->context < trace->contexts.count)
		device = trace->contexts.rows[call->context].device;
	return gt_memory_maker_group(maker,
	                             group_of_kind(trace, trace->threads.rows[call->thread].process,
	                                           device, call->kind));
}

bool gt_memory_has_failed(const struct gt_trace *trace, const struct gt_memory_call *call)
{
	return call->result != 0 && !(call->flags & GT_UNFINISHED) &&
	       call->thread < trace->threads.count;
}

const struct gt_series *gt_memory_series_of(const struct gt_trace *trace,
                                            const struct gt_counter *counter)
{
	const struct gt_series *series =
		counter->series < trace->series.count ? &trace->series.rows[counter->series] : NULL;

	return series && counter->place < series->column_count &&
	                       counter->pool < trace->pools.count &&
	                       counter->kind != GT_COUNTER_MASK
	               ? series
	               : NULL;
}

void gt_memory_find_other_groups(struct gt_memory_maker *maker)
{
	gt_array_each(const struct gt_counter, counter, &maker->trace->counters)
		if (gt_memory_series_of(maker->trace, counter))
			(void)gt_memory_maker_group(maker, gt_memory_group_of_pool(maker->trace,
			                                                           counter->pool));
	gt_array_each(const struct gt_memory_call, call, &maker->trace->memory_calls)
		if (gt_memory_has_failed(maker->trace, call))
			(void)gt_memory_group_of_call(maker, call);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "format/ranges.h"
#include "import/builder.h"

/*
 * Ranges of a file, which have a begin and an end each, as the program called NVTX: pushes and pops
 * with their levels, in the order in which each thread made them. A range that overlaps another one
 * of its thread and domain in part cannot have been pushed: it counts as started and ended.
 */

/* A begin or an end on a thread. */
struct step {
	int64_t time_ns;
	uint32_t tid;
	uint32_t range; /* place among the sorted ranges */
	uint8_t phase;  /* at one time: ends first, then begins, then ends of what takes no time */
};

enum { ENDS, BEGINS, ENDS_AT_ONCE };

static int64_t end_of(const struct gt_built_range *range)
{
	return range->end_ns == GT_NO_TIME ? INT64_MAX : range->end_ns;
}

static int compare(int64_t left, int64_t right)
{
	return (left > right) - (left < right);
}

/* By thread and domain, then by begin; of those that begin at once the longest first. */
static int by_stack(const void *a, const void *b)
{
	const struct gt_built_range *left = a;
	const struct gt_built_range *right = b;
	int order = compare(left->tid, right->tid);

	if (order == 0)
		order = compare(left->domain, right->domain);
	if (order == 0)
		order = compare(left->start_ns, right->start_ns);
	if (order == 0)
		order = compare(end_of(right), end_of(left));
	return order ? order : compare(left->text, right->text);
}

static int by_time(const void *a, const void *b)
{
	const struct step *left = a;
	const struct step *right = b;
	int order = compare(left->tid, right->tid);

	if (order == 0)
		order = compare(left->time_ns, right->time_ns);
	if (order == 0)
		order = left->phase - right->phase;
	if (order)
		return order;
	order = compare(left->range, right->range);
	return left->phase == BEGINS ? order : -order;
}

/* Ranges that are open on a thread in a domain. */
struct stack {
	gt_array(uint32_t) open;
	uint32_t tid;
	uint32_t domain;
};

/* A range that ends when this one begins is over, unless it began then too. */
static void close_ended(struct stack *stack, const struct gt_built_range *ranges, int64_t now_ns)
{
	while (stack->open.count > 0) {
		const struct gt_built_range *top = &ranges[stack->open.rows[stack->open.count - 1]];

		if (end_of(top) > now_ns || (end_of(top) == now_ns && top->start_ns == now_ns))
			break;
		stack->open.count--;
	}
}

/* Levels of what was pushed; what cannot have been is started and ended from now on. */
static void find_levels(struct gt_builder *builder, uint32_t *levels)
{
	struct gt_built_range *ranges = builder->ranges.rows;
	struct stack stack = {0};

	for (uint32_t i = 0; i < builder->ranges.count; i++) {
		struct gt_built_range *range = &ranges[i];
		const bool same = range->tid == stack.tid && range->domain == stack.domain;

		levels[i] = GT_LEVEL_UNKNOWN;
		if (range->kind != GT_RANGE_STEP_STACK)
			continue;
		if (!same)
			stack.open.count = 0;
		stack.tid = range->tid;
		stack.domain = range->domain;
		close_ended(&stack, ranges, range->start_ns);
		if (stack.open.count > 0 &&
		    end_of(range) > end_of(&ranges[stack.open.rows[stack.open.count - 1]])) {
			range->kind = GT_RANGE_STEP_ID;
			continue;
		}
		levels[i] = (uint32_t)stack.open.count;
		*gt_array_push(&stack.open) = i;
	}
	gt_array_release(&stack.open);
}

static size_t make_steps(const struct gt_builder *builder, struct step *steps)
{
	size_t count = 0;

	for (uint32_t i = 0; i < builder->ranges.count; i++) {
		const struct gt_built_range *range = &builder->ranges.rows[i];
		const bool at_once = range->end_ns == range->start_ns;

		steps[count++] = (struct step){range->start_ns, range->tid, i, BEGINS};
		if (range->end_ns != GT_NO_TIME && range->kind != GT_RANGE_STEP_MARK)
			steps[count++] = (struct step){
				range->end_ns,
				range->kind == GT_RANGE_STEP_ID ? range->end_tid : range->tid, i,
				at_once ? ENDS_AT_ONCE : ENDS};
	}
	if (count > 1)
		qsort(steps, count, sizeof(*steps), by_time);
	return count;
}

static void write_begin(struct gt_builder *builder, const struct step *step, uint32_t order,
                        uint32_t level)
{
	const struct gt_built_range *range = &builder->ranges.rows[step->range];

	gt_builder_add(builder, range_begin, .time_ns = gt_builder_time(builder, step->time_ns),
	               .id = range->kind == GT_RANGE_STEP_ID ? step->range + 1 : 0,
	               .payload = range->payload, .payload_type = range->payload_type,
	               .order = order, .domain = range->domain, .level = level, .text = range->text,
	               .category = range->category, .color = range->color, .kind = range->kind,
	               .thread = range->tid);
}

static void write_end(struct gt_builder *builder, const struct step *step, uint32_t order,
                      uint32_t level)
{
	const struct gt_built_range *range = &builder->ranges.rows[step->range];

	gt_builder_add(builder, range_end, .time_ns = gt_builder_time(builder, step->time_ns),
	               .id = range->kind == GT_RANGE_STEP_ID ? step->range + 1 : 0, .order = order,
	               .domain = range->domain, .level = level, .kind = range->kind,
	               .thread = step->tid);
}

void gt_builder_write_ranges(struct gt_builder *builder)
{
	const size_t count = builder->ranges.count;
	uint32_t *levels = gt_allocate((count + 1) * sizeof(*levels));
	struct step *steps = gt_allocate((2 * count + 1) * sizeof(*steps));
	size_t step_count;
	uint32_t order = 0;

	if (count > 1)
		qsort(builder->ranges.rows, count, sizeof(*builder->ranges.rows), by_stack);
	find_levels(builder, levels);
	step_count = make_steps(builder, steps);
	for (size_t i = 0; i < step_count; i++) {
		order = i > 0 && steps[i].tid == steps[i - 1].tid ? order + 1 : 1;
		if (steps[i].phase == BEGINS)
			write_begin(builder, &steps[i], order, levels[steps[i].range]);
		else
			write_end(builder, &steps[i], order, levels[steps[i].range]);
	}
	free(levels);
	free(steps);
}

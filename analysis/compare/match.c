/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/items.h"
#include "model/naming/kernel_names.h"

/* Kernels of one side alone that agree in some keys are matched, in this order. */
static const struct rule {
	enum gt_match match;
	bool by_family; /* instead of the name */
	bool keys[GT_COMPARED_KEYS];
} rules[] = {
	{GT_MATCH_SHAPE,
         false,
         {[GT_KERNEL_KEY_NAME] = true, [GT_KERNEL_KEY_RANGE] = true, [GT_KERNEL_KEY_GRAPH] = true}},
	{GT_MATCH_PLACE, false, {[GT_KERNEL_KEY_NAME] = true, [GT_KERNEL_KEY_SHAPE] = true}},
	{GT_MATCH_SHAPE, false, {[GT_KERNEL_KEY_NAME] = true}},
	{GT_MATCH_RENAMED, true, {[GT_KERNEL_KEY_RANGE] = true, [GT_KERNEL_KEY_GRAPH] = true}},
};

struct alone {
	struct gt_item *item;
	enum gt_side side;
	const struct rule *rule;
};

/* By what the rule looks at; of equal ones side A first, in the order of their places. */
static int compare_keys(const struct alone *left, const struct alone *right)
{
	if (left->rule->by_family && left->item->family != right->item->family)
		return left->item->family < right->item->family ? -1 : 1;
	for (size_t k = 0; k < GT_COMPARED_KEYS; k++)
		if (left->rule->keys[k] && left->item->keys[k] != right->item->keys[k])
			return left->item->keys[k] < right->item->keys[k] ? -1 : 1;
	return 0;
}

static int by_keys(const void *a, const void *b)
{
	const struct alone *left = a;
	const struct alone *right = b;
	const int order = compare_keys(left, right);

	if (order != 0)
		return order;
	if (left->side != right->side)
		return left->side < right->side ? -1 : 1;
	if (left->item->place != right->item->place)
		return left->item->place < right->item->place ? -1 : 1;
	return (left->item > right->item) - (left->item < right->item);
}

/* What is in B of one goes into the other, which is then of both sides. */
static void merge(const struct gt_items *items, struct gt_item *a, struct gt_item *b,
                  enum gt_match match)
{
	for (size_t run = items->a; run < items->runs; run++) {
		a->counts[run] = b->counts[run];
		a->totals[run] = b->totals[run];
		a->logs[run] = b->logs[run];
	}
	memcpy(a->keys, b->keys, sizeof(a->keys));
	a->match = match;
	b->match = GT_MATCH_MERGED;
}

static bool as_often(const struct gt_items *items, const struct gt_item *a, const struct gt_item *b)
{
	return fabs(a->counts[0] - b->counts[items->a]) <= 1e-6 * a->counts[0];
}

/* As many on both sides, which come in the same order and as often: they are each other. */
static void pair(const struct gt_items *items, const struct alone *first, size_t count)
{
	const size_t half = count / 2;

	if (count % 2 || first[half].side != GT_SIDE_B || first[half - 1].side != GT_SIDE_A)
		return;
	for (size_t i = 0; i < half; i++)
		if (half > 1 && !as_often(items, first[i].item, first[half + i].item))
			return;
	for (size_t i = 0; i < half; i++)
		merge(items, first[i].item, first[half + i].item, first->rule->match);
}

static bool is_matched_by(const struct rule *rule, const struct gt_item *item)
{
	return item->table == GT_COMPARED_kernels &&
	       (item->match == GT_MATCH_GONE || item->match == GT_MATCH_NEW) &&
	       !(rule->by_family && item->family == GT_FAMILY_other);
}

static void apply(const struct rule *rule, struct gt_items *items)
{
	struct alone *alone = gt_allocate((items->rows.count + 1) * sizeof(*alone));
	size_t count = 0;

	gt_array_each(struct gt_item, item, &items->rows)
		if (is_matched_by(rule, item))
			alone[count++] = (struct alone){
				item, item->match == GT_MATCH_GONE ? GT_SIDE_A : GT_SIDE_B, rule};
	if (count > 1)
		qsort(alone, count, sizeof(*alone), by_keys);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && compare_keys(&alone[i], &alone[end]) == 0;)
			end++;
		if (end - i > 1)
			pair(items, &alone[i], end - i);
	}
	gt_array_free(alone);
}

static enum gt_match match_of(const struct gt_items *items, const struct gt_item *item)
{
	const size_t in_a = gt_item_runs(items, item, GT_SIDE_A);
	const size_t in_b = gt_item_runs(items, item, GT_SIDE_B);

	if (in_a == items->a && in_a + in_b == items->runs)
		return GT_MATCH_SAME;
	if (in_a == items->a && in_b == 0)
		return GT_MATCH_GONE;
	return in_a == 0 && in_b == items->runs - items->a ? GT_MATCH_NEW : GT_MATCH_SOME;
}

void gt_items_match(struct gt_items *items)
{
	gt_array_each(struct gt_item, item, &items->rows)
		item->match = match_of(items, item);
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
		apply(&rules[i], items);
}

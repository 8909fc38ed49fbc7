/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/compare/items.h"

#include <math.h>
#include <string.h>

#include "base/strings.h"
#include "model/index.h"

/* Counts that differ by less are the same: sums of thousands of steps are divided. */
#define COUNT_PART 1e-6

struct item_key {
	uint32_t table;
	uint32_t keys[GT_COMPARED_KEYS];
};

static struct gt_item *add_item(struct gt_items *items, const struct item_key *key)
{
	struct gt_item *item = gt_array_push(&items->rows);
	double *values = gt_allocate(3 * items->runs * sizeof(*values));

	for (size_t i = 0; i < 3 * items->runs; i++)
		values[i] = NAN;
	*item = (struct gt_item){
		.table = key->table,
		.counts = values,
		.totals = values + items->runs,
		.logs = values + 2 * items->runs,
	};
	memcpy(item->keys, key->keys, sizeof(item->keys));
	memcpy(item->were, key->keys, sizeof(item->were));
	return item;
}

/* Kernels are those of steady steps, where all runs have steps: of one step then. */
static struct gt_profile_sum sum_of(const struct gt_profile *profile,
                                    const struct gt_profile_row *row, bool by_step)
{
	struct gt_profile_sum sum = row->all;

	if (row->table != GT_COMPARED_kernels || !by_step)
		return sum;
	sum = row->steady;
	sum.count /= profile->steps;
	sum.total_ns /= profile->steps;
	return sum;
}

static void add_profile(struct gt_items *items, struct gt_index *index, struct gt_strings *strings,
                        const struct gt_profile *profile, size_t run)
{
	gt_array_each(const struct gt_profile_row, row, &profile->rows) {
		const struct gt_profile_sum sum = sum_of(profile, row, items->by_step);
		struct item_key key = {.table = row->table};
		struct gt_item *item;
		size_t number;

		if (sum.count == 0)
			continue;
		for (size_t k = 0; k < GT_COMPARED_KEYS; k++)
			key.keys[k] =
				gt_strings_add(strings, gt_profile_text(profile, row->keys[k]));
		number = gt_index_add(index, &key);
		item = number < items->rows.count ? &items->rows.rows[number]
		                                  : add_item(items, &key);
		item->family = row->family;
		item->place = row->place;
		item->counts[run] = sum.count;
		item->totals[run] = sum.total_ns;
		item->logs[run] = sum.log_each;
	}
}

void gt_items_init(struct gt_items *items, struct gt_strings *strings,
                   const struct gt_profile *profiles, size_t a, size_t b, bool by_step)
{
	struct gt_index *index = gt_index_new(sizeof(struct item_key));

	*items = (struct gt_items){.a = a, .runs = a + b, .by_step = by_step};
	for (size_t run = 0; run < items->runs; run++)
		add_profile(items, index, strings, &profiles[run], run);
	gt_index_free(index);
	gt_items_match(items);
}

void gt_items_release(struct gt_items *items)
{
	gt_array_each(struct gt_item, item, &items->rows)
		gt_array_free(item->counts);
	gt_array_release(&items->rows);
}

/* The runs of a side, from the first to the one behind the last. */
static size_t first_of(const struct gt_items *items, enum gt_side side)
{
	return side == GT_SIDE_A ? 0 : items->a;
}

static size_t end_of(const struct gt_items *items, enum gt_side side)
{
	return side == GT_SIDE_A ? items->a : items->runs;
}

double gt_item_mean(const struct gt_items *items, const double *values, enum gt_side side)
{
	double sum = 0;
	double count = 0;

	for (size_t run = first_of(items, side); run < end_of(items, side); run++)
		if (!isnan(values[run])) {
			sum += values[run];
			count++;
		}
	return count > 0 ? sum / count : NAN;
}

size_t gt_item_runs(const struct gt_items *items, const struct gt_item *item, enum gt_side side)
{
	size_t count = 0;

	for (size_t run = first_of(items, side); run < end_of(items, side); run++)
		count += !isnan(item->counts[run]) || !isnan(item->totals[run]);
	return count;
}

bool gt_item_has_times(const struct gt_items *items, const struct gt_item *item)
{
	for (size_t run = 0; run < items->runs; run++)
		if (isnan(item->logs[run]))
			return false;
	return true;
}

static bool is_constant(const struct gt_items *items, const struct gt_item *item, enum gt_side side)
{
	const size_t first = first_of(items, side);

	for (size_t run = first; run < end_of(items, side); run++)
		if (!(fabs(item->counts[run] - item->counts[first]) <=
		      COUNT_PART * item->counts[first]))
			return false;
	return true;
}

bool gt_item_other_count(const struct gt_items *items, const struct gt_item *item)
{
	return is_constant(items, item, GT_SIDE_A) && is_constant(items, item, GT_SIDE_B) &&
	       fabs(item->counts[items->a] - item->counts[0]) > COUNT_PART * item->counts[0];
}

double gt_mean_figure(const struct gt_profile *profiles, size_t count, size_t figure)
{
	double logs = 0;

	for (size_t i = 0; i < count; i++)
		logs += log(profiles[i].figures[figure]) / (double)count;
	return exp(logs);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "model/view/range_choice.h"

#include "base/array.h"
#include "model/known.h"
#include "model/ranges/folds.h"
#include "model/view/filter.h"
#include "model/view/range_words.h"

enum {
	MOST_STEPS = 1 << 8,   /* past named ranges that have ended */
	MOST_THREADS = 1 << 4, /* that work for each other */
};

static bool *new_flags(size_t count)
{
	bool *flags = gt_allocate_zeroed(count + 1, sizeof(*flags));

	return flags;
}

static gt_id around_of(const struct gt_range_choice *choice, gt_id named)
{
	const gt_id around = choice->ranges.around[named];

	return around == GT_NONE ? GT_NONE : choice->nearest[around];
}

/* The named range that is open at a moment on a range's thread around it, or is that range. */
static gt_id named_on_thread(const struct gt_range_choice *choice, gt_id range, gt_time at_ns)
{
	const struct gt_range *rows = choice->ranges.trace->ranges.rows;
	gt_id named = range == GT_NONE ? GT_NONE : choice->nearest[range];

	for (size_t steps = 0; named != GT_NONE && steps < MOST_STEPS; steps++) {
		if (named == range || gt_range_end(&rows[named]) > at_ns)
			return named;
		named = around_of(choice, named);
	}
	return GT_NONE;
}

/* The same of all its chain. */
static gt_id named_at(const struct gt_range_choice *choice, gt_id range, gt_time at_ns)
{
	gt_id named = GT_NONE;

	for (size_t i = 0; named == GT_NONE && range != GT_NONE && i < MOST_THREADS; i++) {
		named = named_on_thread(choice, range, at_ns);
		range = gt_ranges_beyond(&choice->ranges, range, at_ns);
	}
	return named;
}

static void find_named(struct gt_range_choice *choice, const bool *paths)
{
	const struct gt_ranges *ranges = &choice->ranges;

	for (size_t i = 0; i < ranges->trace->ranges.count; i++) {
		const gt_id row = ranges->order[i];
		const gt_id around = ranges->around[row];
		const gt_time start_ns = ranges->trace->ranges.rows[row].start_ns;
		const gt_id outer =
			around == GT_NONE ? gt_ranges_around(ranges, row, start_ns) : around;

		choice->named[row] =
			paths[ranges->path_of[row]] && named_at(choice, outer, start_ns) == GT_NONE;
		choice->nearest[row] = around == GT_NONE ? GT_NONE : choice->nearest[around];
		if (choice->named[row])
			choice->nearest[row] = row;
	}
}

/* Counts those of one path on one thread, in the order in which they began. */
static void count_off(struct gt_range_choice *choice, const struct gt_ranges *ranges,
                      const struct gt_filter *filter)
{
	const struct gt_trace *trace = ranges->trace;
	const uint64_t skip = filter->instance > 0 ? filter->instance - 1 : filter->skip;
	const uint64_t take = filter->instance > 0 ? 1 : filter->take;
	struct gt_known counts = {0};

	for (gt_id i = 0; i < trace->ranges.count; i++) {
		const uint64_t key =
			(uint64_t)ranges->path_of[i] << 32 | trace->ranges.rows[i].thread;
		gt_id seen;

		if (!choice->named[i])
			continue;
		seen = gt_known_find(&counts, key);
		seen = seen == GT_NONE ? 0 : seen;
		gt_known_set(&counts, key, seen + 1);
		choice->skipped[i] = seen < skip || (take > 0 && seen - skip >= take);
		choice->left += !choice->skipped[i];
		choice->most = seen + 1 > choice->most ? seen + 1 : choice->most;
	}
	gt_known_release(&counts);
}

/* Ranges that are chosen as one, "step #", are counted as one. */
static void count_chosen(struct gt_range_choice *choice, const struct gt_filter *filter)
{
	struct gt_range_folds folds;
	struct gt_ranges ranges;
	bool folded = false;

	gt_array_each(struct gt_range_word *const, word, &filter->ranges)
		folded = folded || gt_range_word_is_folded(*word);
	if (!folded) {
		count_off(choice, &choice->ranges, filter);
		return;
	}
	gt_range_folds_init(&folds, choice->ranges.trace, GT_FOLD_YES);
	gt_ranges_init_folded(&ranges, choice->ranges.trace, &folds);
	count_off(choice, &ranges, filter);
	gt_ranges_release(&ranges);
	gt_range_folds_release(&folds);
}

void gt_range_choice_init(struct gt_range_choice *choice, const struct gt_trace *trace,
                          const struct gt_filter *filter)
{
	const size_t count = trace->ranges.count;
	bool *paths;

	*choice = (struct gt_range_choice){.given = filter->ranges.count > 0};
	if (!choice->given)
		return;
	gt_ranges_init(&choice->ranges, trace);
	choice->named = new_flags(count);
	choice->skipped = new_flags(count);
	choice->nearest = gt_allocate(count * sizeof(*choice->nearest));
	paths = new_flags(choice->ranges.paths.count);
	gt_array_each(struct gt_range_word *const, word, &filter->ranges)
		(void)gt_range_word_match(*word, &choice->ranges, paths);
	find_named(choice, paths);
	if (filter->skip > 0 || filter->take > 0 || filter->instance > 0)
		count_chosen(choice, filter);
	gt_array_free(paths);
}

void gt_range_choice_release(struct gt_range_choice *choice)
{
	gt_ranges_release(&choice->ranges);
	gt_array_free(choice->named);
	gt_array_free(choice->skipped);
	gt_array_free(choice->nearest);
	*choice = (struct gt_range_choice){0};
}

gt_id gt_range_choice_of(const struct gt_range_choice *choice, struct gt_owner owner)
{
	const gt_id named = owner.range < choice->ranges.trace->ranges.count
	                            ? named_at(choice, owner.range, owner.at_ns)
	                            : GT_NONE;

	return named == GT_NONE || choice->skipped[named] ? GT_NONE : named;
}

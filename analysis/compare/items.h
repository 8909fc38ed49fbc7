/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_COMPARE_ITEMS_H
#define GT_ANALYSIS_COMPARE_ITEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/compare/comparison.h"

/* The rows of all runs of both sides, put together by what they are. */

/* The match of an item whose values went into that of the other side. */
#define GT_MATCH_MERGED ((enum gt_match) - 1)

struct gt_item {
	enum gt_compared table;
	enum gt_match match;
	uint32_t keys[GT_COMPARED_KEYS]; /* strings of the comparison */
	uint32_t were[GT_COMPARED_KEYS];
	uint32_t family;
	double place;
	double *counts; /* by run, of kernels in a step; NAN: the run has none */
	double *totals; /* likewise */
	double *logs;   /* likewise, of one */
};

struct gt_items {
	size_t a; /* runs of side A */
	size_t runs;
	bool by_step;
	gt_array(struct gt_item) rows;
};

/* Profiles of side A first. by_step: figures of kernels are those of a step, which all runs have. */
void gt_items_init(struct gt_items *items, struct gt_strings *strings,
                   const struct gt_profile *profiles, size_t a, size_t b, bool by_step);
void gt_items_release(struct gt_items *items);

/* Mean of the runs of a side that have one; NAN: none has. */
double gt_item_mean(const struct gt_items *items, const double *values, enum gt_side side);

/* How many runs of a side have it. */
size_t gt_item_runs(const struct gt_items *items, const struct gt_item *item, enum gt_side side);

/* Whether every run knows the time of one. */
bool gt_item_has_times(const struct gt_items *items, const struct gt_item *item);

/* Whether all runs of a side have as many, and the other side has another number. */
bool gt_item_other_count(const struct gt_items *items, const struct gt_item *item);

/* Geometric mean of a figure over runs; NAN where one does not know it. Of zeros it is 0. */
double gt_mean_figure(const struct gt_profile *profiles, size_t count, size_t figure);

/* Matches items that one side alone has: gives them their match, and merges pairs (match.c). */
void gt_items_match(struct gt_items *items);

#endif

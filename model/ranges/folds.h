/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_RANGES_FOLDS_H
#define GT_MODEL_RANGES_FOLDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/trace.h"

/*
 * Names of NVTX ranges that differ in numbers alone, as "step 1" and "step 2", which are then one
 * name: "step #".
 */
enum gt_fold {
	GT_FOLD_AUTO, /* where there are many of them, and most come once: they number something */
	GT_FOLD_YES,
	GT_FOLD_NO,
};

enum { GT_FOLD_MANY = 32 };

#define GT_FOLD_SIGN '#' /* for a number */

/* The words for these, in their order, with NULL behind them. */
extern const char *const gt_fold_words[];

/* The enum's value for one of the words. */
enum gt_fold gt_fold_of(const char *word);

struct gt_range_folds {
	size_t count;     /* of strings; 0: nothing is folded */
	gt_string *first; /* by string: the first text that it is folded with; 0: none */
	uint32_t *varies; /* by string: which of its numbers differ, as gt_fold_text takes them */
	size_t names;     /* that are folded, */
	size_t into;      /* into so many */
};

/* The trace must not get further strings meanwhile. */
void gt_range_folds_init(struct gt_range_folds *folds, const struct gt_trace *trace,
                         enum gt_fold how);
void gt_range_folds_release(struct gt_range_folds *folds);

/* Bits of numbers of a text, by their place; all bits: all numbers, however many. */
#define GT_FOLD_ALL UINT32_MAX

/*
 * A text with signs for those of its numbers, at most size bytes of it with the one that ends it.
 */
void gt_fold_text(const char *text, uint32_t numbers, char *folded, size_t size);

/* Whether a text, with numbers, is one that this one, with signs for numbers, stands for. */
bool gt_fold_fits(const char *folded, const char *text);

#endif

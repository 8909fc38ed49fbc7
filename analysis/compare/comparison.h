/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_COMPARE_COMPARISON_H
#define GT_ANALYSIS_COMPARE_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/compare/method.h"
#include "analysis/compare/profile.h"
#include "base/array.h"

struct gt_strings;

/*
 * Two sides, each of one run of a program or more, row by row. Rows of kernels that one side alone
 * has are matched by what they have in common: first another launch shape, then another place, then
 * another kernel of the same family at the same place.
 */
enum gt_side { GT_SIDE_A, GT_SIDE_B, GT_SIDES };

enum gt_match {
	GT_MATCH_SAME,
	GT_MATCH_SHAPE,   /* another launch shape: other work */
	GT_MATCH_PLACE,   /* another range, or in a graph instead of by itself */
	GT_MATCH_RENAMED, /* another kernel of its family at its place */
	GT_MATCH_NEW,     /* side B alone has it */
	GT_MATCH_GONE,    /* side A alone has it */
	GT_MATCH_SOME,    /* not all runs of a side have it */
};

struct gt_compared_row {
	enum gt_compared table;
	enum gt_match match;
	const char *keys[GT_COMPARED_KEYS]; /* of side B, of side A where that alone has it */
	const char *were[GT_COMPARED_KEYS]; /* of side A where they differ; NULL: they do not */
	double count[GT_SIDES];             /* mean of its runs, of kernels in a step; NAN: none */
	double total_ns[GT_SIDES];
	double each_ns[GT_SIDES]; /* geometric mean of the time of one */
	double share;     /* of kernels: of the time of all, on the side where that is more */
	bool other_count; /* each run of a side has as many as its others, and the other side not */
	struct gt_trial_change change;
};

struct gt_compared_value {
	double value[GT_SIDES]; /* geometric mean of the runs; NAN: not known of one of them */
	struct gt_trial_change change;
};

/* A setting in which the sides differ, or the runs of a side. */
struct gt_compared_setting {
	const char *name;
	const char *value[GT_SIDES]; /* with commas between those of several runs */
	bool of_recording;
};

struct gt_comparison {
	struct gt_strings *strings;
	size_t runs[GT_SIDES];
	const char *step[GT_SIDES];  /* "": it has none */
	size_t incomplete[GT_SIDES]; /* runs whose ledger is not clean */
	const char *no_verdict;      /* why there is none; NULL: there are verdicts */
	bool by_step;                /* figures of kernels are of a step */
	bool other_steps; /* runs differ in what a step is, or some have none: figures of steps are
	                     left out */
	struct gt_compared_value figures[GT_COMPARED_FIGURES];
	bool common_known;
	double common; /* log of the factor that all kernels have in common */
	double clock;  /* log of the ratio of the clocks; 0: not known, or not clear */
	gt_array(struct gt_compared_row) rows; /* table after table, what changed most first */
	gt_array(struct gt_compared_setting) settings;
};

/* Profiles of side A first; they may go afterwards. */
void gt_comparison_init(struct gt_comparison *comparison, const struct gt_profile *profiles,
                        size_t a, size_t b);
void gt_comparison_release(struct gt_comparison *comparison);

/* Time of a row on a side; 0: the side has none, or it is not known. */
static inline double gt_compared_total(const struct gt_compared_row *row, enum gt_side side)
{
	return row->total_ns[side] > 0 ? row->total_ns[side] : 0;
}

/* The verdict of a row or a figure, for people: "slower", "new", "cannot tell"; "": there is none. */
const char *gt_compared_verdict(const struct gt_compared_row *row);
const char *gt_compared_figure_verdict(const struct gt_comparison *comparison,
                                       enum gt_compared_figure figure);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_COMPARE_PROFILE_H
#define GT_ANALYSIS_COMPARE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

struct gt_error;
struct gt_strings;
struct gt_view;

/*
 * All that is compared of one run of a program. It is small and needs its recording no more: so
 * many recordings are compared with the memory of one.
 */

enum gt_compared_figure {
#define FIGURE(name, unit, better, runs, words, help) GT_FIGURE_##name,
#include "analysis/compare/figures.def"
	GT_COMPARED_FIGURES
};

enum gt_better { GT_BETTER_NEITHER, GT_BETTER_LESS, GT_BETTER_MORE };

struct gt_compared_figure_info {
	const char *name;
	const char *unit;
	const char *words;
	const char *help;
	enum gt_better better;
	size_t runs; /* of each side that a verdict needs */
};

extern const struct gt_compared_figure_info gt_compared_figures[GT_COMPARED_FIGURES];

enum gt_compared {
	GT_COMPARED_kernels,
	GT_COMPARED_ranges,
#define COMPARED(name, ...) GT_COMPARED_##name,
#include "analysis/compare/tables.def"
	GT_COMPARED_TABLES
};

/* The keys of kernels. */
enum {
	GT_KERNEL_KEY_NAME,
	GT_KERNEL_KEY_SHAPE,
	GT_KERNEL_KEY_RANGE,
	GT_KERNEL_KEY_GRAPH,
	GT_COMPARED_KEYS
};

struct gt_compared_info {
	const char *title;
	const char *report; /* NULL: kernels and ranges */
	const char *section;
	const char *count;
	const char *total;
	const char *keys[GT_COMPARED_KEYS]; /* NULL behind the last */
};

extern const struct gt_compared_info gt_compared_tables[GT_COMPARED_TABLES];

/* How many there were, and their time. */
struct gt_profile_sum {
	double count;
	double total_ns;
	double log_each; /* mean logarithm of the time of one, in ns; NAN: not known */
};

struct gt_profile_row {
	enum gt_compared table;
	uint32_t keys[GT_COMPARED_KEYS]; /* strings of the profile; 0: not known, or none */
	uint32_t family;                 /* of kernels: enum gt_family */
	double place; /* of kernels: where in a step, or in the recording, they come; 0 to 1 */
	struct gt_profile_sum all;
	struct gt_profile_sum
		steady; /* of kernels: those in steady steps; count 0: there are none */
};

/* A fact of the run that explains differences: "driver", "13.0". */
struct gt_profile_setting {
	uint32_t name;
	uint32_t value;
	bool of_recording; /* how it was recorded: runs that differ in it have no verdicts */
};

struct gt_profile {
	struct gt_strings *strings;
	uint32_t recording; /* name of it */
	uint32_t step; /* path of the range that is a step, or how it was guessed; 0: there are none
	                */
	double steps;  /* steady ones, of all processes */
	bool incomplete;                     /* its ledger is not clean */
	double figures[GT_COMPARED_FIGURES]; /* NAN: not known */
	gt_array(struct gt_profile_row) rows;
	gt_array(struct gt_profile_setting) settings;
};

/* Takes kernels, ranges, figures and settings of a view. */
void gt_profile_init(struct gt_profile *profile, const char *recording, const struct gt_view *view);

/* Adds the tables of reports, as of operations and calls. Fails as these do. */
int gt_profile_add_reports(struct gt_profile *profile, const struct gt_view *view,
                           struct gt_error *err);
void gt_profile_release(struct gt_profile *profile);

const char *gt_profile_text(const struct gt_profile *profile, uint32_t text);

/* Rows of one table that agree in all keys become one. */
void gt_profile_unite_rows(struct gt_profile *profile);

#endif

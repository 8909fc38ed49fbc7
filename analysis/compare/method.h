/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_COMPARE_METHOD_H
#define GT_ANALYSIS_COMPARE_METHOD_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether things take another time than before. A run of the program is the unit of evidence:
 * launches of one run are not independent of each other, so that tests on launches find changes
 * where there are none. docs/reports/compare.md has the method and what it was tried on.
 */

/* The constants of the method. */
#define GT_METHOD_ALPHA  0.05  /* chance of one false verdict or more in a table, nominally */
#define GT_METHOD_CHANGE 0.02  /* changes below this share are no news */
#define GT_METHOD_SHARE  0.001 /* of the GPU time: kernels with less are not tested */
enum {
	GT_METHOD_RUNS = 3,      /* of each side, for a verdict */
	GT_METHOD_HOST_RUNS = 5, /* the same on what happens once in a run, as loading code */
	GT_METHOD_GROUPS =
		10, /* that tell a factor which all have in common from their own changes */
	GT_METHOD_POOL_DF =
		8, /* degrees of freedom that pooled variances of the other groups add */
};

enum gt_verdict {
	GT_VERDICT_NONE,   /* too few runs, or not tested */
	GT_VERDICT_SAME,   /* no change above GT_METHOD_CHANGE */
	GT_VERDICT_MORE,   /* takes longer, is more */
	GT_VERDICT_LESS,   /* takes less long, is less */
	GT_VERDICT_COMMON, /* changed no more than what all have in common, as by the clock */
	GT_VERDICT_UNTOLD, /* runs differ too much to tell */
};

/*
 * Logarithms of values, such as the time of one launch, by group and run: group after group, the
 * runs of side A first, then those of B. NAN: a run has none of the group.
 */
struct gt_trial {
	size_t a; /* runs of each side */
	size_t b;
	size_t groups;
	double *logs;
	const bool *tested; /* by group */
	bool has_common;    /* groups are of a kind: they share a variance, and a factor as of the
	                       GPU's clock */
	double clock;       /* the log of that factor where too few groups tell it; 0: not known */
};

struct gt_trial_change {
	double change; /* log of B / A, without the factor in common */
	double raw;    /* with it */
	double margin; /* the change is within so much of the true one, by GT_METHOD_ALPHA; NAN: not
	                  known */
	enum gt_verdict verdict;
};

struct gt_trial_result {
	struct gt_trial_change *changes; /* by group; the caller frees them with gt_array_free */
	bool common_known;
	double common; /* log of the factor that the groups tested have in common, B / A */
	size_t tested; /* groups with a verdict */
};

/* Logarithms stay as they are. */
struct gt_trial_result gt_trial_solve(const struct gt_trial *trial);

/* The quantile of Student's distribution: P(T <= result) = probability, 0.5 <= probability < 1. */
double gt_student_quantile(double probability, double degrees);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Made-up runs of a hundred kernels in which nothing changed, or one did, or the clock. */
#include "analysis/compare/method.h"

#include <math.h>
#include <stdint.h>

#include "base/array.h"
#include "support/check.h"

enum { GROUPS = 100, MOST_RUNS = 10, TRIALS = 300 };

/* Values of published tables of the t distribution. */
Test(method, quantiles)
{
	static const struct {
		double probability;
		double degrees;
		double t;
	} table[] = {
		{0.975, 1, 12.7062},  {0.975, 4, 2.77645},   {0.95, 10, 1.81246},
		{0.995, 12, 3.05454}, {0.9995, 16, 4.01500}, {0.975, 120, 1.97993},
	};

	for (size_t i = 0; i < GT_COUNT_OF(table); i++)
		cr_expect(fabs(gt_student_quantile(table[i].probability, table[i].degrees) -
		               table[i].t) < 1e-4);
	cr_expect(gt_student_quantile(0.5, 7) == 0);
}

/* ---- made-up runs ---- */

static uint64_t state;

/* A number from 0 to 1: xorshift64*. */
static double uniform(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (double)((state * 2685821657736338717ULL) >> 11) / 9007199254740992.0;
}

static double normal(void)
{
	const double radius = sqrt(-2 * log(uniform() + 1e-300));

	return radius * cos(6.283185307179586 * uniform());
}

struct setting {
	size_t runs;    /* of each side */
	double spread;  /* median over groups of the deviation from run to run */
	double clock;   /* deviation of what all have in common */
	double planted; /* log of the change of group 0 */
	double common;  /* log of the change of all */
};

struct tally {
	size_t any;   /* trials with a verdict on an unchanged group */
	size_t found; /* trials with one on group 0, as planted */
	size_t common;
};

static void make_runs(const struct setting *setting, double *logs)
{
	const size_t runs = 2 * setting->runs;
	double clocks[MOST_RUNS];

	for (size_t r = 0; r < runs; r++)
		clocks[r] = setting->clock * normal() + (r < setting->runs ? 0 : setting->common);
	for (size_t g = 0; g < GROUPS; g++) {
		const double level = 8 + 3 * uniform();
		const double spread = setting->spread * exp(0.5 * normal());

		for (size_t r = 0; r < runs; r++)
			logs[g * runs + r] = level + clocks[r] + spread * normal() +
			                     (g == 0 && r >= setting->runs ? setting->planted : 0);
	}
}

static bool is_news(enum gt_verdict verdict)
{
	return verdict == GT_VERDICT_MORE || verdict == GT_VERDICT_LESS;
}

static void count(const struct setting *setting, const double *logs, struct tally *tally)
{
	bool tested[GROUPS];
	struct gt_trial trial = {setting->runs, setting->runs, GROUPS, (double *)logs,
	                         tested,        true,          0};
	struct gt_trial_result result;
	bool any = false;

	for (size_t g = 0; g < GROUPS; g++)
		tested[g] = true;
	result = gt_trial_solve(&trial);
	for (size_t g = setting->planted != 0; g < GROUPS; g++)
		any = any || is_news(result.changes[g].verdict);
	tally->any += any;
	tally->found += result.changes[0].verdict ==
	                (setting->planted > 0 ? GT_VERDICT_MORE : GT_VERDICT_LESS);
	tally->common += fabs(result.common) > log1p(GT_METHOD_CHANGE);
	gt_array_free(result.changes);
}

static struct tally simulate(struct setting setting)
{
	static double logs[GROUPS * MOST_RUNS];
	struct tally tally = {0};

	state = 88172645463325252ULL;
	for (size_t i = 0; i < TRIALS; i++) {
		make_runs(&setting, logs);
		count(&setting, logs, &tally);
	}
	return tally;
}

/* One false verdict or more in a comparison of a hundred kernels: at most 5 of 100 comparisons. */
Test(method, unchanged)
{
	cr_expect(simulate((struct setting){3, 0.005, 0, 0, 0}).any <= TRIALS / 20);
	cr_expect(simulate((struct setting){3, 0.005, 0.01, 0, 0}).any <= TRIALS / 20);
	cr_expect(simulate((struct setting){5, 0.005, 0.01, 0, 0}).any <= TRIALS / 20);
	cr_expect(simulate((struct setting){5, 0.01, 0.02, 0, 0}).any <= TRIALS / 20);
	cr_expect(simulate((struct setting){3, 0.02, 0, 0, 0}).any <= TRIALS / 20);
}

Test(method, planted)
{
	cr_expect(simulate((struct setting){5, 0.005, 0, log(1.05), 0}).found >= TRIALS * 8 / 10);
	cr_expect(simulate((struct setting){3, 0.005, 0, log(1.10), 0}).found >= TRIALS * 9 / 10);
	cr_expect(simulate((struct setting){3, 0.005, 0, log(0.90), 0}).found >= TRIALS * 9 / 10);
	cr_expect(simulate((struct setting){3, 0.02, 0, log(1.05), 0}).found <= TRIALS / 10);
}

/* A change of the clock is one of all kernels, and of none. */
Test(method, clock)
{
	const struct tally slower = simulate((struct setting){3, 0.005, 0.002, 0, log(1.08)});
	const struct tally both = simulate((struct setting){5, 0.005, 0.002, log(1.10), log(1.04)});

	cr_expect(slower.any <= TRIALS / 20);
	cr_expect(slower.common == TRIALS);
	cr_expect(both.found >= TRIALS * 9 / 10);
	cr_expect(both.any <= TRIALS / 20);
}

/* ---- single cases ---- */

static struct gt_trial_result solve(size_t a, size_t b, size_t groups, double *logs,
                                    const bool *tested, bool has_common, double clock)
{
	const struct gt_trial trial = {a, b, groups, logs, tested, has_common, clock};

	return gt_trial_solve(&trial);
}

Test(method, too_few_runs)
{
	double logs[] = {1, 1.5, 1.01, 1.51};
	const bool tested[] = {true};
	struct gt_trial_result one = solve(1, 1, 1, logs, tested, true, 0);
	struct gt_trial_result two = solve(2, 2, 1, logs, tested, true, 0);

	cr_expect(one.changes[0].verdict == GT_VERDICT_NONE && isnan(one.changes[0].margin));
	cr_expect(fabs(one.changes[0].raw - 0.5) < 1e-12);
	cr_expect(two.changes[0].verdict == GT_VERDICT_NONE);
	gt_array_free(one.changes);
	gt_array_free(two.changes);
}

/* Few groups do not tell a factor that they have in common: a clock that was read does. */
Test(method, clock_that_was_read)
{
	double logs[] = {
		5, 5.001, 5.002, 5.150, 5.151, 5.152, /* as the clock */
		7, 7.001, 7.002, 7.030, 7.031, 7.032, /* less than the clock: memory */
		3, 3.001, 3.002, 3.400, 3.401, 3.402, /* more */
		4, 4.001, 4.002, 3.900, 3.901, 3.902, /* against it */
	};
	const bool tested[] = {true, true, true, true};
	struct gt_trial_result result = solve(3, 3, 4, logs, tested, true, 0.15);

	cr_expect(!result.common_known && result.common == 0.15);
	cr_expect(result.changes[0].verdict == GT_VERDICT_COMMON);
	cr_expect(result.changes[1].verdict == GT_VERDICT_COMMON);
	cr_expect(result.changes[2].verdict == GT_VERDICT_MORE);
	cr_expect(fabs(result.changes[2].change - 0.25) < 1e-9);
	cr_expect(result.changes[3].verdict == GT_VERDICT_LESS);
	gt_array_free(result.changes);
}

Test(method, verdicts_of_one)
{
	double logs[] = {
		5, 5.001, 5.002, 5.001, 5.002, 5.003, /* same */
		5, 5.1,   5.2,   5.05,  5.15,  5.25,  /* runs differ */
		5, 5.001, 5.002, 5.015, 5.016, 5.017, /* a change below 2 % */
		5, NAN,   5,     6,     6,     6,     /* not tested */
	};
	const bool tested[] = {true, true, true, false};
	struct gt_trial_result result = solve(3, 3, 4, logs, tested, false, 0);

	cr_expect(result.changes[0].verdict == GT_VERDICT_SAME);
	cr_expect(result.changes[1].verdict == GT_VERDICT_UNTOLD);
	cr_expect(result.changes[2].verdict == GT_VERDICT_SAME);
	cr_expect(result.changes[3].verdict == GT_VERDICT_NONE);
	cr_expect(result.tested == 3);
	gt_array_free(result.changes);
}

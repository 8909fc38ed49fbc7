/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/compare/method.h"

#include <math.h>

#include "analysis/statistics/spread.h"
#include "base/array.h"

/* ---- Student's distribution ---- */

/* A continued fraction, term by term, by the method of Lentz. */
struct lentz {
	double c;
	double d;
	double value;
};

/* Takes one more term; returns what the value was multiplied by. */
static double take_term(struct lentz *fraction, double term)
{
	double step;

	fraction->d = 1 / (1 + term * fraction->d);
	fraction->c = 1 + term / fraction->c;
	step = fraction->d * fraction->c;
	fraction->value *= step;
	return step;
}

/* The continued fraction of the incomplete beta function: DLMF 8.17.22. */
static double beta_fraction(double a, double b, double x)
{
	const double first = 1 / (1 - (a + b) * x / (a + 1));
	struct lentz fraction = {1, first, first};

	for (int m = 1; m < 300; m++) {
		(void)take_term(&fraction, m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)));
		if (fabs(take_term(&fraction,
		                   -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))) -
		         1) < 1e-14)
			break;
	}
	return fraction.value;
}

/* lgamma() without its global sign: arguments are above 0. */
static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

/* Regularised incomplete beta function, DLMF 8.17.2 and 8.17.4. */
static double beta_share(double a, double b, double x)
{
	const double front =
		exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));

	return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
	                                 : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* P(T > t) for t > 0. */
static double student_tail(double t, double degrees)
{
	return beta_share(degrees / 2, 0.5, degrees / (degrees + t * t)) / 2;
}

double gt_student_quantile(double probability, double degrees)
{
	double low = 0;
	double high = 1;

	if (probability <= 0.5)
		return 0;
	while (student_tail(high, degrees) > 1 - probability && high < 1e12)
		high *= 2;
	for (int i = 0; i < 200 && high - low > 1e-12 * high; i++) {
		const double middle = (low + high) / 2;

		if (student_tail(middle, degrees) > 1 - probability)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

/* ---- sides ---- */

struct moments {
	double mean;
	double variance; /* of the sample; NAN of fewer than two */
};

static struct moments moments_of(const double *logs, const double *factors, size_t count)
{
	struct moments moments = {0, NAN};
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		moments.mean += (logs[i] - factors[i]) / (double)count;
	for (size_t i = 0; i < count; i++)
		sum += pow(logs[i] - factors[i] - moments.mean, 2);
	if (count > 1)
		moments.variance = sum / (double)(count - 1);
	return moments;
}

static double mean_of(const double *values, size_t count)
{
	double mean = 0;

	for (size_t i = 0; i < count; i++)
		mean += values[i] / (double)count;
	return mean;
}

static const double *logs_of(const struct gt_trial *trial, size_t group)
{
	return trial->logs + group * (trial->a + trial->b);
}

/* ---- the factor in common ---- */

/*
 * By run: the median over the groups tested of how far each is from its own mean. All zero where
 * too few groups were tested.
 */
static double *find_factors(const struct gt_trial *trial, size_t tested)
{
	const size_t runs = trial->a + trial->b;
	double *factors = gt_allocate_zeroed(runs + 1, sizeof(*factors));
	double *apart = gt_allocate((trial->groups + 1) * sizeof(*apart));

	for (size_t run = 0; run < runs && tested >= GT_METHOD_GROUPS; run++) {
		size_t count = 0;

		for (size_t group = 0; group < trial->groups; group++)
			if (trial->tested[group])
				apart[count++] = logs_of(trial, group)[run] -
				                 mean_of(logs_of(trial, group), runs);
		gt_sort_reals(apart, count);
		factors[run] = (apart[(count - 1) / 2] + apart[count / 2]) / 2;
	}
	gt_array_free(apart);
	return factors;
}

/* ---- verdicts ---- */

struct pool {
	double variance; /* mean of the groups tested; 0: of none but the group itself */
	double degrees;
	double quantile;
};

/* Mean of the variances of both sides. */
static double own_variance(const struct gt_trial *trial, size_t group, const double *factors)
{
	const double *logs = logs_of(trial, group);
	const struct moments a = moments_of(logs, factors, trial->a);
	const struct moments b = moments_of(logs + trial->a, factors + trial->a, trial->b);

	return (a.variance + b.variance) / 2;
}

/* Groups alone have the degrees of freedom of their own runs. */
static struct pool pool_of(const struct gt_trial *trial, const double *factors, size_t tested)
{
	struct pool pool = {0, (double)(trial->a + trial->b - 2), NAN};

	if (trial->a < 2 || trial->b < 2 || tested == 0)
		return pool;
	if (trial->has_common && tested >= GT_METHOD_GROUPS) {
		for (size_t group = 0; group < trial->groups; group++)
			if (trial->tested[group])
				pool.variance +=
					own_variance(trial, group, factors) / (double)tested;
		pool.degrees += GT_METHOD_POOL_DF;
	}
	pool.quantile =
		gt_student_quantile(1 - GT_METHOD_ALPHA / (2 * (double)tested), pool.degrees);
	return pool;
}

/* A change is one with and without the factor in common: memory does not follow the clock of a GPU.
 */
static enum gt_verdict judge(const struct gt_trial_change *change)
{
	const double least = log1p(GT_METHOD_CHANGE);
	const double needed = change->margin > least ? change->margin : least;
	const double low = fmin(change->change, change->raw);
	const double high = fmax(change->change, change->raw);

	if (isnan(change->margin))
		return GT_VERDICT_NONE;
	if (low > needed)
		return GT_VERDICT_MORE;
	if (high < -needed)
		return GT_VERDICT_LESS;
	if (fabs(change->raw) > needed)
		return GT_VERDICT_COMMON;
	return high + change->margin <= least && low - change->margin >= -least ? GT_VERDICT_SAME
	                                                                        : GT_VERDICT_UNTOLD;
}

static struct gt_trial_change change_of(const struct gt_trial *trial, size_t group,
                                        const double *factors, const struct gt_trial_result *result,
                                        const struct pool *pool)
{
	const double *logs = logs_of(trial, group);
	const bool enough = trial->a >= GT_METHOD_RUNS && trial->b >= GT_METHOD_RUNS;
	const double raw = mean_of(logs + trial->a, trial->b) - mean_of(logs, trial->a);
	struct gt_trial_change row = {raw - result->common, raw, NAN, GT_VERDICT_NONE};

	if (enough && trial->tested[group]) {
		const double own = own_variance(trial, group, factors);

		row.margin = pool->quantile * sqrt(fmax(own, pool->variance) *
		                                   (1 / (double)trial->a + 1 / (double)trial->b));
		row.verdict = judge(&row);
	}
	return row;
}

struct gt_trial_result gt_trial_solve(const struct gt_trial *trial)
{
	struct gt_trial_result result = {
		.changes = gt_allocate((trial->groups + 1) * sizeof(*result.changes)),
	};
	struct pool pool;
	double *factors;

	for (size_t group = 0; group < trial->groups; group++)
		result.tested += trial->tested[group];
	result.common_known = trial->has_common && result.tested >= GT_METHOD_GROUPS;
	factors = find_factors(trial, result.common_known ? result.tested : 0);
	result.common = result.common_known
	                        ? mean_of(factors + trial->a, trial->b) - mean_of(factors, trial->a)
	                        : trial->clock;
	pool = pool_of(trial, factors, result.tested);
	for (size_t group = 0; group < trial->groups; group++)
		result.changes[group] = change_of(trial, group, factors, &result, &pool);
	gt_array_free(factors);
	return result;
}

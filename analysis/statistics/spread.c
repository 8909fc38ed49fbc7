/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/statistics/spread.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/statistics/groups.h"

static int ascending(const void *a, const void *b)
{
	const int64_t left = *(const int64_t *)a;
	const int64_t right = *(const int64_t *)b;

	return (left > right) - (left < right);
}

static void swap(int64_t *a, int64_t *b)
{
	const int64_t kept = *a;

	*a = *b;
	*b = kept;
}

static int64_t median_of_three(int64_t a, int64_t b, int64_t c)
{
	if (a > b)
		swap(&a, &b);
	if (b > c)
		b = c;
	return a > b ? a : b;
}

/* Brings what is smaller than the pivot before what is larger; left and right end where they met. */
static void part(int64_t **left, int64_t **right, int64_t pivot)
{
	do {
		while (**left < pivot)
			++*left;
		while (**right > pivot)
			--*right;
		if (*left <= *right)
			swap((*left)++, (*right)--);
	} while (*left <= *right);
}

/*
 * Puts the value that sorting would put at position into its place, smaller ones before and
 * larger ones after it (Hoare's selection). When the halves stay lopsided,
 * as values made to that end can force, the rest is sorted: the time stays within n log n.
 */
static int64_t select_at(int64_t *values, size_t count, size_t position)
{
	int64_t *const target = values + position;
	int64_t *first = values;
	int64_t *last = values + count - 1;
	unsigned rounds = 64;

	while (first < last && rounds-- > 0) {
		const int64_t pivot = median_of_three(*first, first[(last - first) / 2], *last);
		int64_t *left = first;
		int64_t *right = last;

		part(&left, &right, pivot);
		if (right < target)
			first = left;
		if (target < left)
			last = right;
	}
	if (first < last)
		qsort(first, (size_t)(last - first) + 1, sizeof(*first), ascending);
	return *target;
}

/* Halfway between two values, lower <= upper, without their sum, which may be too large. */
static int64_t midpoint(int64_t lower, int64_t upper)
{
	return lower + (int64_t)(((uint64_t)upper - (uint64_t)lower) / 2);
}

static int64_t median_of(int64_t *values, size_t count)
{
	const int64_t upper = select_at(values, count, count / 2);

	if (count % 2)
		return upper;

	int64_t lower = values[0];

	for (size_t i = 1; i < count / 2; i++)
		if (values[i] > lower)
			lower = values[i];
	return midpoint(lower, upper);
}

static double deviation_of(const int64_t *values, size_t count, double mean)
{
	double squares = 0;

	if (count < 2)
		return NAN;
	for (size_t i = 0; i < count; i++) {
		const double distance = (double)values[i] - mean;

		squares += distance * distance;
	}
	return sqrt(squares / (double)(count - 1));
}

/* Times of a damaged recording may add up to more than fits: a wrong total, but a defined one. */
static int64_t add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

struct gt_spread gt_spread_of(int64_t *values, size_t count)
{
	struct gt_spread spread = {.count = count, .mean = NAN, .deviation = NAN};

	if (count == 0)
		return spread;
	spread.min = spread.max = values[0];
	for (size_t i = 0; i < count; i++) {
		spread.total = add(spread.total, values[i]);
		if (values[i] < spread.min)
			spread.min = values[i];
		if (values[i] > spread.max)
			spread.max = values[i];
	}
	spread.mean = (double)spread.total / (double)count;
	spread.deviation = deviation_of(values, count, spread.mean);
	spread.median = median_of(values, count);
	return spread;
}

struct gt_spread gt_spread_of_group(const struct gt_groups *groups, size_t group)
{
	size_t count;
	int64_t *values = gt_groups_get(groups, group, group, &count);

	return gt_spread_of(values, count);
}

int64_t gt_percentile(int64_t *values, size_t count, double percent)
{
	assert(count > 0 && percent > 0 && percent <= 100);

	const size_t rank = (size_t)ceil(percent / 100 * (double)count);

	return select_at(values, count, rank > 0 ? rank - 1 : 0);
}

static int by_value(const void *a, const void *b)
{
	const double left = *(const double *)a;
	const double right = *(const double *)b;

	return (left > right) - (left < right);
}

void gt_sort_reals(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), by_value);
}

double gt_rank_of(const double *sorted, size_t count, double percent)
{
	const size_t rank = (size_t)ceil(percent / 100 * (double)count);

	return sorted[rank > 0 ? rank - 1 : 0];
}

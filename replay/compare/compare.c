/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/compare/compare.h"

#include <math.h>
#include <string.h>

#include "replay/compare/elements.h"

enum { BLOCK = 512 }; /* elements that are looked at in one go */

static void values_init(struct gt_values *values)
{
	*values = (struct gt_values){.least = NAN, .most = NAN, .mean = NAN};
}

/* Mean of finite numbers. A sum that does not fit is made of shares. */
static double mean_of(const double *finite, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += finite[i];
	if (isfinite(sum))
		return sum / (double)count;
	sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += finite[i] / (double)count;
	return sum;
}

static void add_finite(struct gt_values *values, const double *finite, size_t count)
{
	const double before = (double)(values->count - values->nans - values->infinities);
	const double share = (double)count / (before + (double)count);

	if (!count)
		return;
	if (before == 0) {
		values->least = values->most = finite[0];
		values->mean = 0;
	}
	for (size_t i = 0; i < count; i++) {
		values->least = finite[i] < values->least ? finite[i] : values->least;
		values->most = finite[i] > values->most ? finite[i] : values->most;
	}
	values->mean = values->mean * (1 - share) + mean_of(finite, count) * share;
}

/* At most BLOCK of them. */
static void add_values(struct gt_values *values, const double *loaded, size_t count)
{
	double finite[BLOCK];
	size_t finite_count = 0;
	uint64_t nans = 0;

	for (size_t i = 0; i < count; i++) {
		nans += isnan(loaded[i]) ? 1 : 0;
		if (isfinite(loaded[i]))
			finite[finite_count++] = loaded[i];
	}
	add_finite(values, finite, finite_count);
	values->count += count;
	values->nans += nans;
	values->infinities += count - finite_count - nans;
}

void gt_values_of(const void *bytes, size_t size, enum gt_element element, struct gt_values *values)
{
	const size_t element_size = gt_element_size(element);
	const size_t elements = size / element_size;
	double loaded[BLOCK];

	values_init(values);
	for (size_t done = 0; done < elements; done += BLOCK) {
		const size_t count = elements - done < BLOCK ? elements - done : BLOCK;

		gt_elements_load((const uint8_t *)bytes + done * element_size, count, element,
		                 loaded);
		add_values(values, loaded, count);
	}
}

/* Two buffers that are being compared. */
struct pair {
	const uint8_t *wanted;
	const uint8_t *got;
	enum gt_element element;
	size_t element_size;
	struct gt_tolerance tolerance;
	struct gt_comparison *out;
};

static bool within(const struct pair *pair, double distance, double wanted, double got)
{
	const struct gt_tolerance *tolerance = &pair->tolerance;

	if (pair->element == GT_ELEMENT_bytes || (tolerance->rtol == 0 && tolerance->atol == 0))
		return false; /* they differ */
	if (isnan(wanted) || isnan(got))
		return isnan(wanted) && isnan(got);
	if (isinf(wanted) || isinf(got))
		return wanted == got;
	return distance <= tolerance->atol + tolerance->rtol * fabs(wanted);
}

static void add_mismatch(struct gt_comparison *out, uint64_t offset, double wanted, double got)
{
	if (out->first_count < GT_FIRST_MISMATCHES)
		out->first[out->first_count++] = (struct gt_mismatch){offset, wanted, got};
	out->mismatches++;
}

/* An element whose bits differ. */
static void add_differing(const struct pair *pair, uint64_t offset, double wanted, double got)
{
	struct gt_comparison *out = pair->out;
	double distance = INFINITY;

	out->differing++;
	if (isfinite(wanted) && isfinite(got)) {
		distance = gt_element_distance(pair->wanted + offset, pair->got + offset,
		                               pair->element);
		out->worst_absolute = fmax(out->worst_absolute, distance);
		if (wanted != 0)
			out->worst_relative = fmax(out->worst_relative, distance / fabs(wanted));
	}
	if (!within(pair, distance, wanted, got))
		add_mismatch(out, offset, wanted, got);
}

/* At most BLOCK elements from that one on. */
static void compare_block(const struct pair *pair, size_t first, size_t count)
{
	const size_t begin = first * pair->element_size;
	double wanted[BLOCK];
	double got[BLOCK];

	gt_elements_load(pair->wanted + begin, count, pair->element, wanted);
	add_values(&pair->out->wanted_values, wanted, count);
	if (memcmp(pair->wanted + begin, pair->got + begin, count * pair->element_size) == 0) {
		add_values(&pair->out->got_values, wanted, count);
		return;
	}
	gt_elements_load(pair->got + begin, count, pair->element, got);
	add_values(&pair->out->got_values, got, count);
	for (size_t i = 0; i < count; i++) {
		const size_t offset = begin + i * pair->element_size;

		if (memcmp(pair->wanted + offset, pair->got + offset, pair->element_size) != 0)
			add_differing(pair, offset, wanted[i], got[i]);
	}
}

/* The bytes from that offset on, which are no whole element. */
static void compare_rest(const struct pair *pair, size_t begin, size_t size)
{
	for (size_t i = begin; i < size; i++) {
		if (pair->wanted[i] == pair->got[i])
			continue;
		pair->out->differing++;
		add_mismatch(pair->out, i, pair->wanted[i], pair->got[i]);
	}
}

void gt_compare(const void *wanted, const void *got, size_t size, enum gt_element element,
                struct gt_tolerance tolerance, struct gt_comparison *comparison)
{
	const size_t element_size = gt_element_size(element);
	const size_t elements = size / element_size;
	struct pair pair = {wanted, got, element, element_size, tolerance, NULL};

	*comparison = (struct gt_comparison){.element = element};
	pair.out = comparison;
	comparison->elements = elements + size % element_size;
	if (size == 0 || memcmp(wanted, got, size) == 0) {
		gt_values_of(wanted, size, element, &comparison->wanted_values);
		comparison->got_values = comparison->wanted_values;
		return;
	}
	values_init(&comparison->wanted_values);
	values_init(&comparison->got_values);
	for (size_t done = 0; done < elements; done += BLOCK)
		compare_block(&pair, done, elements - done < BLOCK ? elements - done : BLOCK);
	compare_rest(&pair, elements * element_size, size);
}

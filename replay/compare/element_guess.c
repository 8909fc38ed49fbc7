/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "replay/compare/elements.h"

/*
 * Numbers of one buffer are mostly of like size: the logarithms of what is spread evenly or
 * normally have a standard deviation of 1.5 bits, of what comes out of a softmax some more. Read as
 * a type of another width they spread over the whole range of the exponent, or half of the elements
 * do: low bits of a fraction are no number. Read with too many bits of exponent they are stretched,
 * with too few they are squeezed together.
 */

enum {
	SAMPLES = 16,
	SAMPLE_BYTES = 1024,
	MOST_ELEMENTS = SAMPLES * SAMPLE_BYTES / 2,
	MOST_PLACES = 4,
	LEAST_NARROW = 64, /* elements of 2 bytes: fewer say nothing of their places */
};

/* Some of the contents: evenly spread over them, each a multiple of 8 from the begin. */
struct contents {
	uint8_t bytes[SAMPLES * SAMPLE_BYTES];
	size_t size;
};

/* Elements at the same place in each group of eight bytes. */
struct place {
	size_t count;
	size_t zeros;
	size_t finite; /* and not 0 */
	double mean;   /* of log2 of the magnitude of these; NAN: there are none */
	double spread; /* standard deviation */
};

/* A floating-point type that contents may be of. */
struct candidate {
	enum gt_element element;
	double least_spread; /* bits; other types' numbers are squeezed below that, if not to 0 */
	double most_spread;  /* what is evenly spread over all patterns has more */
	double most_mean;    /* bits from 1 */
	double most_apart;   /* of the places' means */
};

/* binary16 has 30 exponents in all: random bits spread by 9. */
static const struct candidate narrow[] = {
	{GT_ELEMENT_bf16, 0, 6, 40, 3},
	{GT_ELEMENT_f16, 0.75, 5, 12, 3},
};
static const struct candidate single = {GT_ELEMENT_f32, 0, 6, 40, 8};
static const struct candidate wide = {GT_ELEMENT_f64, 0, 8, 80, 80};

static void take_samples(struct contents *contents, const uint8_t *bytes, size_t size)
{
	contents->size = size;
	if (size <= sizeof(contents->bytes)) {
		memcpy(contents->bytes, bytes, size);
		return;
	}
	contents->size = sizeof(contents->bytes);
	for (size_t i = 0; i < SAMPLES; i++) {
		const size_t from = (size - SAMPLE_BYTES) / (SAMPLES - 1) * i;

		memcpy(contents->bytes + i * SAMPLE_BYTES, bytes + from / 8 * 8, SAMPLE_BYTES);
	}
}

static void describe_place(struct place *place, const double *values, size_t count, size_t step)
{
	double sum = 0;
	double squares = 0;

	*place = (struct place){.mean = NAN, .spread = NAN};
	for (size_t i = 0; i < count; i += step) {
		const double bits = values[i] == 0 ? 0 : log2(fabs(values[i]));

		place->count++;
		place->zeros += values[i] == 0 ? 1 : 0;
		if (values[i] == 0 || !isfinite(values[i]))
			continue;
		place->finite++;
		sum += bits;
		squares += bits * bits;
	}
	if (!place->finite)
		return;
	place->mean = sum / (double)place->finite;
	place->spread = sqrt(fmax(squares / (double)place->finite - place->mean * place->mean, 0));
}

/* Whether two places hold numbers of the same sort; not when one is the other's high bits. */
static bool alike(const struct place *one, const struct place *other, double most_apart)
{
	const double zeros = (double)one->zeros / (double)one->count;
	const double other_zeros = (double)other->zeros / (double)other->count;

	if (fabs(zeros - other_zeros) > 0.4)
		return false;
	return !one->finite || !other->finite || fabs(one->mean - other->mean) <= most_apart;
}

static bool plausible(const struct place *place, const struct candidate *candidate)
{
	return !place->finite || (place->spread <= candidate->most_spread &&
	                          fabs(place->mean) <= candidate->most_mean);
}

static double unlikeness_of(const struct place *place, const struct candidate *candidate)
{
	const bool squeezed = place->spread > 0 && place->spread < candidate->least_spread;

	return fmin(fabs(place->mean) / 3, 1.75) + (squeezed ? 2 : 0);
}

/*
 * How unlike numbers of that type the contents are, by their spread and their distance from 1;
 * negative: they are no such numbers.
 */
static double unlikeness(const struct contents *contents, const struct candidate *candidate)
{
	const size_t size = gt_element_size(candidate->element);
	const size_t count = contents->size / size;
	const size_t places = count < 8 / size ? count : 8 / size;
	double values[MOST_ELEMENTS];
	struct place found[MOST_PLACES];
	double worst = -1;

	gt_elements_load(contents->bytes, count, candidate->element, values);
	for (size_t i = 0; i < places; i++) {
		describe_place(&found[i], values + i, count - i, places);
		if (!plausible(&found[i], candidate) ||
		    !alike(&found[0], &found[i], candidate->most_apart))
			return -1;
		if (found[i].finite)
			worst = fmax(worst, unlikeness_of(&found[i], candidate));
	}
	return worst;
}

/* Whether nearly all are integers whose highest byte only repeats the sign. */
static bool looks_integer(const struct contents *contents, enum gt_element element)
{
	const size_t size = gt_element_size(element);
	const size_t count = contents->size / size;
	size_t small = 0;
	size_t zeros = 0;

	for (size_t i = 0; i < count; i++) {
		const uint8_t *at = contents->bytes + i * size;
		const uint8_t sign = at[size - 2] & 0x80 ? 0xff : 0;

		small += at[size - 1] == sign ? 1 : 0;
		zeros += at[0] == 0 && memcmp(at, at + 1, size - 1) == 0 ? 1 : 0;
	}
	return zeros < count && small >= count - count / 16;
}

/* Whether every second element of that size only repeats the sign of the one before it, or is 0. */
static bool repeats_signs(const struct contents *contents, size_t size)
{
	for (size_t i = 0; i + 2 * size <= contents->size; i += 2 * size) {
		const uint8_t *low = contents->bytes + i;
		const uint8_t sign = low[size - 1] & 0x80 ? 0xff : 0;

		for (size_t k = 0; k < size; k++) {
			if (low[size + k] != sign && low[size + k] != 0)
				return false;
		}
	}
	return contents->size >= 2 * size;
}

static bool is_integer(const struct contents *contents, enum gt_element element)
{
	return looks_integer(contents, element) &&
	       !repeats_signs(contents, gt_element_size(element));
}

/* GT_ELEMENT_bytes: it is of no type of 2 bytes. */
static enum gt_element guess_narrow(const struct contents *contents)
{
	enum gt_element best = GT_ELEMENT_bytes;
	double least = INFINITY;

	for (size_t i = 0; i < GT_COUNT_OF(narrow); i++) {
		const double found = unlikeness(contents, &narrow[i]);

		if (found >= 0 && found < least) {
			least = found;
			best = narrow[i].element;
		}
	}
	if (best == GT_ELEMENT_bytes && is_integer(contents, GT_ELEMENT_i16))
		return GT_ELEMENT_i16;
	return best;
}

/* Contents that are NaN throughout are worth a type, too: random bits are not. */
static bool only_nans(const struct contents *contents)
{
	const size_t count = contents->size / 4;
	double values[MOST_ELEMENTS];
	size_t nans = 0;

	gt_elements_load(contents->bytes, count, GT_ELEMENT_f32, values);
	for (size_t i = 0; i < count; i++) {
		if (!isnan(values[i]) && values[i] != 0)
			return false;
		nans += isnan(values[i]) ? 1 : 0;
	}
	return nans > 0;
}

/* The narrowest that fits: a wider one is then two of them in one. */
enum gt_element gt_element_guess(const void *bytes, size_t size)
{
	struct contents contents;
	enum gt_element element = GT_ELEMENT_bytes;

	take_samples(&contents, bytes, size);
	if (size % 2 == 0 && size / 2 >= LEAST_NARROW)
		element = guess_narrow(&contents);
	if (element != GT_ELEMENT_bytes || size % 4 || size == 0)
		return element;
	if (unlikeness(&contents, &single) >= 0)
		return GT_ELEMENT_f32;
	if (is_integer(&contents, GT_ELEMENT_i32))
		return GT_ELEMENT_i32;
	if (size % 8 == 0 && unlikeness(&contents, &wide) >= 0)
		return GT_ELEMENT_f64;
	if (size % 8 == 0 && looks_integer(&contents, GT_ELEMENT_i64))
		return GT_ELEMENT_i64;
	return only_nans(&contents) ? GT_ELEMENT_f32 : GT_ELEMENT_bytes;
}

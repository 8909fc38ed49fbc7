/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "replay/compare/compare.h"
#include "support/capture.h"
#include "support/check.h"

enum { COUNT = 20000 };

/* Evenly between 0 and 1. */
static double uniform(uint64_t *state)
{
	return (double)(next_random(state) >> 11) * 0x1p-53;
}

/* Normally, by Box and Muller. */
static double normal(uint64_t *state)
{
	const double radius = sqrt(-2 * log(1 - uniform(state)));

	return radius * cos(6.283185307179586 * uniform(state));
}

/* The contents of buffers as programs have them. */
static double activation(uint64_t *state)
{
	return normal(state);
}

static double weight(uint64_t *state)
{
	return normal(state) * 0.02;
}

static double gradient(uint64_t *state)
{
	return normal(state) * 1e-4;
}

static double rectified(uint64_t *state)
{
	return fmax(normal(state), 0);
}

static double probability(uint64_t *state)
{
	return exp(3 * normal(state) - 8);
}

static double position(uint64_t *state)
{
	return 100 * uniform(state);
}

static double scale(uint64_t *state)
{
	return 1 + 0.05 * normal(state);
}

static double whole(uint64_t *state)
{
	return (double)(next_random(state) % 1000);
}

static double small_whole(uint64_t *state)
{
	return (double)(next_random(state) % 7) - 3;
}

static double flag(uint64_t *state)
{
	return (double)(next_random(state) % 2);
}

static double token(uint64_t *state)
{
	return (double)(next_random(state) % 50257);
}

static double row(uint64_t *state)
{
	return (double)(next_random(state) % 4000000);
}

static uint32_t bits_of(double value)
{
	const float narrow = (float)value;
	uint32_t bits;

	memcpy(&bits, &narrow, sizeof(bits));
	return bits;
}

/* Nearest binary16 by trying: values of tests are few. */
static uint16_t half_of(double value)
{
	const double magnitude = fabs(value);
	int exponent;
	double step;
	uint32_t units;

	if (magnitude < 0x1p-14) {
		units = (uint32_t)lround(magnitude * 0x1p24);
	} else {
		(void)frexp(magnitude, &exponent);
		step = ldexp(1, exponent - 11);
		units = (uint32_t)lround(magnitude / step) + (uint32_t)(exponent + 13) * 1024;
	}
	return (uint16_t)(units | (value < 0 ? 0x8000 : 0));
}

static void store(uint8_t *to, double value, enum gt_element element)
{
	uint64_t bits = (uint64_t)(int64_t)value;

	if (element == GT_ELEMENT_f64)
		memcpy(&bits, &value, sizeof(bits));
	else if (element == GT_ELEMENT_f32)
		bits = bits_of(value);
	else if (element == GT_ELEMENT_bf16)
		bits = (bits_of(value) + 0x7fff) >> 16;
	else if (element == GT_ELEMENT_f16)
		bits = half_of(value);
	for (size_t i = 0; i < gt_element_size(element); i++)
		to[i] = (uint8_t)(bits >> (8 * i));
}

struct like {
	const char *what;
	double (*value)(uint64_t *state);
	enum gt_element element;
};

static const struct like likes[] = {
	{"activations", activation, GT_ELEMENT_f16},
	{"activations", activation, GT_ELEMENT_bf16},
	{"activations", activation, GT_ELEMENT_f32},
	{"activations", activation, GT_ELEMENT_f64},
	{"weights", weight, GT_ELEMENT_f16},
	{"weights", weight, GT_ELEMENT_bf16},
	{"weights", weight, GT_ELEMENT_f32},
	{"weights", weight, GT_ELEMENT_f64},
	{"gradients", gradient, GT_ELEMENT_bf16},
	{"gradients", gradient, GT_ELEMENT_f32},
	{"gradients", gradient, GT_ELEMENT_f64},
	{"rectified", rectified, GT_ELEMENT_f16},
	{"rectified", rectified, GT_ELEMENT_bf16},
	{"rectified", rectified, GT_ELEMENT_f32},
	{"rectified", rectified, GT_ELEMENT_f64},
	{"probabilities", probability, GT_ELEMENT_bf16},
	{"probabilities", probability, GT_ELEMENT_f32},
	{"positions", position, GT_ELEMENT_f16},
	{"positions", position, GT_ELEMENT_bf16},
	{"positions", position, GT_ELEMENT_f32},
	{"positions", position, GT_ELEMENT_f64},
	{"scales", scale, GT_ELEMENT_f32},
	{"scales", scale, GT_ELEMENT_bf16},
	{"scales", scale, GT_ELEMENT_f64},
	{"whole numbers", whole, GT_ELEMENT_f16},
	{"whole numbers", whole, GT_ELEMENT_f32},
	{"whole numbers", whole, GT_ELEMENT_f64},
	{"whole numbers", whole, GT_ELEMENT_i32},
	{"whole numbers", whole, GT_ELEMENT_i64},
	{"small whole numbers", small_whole, GT_ELEMENT_i16},
	{"small whole numbers", small_whole, GT_ELEMENT_i32},
	{"small whole numbers", small_whole, GT_ELEMENT_i64},
	{"small whole numbers", small_whole, GT_ELEMENT_bf16},
	{"small whole numbers", small_whole, GT_ELEMENT_f32},
	{"flags", flag, GT_ELEMENT_i32},
	{"flags", flag, GT_ELEMENT_f32},
	{"flags", flag, GT_ELEMENT_f16},
	{"flags", flag, GT_ELEMENT_bf16},
	{"tokens", token, GT_ELEMENT_i32},
	{"tokens", token, GT_ELEMENT_i64},
	{"tokens", token, GT_ELEMENT_f32},
	{"rows", row, GT_ELEMENT_i32},
	{"rows", row, GT_ELEMENT_i64},
	{"rows", row, GT_ELEMENT_f32},
};

static void expect_guess(const struct like *like)
{
	const size_t size = gt_element_size(like->element);
	const size_t counts[] = {256, 1000, COUNT};
	uint8_t *bytes = malloc(COUNT * size);
	uint64_t state = 3;

	for (size_t i = 0; i < COUNT; i++)
		store(bytes + i * size, like->value(&state), like->element);
	for (size_t i = 0; i < GT_COUNT_OF(counts); i++) {
		const enum gt_element guess = gt_element_guess(bytes, counts[i] * size);

		cr_expect(guess == like->element, "%zu %s of %s are taken for %s", counts[i],
		          like->what, gt_element_name(like->element), gt_element_name(guess));
	}
	free(bytes);
}

Test(element_guess, of_contents_as_programs_have_them_is_right)
{
	for (size_t i = 0; i < GT_COUNT_OF(likes); i++)
		expect_guess(&likes[i]);
}

Test(element_guess, says_bytes_of_what_looks_like_no_number)
{
	uint8_t *bytes = malloc(COUNT);
	uint64_t state = 5;

	for (size_t i = 0; i < COUNT; i++)
		bytes[i] = (uint8_t)next_random(&state);
	cr_expect(eq(int, (int)gt_element_guess(bytes, COUNT), (int)GT_ELEMENT_bytes), "random");
	for (size_t i = 0; i < COUNT; i++)
		bytes[i] = next_random(&state) % 2;
	cr_expect(eq(int, (int)gt_element_guess(bytes, COUNT), (int)GT_ELEMENT_bytes), "flags");
	for (size_t i = 0; i < COUNT; i++)
		bytes[i] = (uint8_t)(" etaoinshrdlu"[next_random(&state) % 13]);
	cr_expect(eq(int, (int)gt_element_guess(bytes, COUNT), (int)GT_ELEMENT_bytes), "text");
	memset(bytes, 0, COUNT);
	cr_expect(eq(int, (int)gt_element_guess(bytes, COUNT), (int)GT_ELEMENT_bytes), "zeros");
	cr_expect(eq(int, (int)gt_element_guess(bytes, 0), (int)GT_ELEMENT_bytes), "nothing");
	free(bytes);
}

Test(element_guess, of_one_number_is_of_one_of_four_bytes)
{
	uint8_t bytes[8] = {0};

	gt_put_u32(bytes, bits_of(1234.5));
	cr_expect(eq(int, (int)gt_element_guess(bytes, 4), (int)GT_ELEMENT_f32));
	gt_put_u32(bytes, 77);
	cr_expect(eq(int, (int)gt_element_guess(bytes, 4), (int)GT_ELEMENT_i32));
	cr_expect(eq(int, (int)gt_element_guess(bytes, 3), (int)GT_ELEMENT_bytes));
	gt_put_u64(bytes, 77);
	cr_expect(eq(int, (int)gt_element_guess(bytes, 8), (int)GT_ELEMENT_i64));
}

Test(element_guess, of_nans_throughout_is_still_one)
{
	uint8_t bytes[4096];

	for (size_t i = 0; i < sizeof(bytes); i += 4)
		gt_put_u32(bytes + i, 0x7fffffff);
	cr_expect(eq(int, (int)gt_element_guess(bytes, sizeof(bytes)), (int)GT_ELEMENT_f32));
}

Test(element_guess, is_not_misled_by_some_nans)
{
	uint8_t bytes[8192];
	uint64_t state = 9;

	for (size_t i = 0; i < sizeof(bytes); i += 4)
		gt_put_u32(bytes + i, i % 64 ? bits_of(normal(&state)) : 0x7fc00000);
	cr_expect(eq(int, (int)gt_element_guess(bytes, sizeof(bytes)), (int)GT_ELEMENT_f32));
}

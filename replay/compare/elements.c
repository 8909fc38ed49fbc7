/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/compare/elements.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "format/bundle/array_shape.h"

static double f32_of(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* IEEE 754 binary16: 5 bits of exponent, bias 15, 10 of fraction. */
static double f16_of(uint32_t bits)
{
	const uint32_t sign = (bits & 0x8000u) << 16;
	const uint32_t exponent = bits >> 10 & 31;
	const uint32_t fraction = bits & 0x3ff;

	if (!exponent) {
		const double value = fraction * 0x1p-24;

		return sign ? -value : value;
	}
	/* 112: bias of binary32 - 15; what is all ones stays so. */
	return f32_of(sign | (exponent == 31 ? 255 : exponent + 112) << 23 | fraction << 13);
}

/*
 * E4M3 of "OCP 8-bit Floating Point Specification (OFP8)" 1.0, table 1: bias 7, no infinities, NaN
 * only where all seven bits are set; the largest is 448.
 */
static double f8e4m3_of(uint32_t bits)
{
	const uint32_t exponent = bits >> 3 & 15;
	const uint32_t fraction = bits & 7;
	double value;

	if ((bits & 0x7f) == 0x7f)
		value = NAN;
	else if (!exponent)
		value = fraction * 0x1p-9;
	else
		value = ldexp(8 + fraction, (int)exponent - 10);
	return bits & 0x80 ? -value : value;
}

static double f64_of(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

enum {
#define ELEMENT(name, size) SIZE_##name = (size),
	GT_ELEMENTS(ELEMENT)
#undef ELEMENT
};

/* at: the element's first byte. */
#define LOADER(name, expression)                                                                   \
	static void load_##name(const uint8_t *at, size_t count, double *values)                   \
	{                                                                                          \
		for (size_t i = 0; i < count; i++, at += SIZE_##name)                              \
			values[i] = (expression);                                                  \
	}

LOADER(bytes, at[0])
LOADER(i8, (int8_t)at[0])
LOADER(u8, at[0])
LOADER(i16, (int16_t)gt_get_u16(at))
LOADER(u16, gt_get_u16(at))
LOADER(i32, (int32_t)gt_get_u32(at))
LOADER(u32, gt_get_u32(at))
LOADER(i64, (double)(int64_t)gt_get_u64(at))
LOADER(u64, (double)gt_get_u64(at))
LOADER(f16, f16_of(gt_get_u16(at)))
LOADER(bf16, f32_of((uint32_t)gt_get_u16(at) << 16))
LOADER(f32, f32_of(gt_get_u32(at)))
LOADER(f64, f64_of(gt_get_u64(at)))
LOADER(f8e4m3, f8e4m3_of(at[0]))
LOADER(f8e5m2, f16_of((uint32_t)at[0] << 8)) /* table 1: as binary16, cut after 2 bits */

struct element {
	const char *name;
	size_t size;
	void (*load)(const uint8_t *at, size_t count, double *values);
};

static const struct element elements[] = {
#define ELEMENT(name, size) {#name, size, load_##name},
	GT_ELEMENTS(ELEMENT)
#undef ELEMENT
};

void gt_elements_load(const uint8_t *bytes, size_t count, enum gt_element element, double *values)
{
	elements[element].load(bytes, count, values);
}

double gt_element_distance(const uint8_t *wanted, const uint8_t *got, enum gt_element element)
{
	double values[2];

	if (element == GT_ELEMENT_u64 || element == GT_ELEMENT_i64) {
		const uint64_t flip = element == GT_ELEMENT_i64 ? (uint64_t)1 << 63 : 0;
		const uint64_t a = gt_get_u64(wanted) ^ flip;
		const uint64_t b = gt_get_u64(got) ^ flip;

		return (double)(a > b ? a - b : b - a);
	}
	gt_elements_load(wanted, 1, element, &values[0]);
	gt_elements_load(got, 1, element, &values[1]);
	return values[0] == values[1] ? 0 : fabs(values[1] - values[0]);
}

bool gt_element_parse(const char *word, enum gt_element *element)
{
	for (size_t i = 0; i < GT_COUNT_OF(elements); i++) {
		if (strcmp(word, elements[i].name) == 0) {
			*element = (enum gt_element)i;
			return true;
		}
	}
	return false;
}

enum gt_element gt_element_of_format(uint32_t format)
{
	static const enum gt_element words[][3] = {
		[GT_ARRAY_OTHER] = {GT_ELEMENT_bytes, GT_ELEMENT_bytes, GT_ELEMENT_bytes},
		[GT_ARRAY_UNSIGNED] = {GT_ELEMENT_u8, GT_ELEMENT_u16, GT_ELEMENT_u32},
		[GT_ARRAY_SIGNED] = {GT_ELEMENT_i8, GT_ELEMENT_i16, GT_ELEMENT_i32},
		[GT_ARRAY_FLOAT] = {GT_ELEMENT_bytes, GT_ELEMENT_f16, GT_ELEMENT_f32},
	};
	uint32_t bytes;
	const enum gt_array_number number = gt_array_number(format, &bytes);

	return words[number][bytes / 2];
}

const char *gt_element_name(enum gt_element element)
{
	return element < GT_ELEMENT_COUNT ? elements[element].name : "unknown";
}

size_t gt_element_size(enum gt_element element)
{
	return elements[element].size;
}

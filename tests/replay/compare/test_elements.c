/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/compare/elements.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "support/check.h"

struct known {
	enum gt_element element;
	uint64_t bits;
	double value;
};

/* From IEEE 754-2019 and table 2 of OFP8 1.0. */
ParameterizedTestParameters(elements, are_the_numbers_of_their_formats)
{
	static struct known cases[] = {
		{GT_ELEMENT_bytes, 0xff, 255},
		{GT_ELEMENT_i8, 0x80, -128},
		{GT_ELEMENT_u8, 0x80, 128},
		{GT_ELEMENT_i16, 0xffff, -1},
		{GT_ELEMENT_u16, 0xffff, 65535},
		{GT_ELEMENT_i32, 0x80000000, -2147483648.0},
		{GT_ELEMENT_u32, 0x80000000, 2147483648.0},
		{GT_ELEMENT_i64, 0xffffffffffffffff, -1},
		{GT_ELEMENT_u64, 0xffffffffffffffff, 0x1p64},
		{GT_ELEMENT_f16, 0x3c00, 1},
		{GT_ELEMENT_f16, 0x7bff, 65504},
		{GT_ELEMENT_f16, 0x0400, 0x1p-14},
		{GT_ELEMENT_f16, 0x03ff, 0x3ffp-24},
		{GT_ELEMENT_f16, 0x8001, -0x1p-24},
		{GT_ELEMENT_f16, 0xfc00, -INFINITY},
		{GT_ELEMENT_f16, 0x7e00, NAN},
		{GT_ELEMENT_f16, 0x7c01, NAN},
		{GT_ELEMENT_bf16, 0x3f80, 1},
		{GT_ELEMENT_bf16, 0xc2c8, -100},
		{GT_ELEMENT_bf16, 0x0001, 0x1p-133},
		{GT_ELEMENT_bf16, 0x7f80, INFINITY},
		{GT_ELEMENT_bf16, 0x7fc0, NAN},
		{GT_ELEMENT_f32, 0x40490fdb, 0x1.921fb6p1},
		{GT_ELEMENT_f32, 0x00000001, 0x1p-149},
		{GT_ELEMENT_f32, 0xff800000, -INFINITY},
		{GT_ELEMENT_f64, 0x400921fb54442d18, 0x1.921fb54442d18p1},
		{GT_ELEMENT_f64, 0x0000000000000001, 0x1p-1074},
		{GT_ELEMENT_f8e4m3, 0x7e, 448},
		{GT_ELEMENT_f8e4m3, 0x78, 256},
		{GT_ELEMENT_f8e4m3, 0x38, 1},
		{GT_ELEMENT_f8e4m3, 0xb9, -1.125},
		{GT_ELEMENT_f8e4m3, 0x08, 0x1p-6},
		{GT_ELEMENT_f8e4m3, 0x07, 0.875 * 0x1p-6},
		{GT_ELEMENT_f8e4m3, 0x01, 0x1p-9},
		{GT_ELEMENT_f8e4m3, 0x7f, NAN},
		{GT_ELEMENT_f8e4m3, 0xff, NAN},
		{GT_ELEMENT_f8e5m2, 0x7b, 57344},
		{GT_ELEMENT_f8e5m2, 0x3c, 1},
		{GT_ELEMENT_f8e5m2, 0x04, 0x1p-14},
		{GT_ELEMENT_f8e5m2, 0x03, 0.75 * 0x1p-14},
		{GT_ELEMENT_f8e5m2, 0x81, -0x1p-16},
		{GT_ELEMENT_f8e5m2, 0xfc, -INFINITY},
		{GT_ELEMENT_f8e5m2, 0x7c, INFINITY},
		{GT_ELEMENT_f8e5m2, 0x7d, NAN},
		{GT_ELEMENT_f8e5m2, 0xff, NAN},
	};

	return cr_make_param_array(struct known, cases, GT_COUNT_OF(cases));
}

ParameterizedTest(struct known *known, elements, are_the_numbers_of_their_formats)
{
	uint8_t bytes[8];
	double value = 77;

	gt_put_u64(bytes, known->bits);
	gt_elements_load(bytes, 1, known->element, &value);
	cr_expect(value == known->value || (isnan(value) && isnan(known->value)), "%s %#llx is %g",
	          gt_element_name(known->element), (unsigned long long)known->bits, value);
	cr_expect(
		eq(int, signbit(value) != 0, known->value < 0 || (isnan(value) && signbit(value))));
}

Test(elements, of_16_bits_lie_between_their_neighbours)
{
	for (uint32_t bits = 0; bits < 0x7bff; bits++) {
		uint8_t bytes[4];
		double values[2];

		gt_put_u16(bytes, (uint16_t)bits);
		gt_put_u16(bytes + 2, (uint16_t)(bits + 1));
		gt_elements_load(bytes, 2, GT_ELEMENT_f16, values);
		cr_assert(values[0] < values[1], "%#x", (unsigned)bits);
	}
}

Test(elements, need_not_be_aligned)
{
	uint8_t bytes[17] = {0};
	double values[2];

	gt_put_u64(bytes + 1, 0x3ff0000000000000);
	gt_put_u64(bytes + 9, 0xc000000000000000);
	gt_elements_load(bytes + 1, 2, GT_ELEMENT_f64, values);
	cr_expect(eq(dbl, values[0], 1));
	cr_expect(eq(dbl, values[1], -2));
}

Test(elements, are_found_by_their_names)
{
	for (int i = 0; i < GT_ELEMENT_COUNT; i++) {
		enum gt_element element = GT_ELEMENT_COUNT;

		cr_assert(gt_element_parse(gt_element_name((enum gt_element)i), &element));
		cr_expect(eq(int, (int)element, i));
	}
	expect_text(gt_element_name(GT_ELEMENT_f8e5m2), "f8e5m2");
	cr_expect(eq(sz, gt_element_size(GT_ELEMENT_bf16), 2));
}

Test(elements, leave_the_type_alone_where_there_is_none_of_that_name)
{
	enum gt_element element = GT_ELEMENT_i8;

	cr_expect(not(gt_element_parse("float", &element)));
	cr_expect(not(gt_element_parse("", &element)));
	cr_expect(not(gt_element_parse("f32 ", &element)));
	cr_expect(eq(int, (int)element, (int)GT_ELEMENT_i8));
}

/* Numbers of CUarray_format. */
Test(elements, of_arrays_are_those_of_their_format)
{
	cr_expect(eq(int, (int)gt_element_of_format(0x01), (int)GT_ELEMENT_u8));
	cr_expect(eq(int, (int)gt_element_of_format(0x02), (int)GT_ELEMENT_u16));
	cr_expect(eq(int, (int)gt_element_of_format(0x03), (int)GT_ELEMENT_u32));
	cr_expect(eq(int, (int)gt_element_of_format(0x08), (int)GT_ELEMENT_i8));
	cr_expect(eq(int, (int)gt_element_of_format(0xcb), (int)GT_ELEMENT_i16));
	cr_expect(eq(int, (int)gt_element_of_format(0x0a), (int)GT_ELEMENT_i32));
	cr_expect(eq(int, (int)gt_element_of_format(0x10), (int)GT_ELEMENT_f16));
	cr_expect(eq(int, (int)gt_element_of_format(0x20), (int)GT_ELEMENT_f32));
	cr_expect(eq(int, (int)gt_element_of_format(0xb0), (int)GT_ELEMENT_bytes));
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "format/bundle/array_shape.h"

#include "support/check.h"

enum { U8 = 0x01, S16 = 0x09, HALF = 0x10, FLOAT = 0x20, UNORM_8X4 = 0xc2, BC1 = 0x91 };

Test(array_shape, knows_how_large_elements_are)
{
	uint32_t bytes;

	cr_expect(eq(u32, gt_array_element_bytes(FLOAT, 4), 16));
	cr_expect(eq(u32, gt_array_element_bytes(HALF, 2), 4));
	cr_expect(eq(u32, gt_array_element_bytes(UNORM_8X4, 4), 4));
	cr_expect(eq(u32, gt_array_element_bytes(FLOAT, 3), 0));
	cr_expect(eq(u32, gt_array_element_bytes(BC1, 4), 0));
	cr_expect(eq(int, (int)gt_array_number(S16, &bytes), (int)GT_ARRAY_SIGNED));
	cr_expect(eq(u32, bytes, 2));
	cr_expect(eq(int, (int)gt_array_number(BC1, &bytes), (int)GT_ARRAY_OTHER));
}

Test(array_shape, of_one_dimension_is_one_row)
{
	const struct gt_array_shape shape = {.width = 10, .format = U8, .channels = 2};
	const struct gt_array_level level = gt_array_level(&shape, 0);

	cr_expect(gt_array_is_sound(&shape));
	cr_expect(eq(u64, level.row_bytes, 20));
	cr_expect(eq(u64, level.rows, 1));
	cr_expect(eq(u64, level.slices, 1));
	cr_expect(eq(u64, gt_array_bytes(&shape), 20));
}

Test(array_shape, has_levels_one_after_another)
{
	const struct gt_array_shape shape = {
		.width = 9, .height = 4, .depth = 3, .format = FLOAT, .channels = 1, .levels = 4};
	const struct gt_array_level last = gt_array_level(&shape, 3);

	cr_expect(gt_array_is_sound(&shape));
	cr_expect(eq(u64, gt_array_level(&shape, 1).offset, 9 * 4 * 3 * 4));
	cr_expect(eq(u64, gt_array_level(&shape, 1).row_bytes, 16));
	cr_expect(eq(u64, gt_array_level(&shape, 1).rows, 2));
	cr_expect(eq(u64, gt_array_level(&shape, 1).slices, 1));
	cr_expect(eq(u64, last.row_bytes, 4));
	cr_expect(eq(u64, last.offset, 4 * (9 * 4 * 3 + 4 * 2 + 2)));
	cr_expect(eq(u64, gt_array_bytes(&shape), last.offset + 4));
}

Test(array_shape, has_as_many_layers_in_each_level)
{
	const struct gt_array_shape shape = {.width = 8,
	                                     .height = 8,
	                                     .depth = 6,
	                                     .format = U8,
	                                     .channels = 1,
	                                     .flags = GT_ARRAY_CUBEMAP,
	                                     .levels = 2};

	cr_expect(gt_array_is_sound(&shape));
	cr_expect(eq(u64, gt_array_level(&shape, 1).slices, 6));
	cr_expect(eq(u64, gt_array_bytes(&shape), 6 * (64 + 16)));
}

/* As cuMipmappedArrayCreate has it, which does not say that layers are none. */
Test(array_shape, has_levels_until_all_its_lengths_are_1)
{
	struct gt_array_shape shape = {.width = 5, .format = U8, .channels = 1};

	cr_expect(eq(u32, gt_array_most_levels(&shape), 3));
	shape.height = 8;
	cr_expect(eq(u32, gt_array_most_levels(&shape), 4));
	shape.depth = 64;
	cr_expect(eq(u32, gt_array_most_levels(&shape), 7));
	shape.flags = GT_ARRAY_LAYERED;
	shape.levels = gt_array_most_levels(&shape);
	cr_expect(gt_array_is_sound(&shape));
	cr_expect(eq(u64, gt_array_bytes(&shape), 64 * (5 * 8 + 2 * 4 + 2 + 4)));
	shape.levels++;
	cr_expect(not(gt_array_is_sound(&shape)));
	shape = (struct gt_array_shape){.width = 1 << 18, .format = U8, .channels = 1};
	cr_expect(eq(u32, gt_array_most_levels(&shape), GT_ARRAY_MOST_LEVELS));
}

Test(array_shape, that_no_gpu_has_is_not_sound)
{
	static const struct gt_array_shape shapes[] = {
		{.width = 0, .format = U8, .channels = 1},
		{.width = 1 << 19, .format = U8, .channels = 1},
		{.width = 8, .height = 1 << 19, .format = U8, .channels = 1},
		{.width = 8, .height = 8, .depth = 1 << 17, .format = U8, .channels = 1},
		{.width = 8, .depth = 8, .format = U8, .channels = 1},
		{.width = 8, .height = 8, .format = U8, .channels = 1, .flags = GT_ARRAY_LAYERED},
		{.width = 8, .height = 8, .format = U8, .channels = 1, .flags = 64},
		{.width = 8, .height = 8, .format = U8, .channels = 3},
		{.width = 8, .height = 8, .format = BC1, .channels = 4},
		{.width = 8, .height = 8, .format = U8, .channels = 1, .levels = 5},
		{.width = 8, .height = 8, .format = U8, .channels = 1, .levels = UINT32_MAX},
	};

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		cr_expect(not(gt_array_is_sound(&shapes[i])), "%zu", i);
}

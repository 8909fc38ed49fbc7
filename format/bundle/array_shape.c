/* SPDX-License-Identifier: Apache-2.0 */
#include "format/bundle/array_shape.h"

/* More than any GPU has; with elements of 16 bytes no product of them overflows. */
#define MOST_WIDTH ((uint64_t)1 << 18)
#define MOST_DEPTH ((uint64_t)1 << 16)

enum gt_array_number gt_array_number(uint32_t format, uint32_t *bytes)
{
	*bytes = 0;
	switch (format) {
	case 0x01: /* CU_AD_FORMAT_UNSIGNED_INT8 */
	case 0xc0: /* UNORM_INT8X1, X2, X4 */
	case 0xc1:
	case 0xc2:
		*bytes = 1;
		return GT_ARRAY_UNSIGNED;
	case 0x02: /* UNSIGNED_INT16 */
	case 0xc3: /* UNORM_INT16X1, X2, X4 */
	case 0xc4:
	case 0xc5:
		*bytes = 2;
		return GT_ARRAY_UNSIGNED;
	case 0x03: /* UNSIGNED_INT32 */
		*bytes = 4;
		return GT_ARRAY_UNSIGNED;
	case 0x08: /* SIGNED_INT8 */
	case 0xc6: /* SNORM_INT8X1, X2, X4 */
	case 0xc7:
	case 0xc8:
		*bytes = 1;
		return GT_ARRAY_SIGNED;
	case 0x09: /* SIGNED_INT16 */
	case 0xc9: /* SNORM_INT16X1, X2, X4 */
	case 0xca:
	case 0xcb:
		*bytes = 2;
		return GT_ARRAY_SIGNED;
	case 0x0a: /* SIGNED_INT32 */
		*bytes = 4;
		return GT_ARRAY_SIGNED;
	case 0x10: /* HALF */
		*bytes = 2;
		return GT_ARRAY_FLOAT;
	case 0x20: /* FLOAT */
		*bytes = 4;
		return GT_ARRAY_FLOAT;
	default:
		return GT_ARRAY_OTHER;
	}
}

uint32_t gt_array_element_bytes(uint32_t format, uint32_t channels)
{
	uint32_t bytes;

	(void)gt_array_number(format, &bytes);
	return channels == 1 || channels == 2 || channels == 4 ? bytes * channels : 0;
}

/* Depth gets less from level to level, the number of layers and faces does not. */
static bool has_layers(const struct gt_array_shape *shape)
{
	return shape->flags & (GT_ARRAY_LAYERED | GT_ARRAY_CUBEMAP);
}

uint32_t gt_array_most_levels(const struct gt_array_shape *shape)
{
	uint64_t longest = shape->width > shape->height ? shape->width : shape->height;
	uint32_t levels = 1;

	longest = shape->depth > longest ? shape->depth : longest;
	while (longest >>= 1)
		levels++;
	return levels;
}

bool gt_array_is_sound(const struct gt_array_shape *shape)
{
	if (shape->width == 0 || shape->width > MOST_WIDTH || shape->height > MOST_WIDTH ||
	    shape->depth > MOST_DEPTH || (shape->flags & ~(uint32_t)GT_ARRAY_FLAGS) ||
	    gt_array_element_bytes(shape->format, shape->channels) == 0)
		return false;
	if (has_layers(shape) ? shape->depth == 0 : shape->depth > 0 && shape->height == 0)
		return false;
	return shape->levels <= gt_array_most_levels(shape);
}

static uint64_t at_level(uint64_t length, uint32_t level)
{
	const uint64_t halved = length >> level;

	return halved ? halved : 1;
}

uint32_t gt_array_levels(const struct gt_array_shape *shape)
{
	return shape->levels ? shape->levels : 1;
}

uint64_t gt_array_level_bytes(const struct gt_array_level *level)
{
	return level->row_bytes * level->rows * level->slices;
}

struct gt_array_level gt_array_level(const struct gt_array_shape *shape, uint32_t level)
{
	const uint64_t element = gt_array_element_bytes(shape->format, shape->channels);
	struct gt_array_level found = {0};
	uint64_t offset = 0;

	for (uint32_t i = 0; i <= level; i++) {
		offset += gt_array_level_bytes(&found);
		found.row_bytes = element * at_level(shape->width, i);
		found.rows = at_level(shape->height, i);
		found.slices = at_level(shape->depth, has_layers(shape) ? 0 : i);
	}
	found.offset = offset;
	return found;
}

uint64_t gt_array_bytes(const struct gt_array_shape *shape)
{
	const struct gt_array_level last = gt_array_level(shape, gt_array_levels(shape) - 1);

	return last.offset + gt_array_level_bytes(&last);
}

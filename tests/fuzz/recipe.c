/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/recipe.h"

#include "base/bytes.h"
#include "support/capture.h"

enum {
	RECIPE_SIZE = 8,
	CLAIM_COMPRESSED = 1, /* the payload is called a zstd frame */
	COMPRESS = 2,         /* it becomes one */
	DAMAGE = 4,           /* a bit flips after the checksum was made */
	CUT = 8,              /* the end is missing */
};

static void add_claimed(struct capture *capture, const uint8_t *recipe, const uint8_t *payload,
                        uint32_t size)
{
	uint8_t bytes[GT_CHUNK_HEADER_SIZE];
	struct gt_chunk_header header = {
		.kind = gt_get_u16(recipe),
		.flags = recipe[4] & CLAIM_COMPRESSED,
		.stored = size,
		.raw = recipe[4] & CLAIM_COMPRESSED ? recipe[5] * 16u : size,
		.count = gt_get_u16(recipe + 2),
	};

	gt_chunk_encode_header(bytes, &header);
	header.checksum = gt_chunk_checksum(bytes, payload, size);
	gt_chunk_encode_header(bytes, &header);
	capture_add_bytes(capture, bytes, sizeof(bytes));
	capture_add_bytes(capture, payload, size);
}

void add_recipe(struct capture *capture, const uint8_t *data, size_t size)
{
	while (size >= RECIPE_SIZE) {
		const uint8_t *const recipe = data;
		const size_t begin = capture->size;
		const size_t claimed = gt_get_u16(recipe + 6);
		const size_t payload = claimed < size - RECIPE_SIZE ? claimed : size - RECIPE_SIZE;

		if (recipe[4] & COMPRESS)
			(void)gt_writer_payload(&capture->writer, gt_get_u16(recipe),
			                        recipe + RECIPE_SIZE, payload,
			                        gt_get_u16(recipe + 2));
		else
			add_claimed(capture, recipe, recipe + RECIPE_SIZE, (uint32_t)payload);
		if (recipe[4] & DAMAGE)
			capture->bytes[begin + recipe[5] % (capture->size - begin)] ^= 1;
		if (recipe[4] & CUT)
			capture->size -= recipe[5] % (capture->size - begin);
		data += RECIPE_SIZE + payload;
		size -= RECIPE_SIZE + payload;
	}
}

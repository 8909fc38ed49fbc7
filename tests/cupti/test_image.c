/* SPDX-License-Identifier: Apache-2.0 */
#include "cupti/image.h"

#include "support/check.h"

Test(image, is_as_large_as_asked_for_and_zeroed)
{
	struct gt_image image = {0};

	cr_assert(gt_image_take(&image, 10000));
	cr_expect(eq(sz, image.size, 10000));
	for (size_t i = 0; i < image.size; i++)
		cr_expect(eq(u8, image.bytes[i], 0));
	image.bytes[9999] = 1;
	cr_assert(gt_image_take(&image, 20));
	cr_expect(eq(sz, image.size, 20));
	gt_image_release(&image);
	gt_image_release(&image);
	cr_expect(eq(ptr, image.bytes, NULL));
}

Test(image, of_no_bytes_is_none)
{
	struct gt_image image = {0};

	cr_expect(not(gt_image_take(&image, 0)));
	cr_expect(not(gt_image_take(&image, SIZE_MAX)));
	cr_expect(eq(ptr, image.bytes, NULL));
}

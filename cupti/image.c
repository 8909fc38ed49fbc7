/* SPDX-License-Identifier: Apache-2.0 */
#include "cupti/image.h"

#include <sys/mman.h>

bool gt_image_take(struct gt_image *image, size_t size)
{
	void *at = MAP_FAILED;

	if (size > 0)
		at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return false;
	gt_image_release(image);
	*image = (struct gt_image){at, size};
	return true;
}

void gt_image_release(struct gt_image *image)
{
	if (image->bytes)
		(void)munmap(image->bytes, image->size);
	*image = (struct gt_image){0};
}

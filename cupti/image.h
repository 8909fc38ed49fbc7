/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CUPTI_IMAGE_H
#define GT_CUPTI_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory that CUPTI fills, as large as CUPTI says: pages of our own, not the program's heap. */
struct gt_image {
	uint8_t *bytes; /* NULL: none */
	size_t size;
};

/* Zeroed. False when there is no memory, or for no bytes; the image is then as it was. */
bool gt_image_take(struct gt_image *image, size_t size);

/* May be called twice. */
void gt_image_release(struct gt_image *image);

#endif

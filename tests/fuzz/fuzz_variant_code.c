/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "replay/tune/variant.h"

/* Code as a bundle may hold it: a name, ended by a 0, and then a cubin or PTX, whatever is in it. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, 0, size);
	struct gt_variant_code code;
	uint8_t *image;

	if (!end)
		return 0;
	/* Memory of its own: a sanitizer sees what is read behind it. */
	size -= (size_t)(end + 1 - data);
	image = malloc(size ? size : 1);
	memcpy(image, end + 1, size);
	gt_variant_code_read(&code, image, size, (const char *)data);
	for (int i = 0; i < 3; i++)
		must(code.block[i] <= 1024 && (code.block[i] == 0) == (code.block[0] == 0));
	free(image);
	return 0;
}

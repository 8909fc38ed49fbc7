/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "replay/tune/tune.h"

/* A space to search, whatever somebody typed: each configuration changes something. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gt_tune_space space;
	struct gt_error err = {0};
	char *text = malloc(size + 1);

	memcpy(text, data, size);
	text[size] = '\0';
	if (gt_tune_space_parse(&space, text, &err) < 0) {
		must(err.text[0] != '\0' && space.axis_count == 0);
	} else {
		const size_t count = gt_tune_count(&space);

		must(count > 0 && count <= GT_TUNE_MOST);
		for (size_t i = 0; i < count; i++) {
			const struct gt_variant variant = gt_tune_configuration(&space, i);

			must(gt_variant_changes(&variant));
		}
	}
	gt_tune_space_release(&space);
	free(text);
	return 0;
}

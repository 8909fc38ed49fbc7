/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "replay/tune/tuned.h"

/* A file of what tuning found, whatever is in it: what is read and written again reads the same. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gt_tuned_list first;
	struct gt_tuned_list second;
	struct gt_error err = {0};
	char *text;

	if (gt_tuned_parse(&first, (const char *)data, size, "it", &err) < 0) {
		must(err.text[0] != '\0' && first.list.count == 0);
		return 0;
	}
	must(first.list.count <= GT_TUNED_MOST);
	text = gt_tuned_text(&first);
	must(gt_tuned_parse(&second, text, strlen(text), "it", &err) == 0);
	must(first.list.count == second.list.count);
	for (size_t i = 0; i < first.list.count; i++) {
		const struct gt_tuned *one = &first.list.rows[i];
		const struct gt_tuned *other = &second.list.rows[i];

		must(one->last.count <= GT_TUNED_KEPT && one->last.count == other->last.count);
		must(strcmp(one->function, other->function) == 0);
		must(strcmp(one->best.variant, other->best.variant) == 0);
	}
	free(text);
	gt_tuned_release(&first);
	gt_tuned_release(&second);
	return 0;
}

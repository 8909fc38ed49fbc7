/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/gpu/calibration.h"

/* A file of ceilings, whatever is in it: what is read from it and written again reads the same. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		__builtin_trap();
}

static void compare(const struct gt_calibration *first, const struct gt_calibration *second)
{
	char one[GT_MEASURED_BYTES];
	char other[GT_MEASURED_BYTES];

	must(strcmp(first->device, second->device) == 0 && strcmp(first->uuid, second->uuid) == 0);
	must(first->sm_count == second->sm_count && first->cc_major == second->cc_major);
	must(first->list.count == second->list.count);
	for (size_t i = 0; i < first->list.count; i++) {
		must(first->list.rows[i].name == second->list.rows[i].name);
		gt_calibrated_describe(first, &first->list.rows[i], one);
		gt_calibrated_describe(second, &second->list.rows[i], other);
		must(*one && *other);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gt_calibrations first = {0};
	struct gt_calibrations second = {0};
	struct gt_error err = {0};
	char *text;

	if (gt_calibrations_parse(&first, (const char *)data, size, "it", &err) < 0) {
		must(err.text[0] != '\0' && first.list.count == 0);
		return 0;
	}
	text = gt_calibrations_text(&first);
	must(gt_calibrations_parse(&second, text, strlen(text), "it", &err) == 0);
	must(first.list.count == second.list.count);
	for (size_t i = 0; i < first.list.count; i++)
		compare(&first.list.rows[i], &second.list.rows[i]);
	free(text);
	gt_calibrations_release(&first);
	gt_calibrations_release(&second);
	return 0;
}

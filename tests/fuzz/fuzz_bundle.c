/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "base/error.h"
#include "fuzz/bundle_facts.h"
#include "model/bundle/bundle.h"

/* bundle.json, whatever is in it: it is refused with a sentence, or all that is promised holds. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gt_bundle bundle;
	struct gt_error err = {0};

	if (gt_bundle_parse(&bundle, (const char *)data, size, "it", &err) < 0) {
		must(err.text[0] != '\0' && bundle.folder == NULL && bundle.memory.rows == NULL);
		return 0;
	}
	check_bundle_facts(&bundle);
	gt_bundle_close(&bundle);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Run by the build: a record whose fields and columns do not fit each other fails it. */
#include <stdio.h>

#include "base/error.h"
#include "collector/kinds.h"

int main(void)
{
	struct gt_kinds kinds;
	struct gt_error err = {0};

	gt_kinds_init(&kinds);
	if (gt_kinds_check(&kinds, &err) == 0)
		return 0;
	(void)fprintf(stderr, "format/records.def and model/tables.def do not fit: %s\n", err.text);
	return 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/variable.h"

#include <stdlib.h>

const char *gt_variable(const char *name)
{
	const char *value = getenv(name); // NOLINT(concurrency-mt-unsafe): there is one thread

	return value && *value ? value : NULL;
}

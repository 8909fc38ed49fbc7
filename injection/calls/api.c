/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/calls/api.h"

#include <stddef.h>
#include <string.h>

static const struct gt_api_call_line lines[] = {
#define CALL(prefix, kind)           {prefix, #kind, false},
#define CALL_IN_DRIVER(prefix, kind) {prefix, #kind, true},
#include "format/kinds/api_calls.def"
};

const struct gt_api_call_line *gt_api_call_find(const char *name)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (strncmp(name, lines[i].prefix, strlen(lines[i].prefix)) == 0)
			return strcmp(lines[i].kind, "NONE") ? &lines[i] : NULL;
	return NULL;
}

bool gt_api_call_ends_context(const char *name)
{
	static const char *const prefixes[] = {"cudaDeviceReset", "cuCtxDestroy",
	                                       "cuDevicePrimaryCtxRelease",
	                                       "cuDevicePrimaryCtxReset"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}
